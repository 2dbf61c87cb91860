"""The implementations that the selection benchmark compares ours with."""

import numpy as np
import pytest
import torch

from benchmarks.selection import references
from benchmarks.selection.inputs import similarities
from benchmarks.selection.solvers import compare_facility, compare_matching


@pytest.fixture
def rows():
    return torch.randn(9, 14, generator=torch.Generator().manual_seed(3))


def test_per_step_least_squares_takes_the_row_that_correlates_most_each_time(rows):
    target = rows.mean(dim=0)
    numbers, aim = rows.numpy().astype(float), target.numpy().astype(float)
    expected, residual = [], aim
    for _ in range(4):
        others = [row for row in range(9) if row not in expected]
        expected.append(max(others, key=lambda row: numbers[row] @ residual))
        weights = np.linalg.lstsq(numbers[expected].T, aim)[0]
        residual = aim - numbers[expected].T @ weights
    chosen, found = references.per_step_least_squares(rows, target, 4)
    assert chosen.tolist() == expected
    np.testing.assert_allclose(found, weights, rtol=1e-4)


def test_sklearn_returns_rows_with_their_own_weights(rows):
    target = rows[2] * 3 + rows[5]
    chosen, weights = references.sklearn_gram(rows, target, 2, np.float32)
    assert dict(zip(chosen.tolist(), weights.round(4).tolist(), strict=True)) == {2: 3.0, 5: 1.0}


def test_matching_objective_is_the_squared_distance_to_the_target():
    gradients = torch.tensor([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    choice = np.array([1, 0]), np.array([2.0, 0.5])
    objective = references.matching_objective(gradients, torch.tensor([1.0, 1.0]), choice)
    assert objective == pytest.approx(0.25 + 1.0)


def test_tables_compare_each_solver_with_ours(rows):
    matching = list(compare_matching("random", rows, 3, rounds=1))
    assert len(matching) == 4
    assert [row["times ours"] for row in matching if row["solver"] == "ours"] == [1.0]
    pytest.importorskip("apricot")
    facility = list(compare_facility(similarities(rows), 3, rounds=1))
    assert len(facility) == 4
    assert all(abs(row["ours / its objective - 1"]) < 1e-9 for row in facility)
