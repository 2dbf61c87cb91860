"""Non-negative orthogonal matching pursuit against SciPy's solver and hand computations."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from automata.selection import matching
from automata.selection.matching import (
    BLOCK,
    _KnownColumns,
    _Pursuit,
    matching_pursuit,
    matching_pursuit_of_gram,
)

SEEDS = range(4)


def gaussian(seed, rows, columns, common=0.0):
    """Return gradients (rows, columns) with a common part, and a target: their mean and noise."""
    generator = np.random.default_rng(seed)
    gradients = generator.normal(size=(rows, columns)) + common * generator.normal(size=columns)
    return gradients, gradients.mean(axis=0) + 0.3 * generator.normal(size=columns)


def pursue(gradients, target, budget, **options):
    indices, weights = matching_pursuit(
        torch.as_tensor(gradients), torch.as_tensor(target), budget, **options
    )
    return indices.tolist(), weights.numpy()


def residual(gradients, target, indices, weights):
    return float(np.linalg.norm(target - gradients[indices].T @ weights))


def best_weights(gradients, target, support, l2=0.0):
    """Return the weights >= 0 that minimise the penalised error on `support`, by SciPy."""
    if not support:
        return np.zeros(0)
    system = np.vstack([gradients[support].T, np.sqrt(l2) * np.eye(len(support))])
    return nnls(system, np.concatenate([target, np.zeros(len(support))]))[0]


def reference(gradients, target, budget, l2=0.0, tolerance=0.0, floor=0):
    """Follow the docstring of `matching_pursuit` word by word, with SciPy's solver."""
    enough = tolerance * np.linalg.norm(target)
    support, weights, spent = [], np.zeros(0), set()
    while len(support) < budget:
        if len(support) >= floor and residual(gradients, target, support, weights) <= enough:
            break
        correlation = gradients @ (target - gradients[support].T @ weights)
        correlation[list(spent)] = -np.inf
        best = int(np.argmax(correlation))
        if correlation[best] <= 1e-9:
            break
        spent.add(best)
        support = [*support, best]
        weights = best_weights(gradients, target, support, l2)
        support = [row for row, weight in zip(support, weights, strict=True) if weight > 1e-12]
        weights = weights[weights > 1e-12]
    return support, weights


# Against SciPy


@given(
    problem=st.tuples(st.integers(0, 10**6), st.integers(1, 10), st.integers(1, 8)),
    budget=st.integers(0, 12),
    l2=st.sampled_from([0.0, 0.5]),
    tolerance=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    floor=st.integers(0, 5),
    scale=st.sampled_from([1.0, 1.0, 1e-8, 1e6]),
)
@settings(max_examples=150)
def test_choices_and_weights_follow_the_documented_greedy_rule_at_any_scale(
    problem, budget, l2, tolerance, floor, scale
):
    gradients, target = gaussian(*problem)
    indices, weights = reference(gradients, target, budget, l2, tolerance, floor)
    options = {"l2": l2 * scale**2, "tolerance": tolerance, "floor": floor}
    found = pursue(scale * gradients, scale * target, budget, **options)
    assert found[0] == indices
    np.testing.assert_allclose(found[1], weights, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("budget", "block"), [(40, 1), (40, 5), (40, BLOCK), (41, BLOCK)])
@pytest.mark.parametrize("options", [{}, {"l2": 0.5, "tolerance": 0.3, "floor": 3}], ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_many_rows_follow_it_by_blocks_of_columns_and_by_products_alone(
    monkeypatch, seed, options, budget, block
):
    """Pursuits drop 4 to 13 rows. More than 40 of 200 are chosen by the whole Gram matrix."""
    monkeypatch.setattr(matching, "BLOCK", block)
    gradients, target = gaussian(seed, 200, 60, common=0.5)
    expected = reference(gradients, target, budget, **options)
    gram = torch.from_numpy(gradients @ gradients.T)
    mixture = torch.from_numpy(np.linalg.lstsq(gradients.T, target)[0])
    of_gram = matching_pursuit_of_gram(gram, mixture, budget, **options)
    for indices, weights in (pursue(gradients, target, budget, **options), of_gram):
        assert list(indices) == expected[0]
        np.testing.assert_allclose(weights, expected[1], rtol=1e-6, atol=1e-9)


# Degenerate inputs


@pytest.mark.parametrize("precision", ["single", "double", "products"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_binary_head_is_spent_by_its_rank_of_rows_without_an_error(seed, precision):
    """300 rows (r, -r), in a space of 40 dimensions."""
    generator = torch.Generator().manual_seed(seed)
    parts = torch.randn(300, 40, generator=generator)
    half = parts @ torch.randn(40, 120, generator=generator)
    rows = torch.cat([half, -half], dim=1)
    rows = rows if precision == "single" else rows.double()
    target = rows.mean(dim=0)
    if precision == "products":
        mixture = torch.full((300,), 1 / 300)
        indices, weights = matching_pursuit_of_gram(rows @ rows.T, mixture, 300)
    else:
        indices, weights = matching_pursuit(rows, target, 300)
    assert len(indices) <= 41
    rest = target.double() - weights @ rows[indices].double()
    error = 1e-3 if precision == "single" else 1e-6
    assert float(rest.norm()) <= error * float(target.norm())


@pytest.mark.parametrize(
    ("mixture", "most"),
    [([0.0] * 3, 0), ([0.1] * 3, 2), ([], 0)],  # rounding leaves a rest of rows that cancel
    ids=["none", "cancel", "no rows"],
)
@pytest.mark.filterwarnings("error")
def test_a_mixture_that_adds_up_to_nothing_needs_hardly_a_row(mixture, most):
    rows = torch.tensor([[1.1, 0.3], [2.2, -0.7], [-3.3, 0.4]]).double()[: len(mixture)]
    indices, _ = matching_pursuit_of_gram(rows @ rows.T, torch.tensor(mixture).double(), 3)
    assert len(indices) <= most


@pytest.mark.parametrize("gap", [0.0, 1e-12])
def test_rows_that_are_dependent_in_double_precision_alone_are_left_out(gap):
    """The last solve gets two equal rows, as if single precision had let them in."""
    gram = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + gap, 0.0], [0.0, 0.0, 4.0]])
    pursuit = _Pursuit(_KnownColumns(gram), np.ones(9), np.ones(9), 0.0, 1e-5)
    pursuit.support, pursuit.weights = [4, 7, 2], np.array([0.5, 0.5, 1.0])
    indices, weights = pursuit.result(gram, gram @ [1.0, 1.0, 3.0], torch.device("cpu"))
    assert (indices.tolist(), weights.tolist()) == ([4, 2], pytest.approx([2.0, 3.0]))
