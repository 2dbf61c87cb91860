"""Tables of benchmarks, and the other implementations in them."""

import pytest
import torch

from benchmarks.selection.inputs import similarities
from benchmarks.selection.solvers import compare_facility, compare_matching, matching_contenders


@pytest.fixture
def rows():
    return torch.randn(9, 14, generator=torch.Generator().manual_seed(3))


def test_all_solvers_find_the_rows_and_weights_that_a_target_is_made_of(rows):
    target = rows[2] * 3 + rows[5]
    for solve in matching_contenders(rows, target, 2).values():
        chosen, weights = solve()
        found = dict(zip(chosen.tolist(), weights.round(4).tolist(), strict=True))
        assert found == {2: 3.0, 5: 1.0}


def test_tables_compare_each_solver_with_ours(rows):
    matching = list(compare_matching("random", rows, 3, rounds=1))
    assert len(matching) == 4
    assert [row["times ours"] for row in matching if row["solver"] == "ours"] == [1.0]
    pytest.importorskip("apricot")
    facility = list(compare_facility(similarities(rows), 3, rounds=1))
    assert len(facility) == 4
    assert all(abs(row["ours / its objective - 1"]) < 1e-9 for row in facility)
