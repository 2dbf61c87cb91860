"""Non-negative orthogonal matching pursuit against brute force, SciPy and scikit-learn."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.linear_model import orthogonal_mp

from automata.selection.matching import matching_pursuit

Array = NDArray[np.float64]

SEEDS = range(12)
GENERIC = st.tuples(st.integers(0, 10**6), st.integers(1, 10), st.integers(1, 8))
"""Seed, rows and columns of a Gaussian problem."""


def gaussian(seed: int, rows: int, columns: int) -> tuple[Array, Array]:
    """Return gradients (rows, columns) and a target: their mean plus noise."""
    generator = np.random.default_rng(seed)
    gradients = generator.normal(size=(rows, columns))
    return gradients, gradients.mean(axis=0) + 0.3 * generator.normal(size=columns)


def pursue(
    gradients: Array, target: Array, budget: int, **options: float
) -> tuple[list[int], Array]:
    indices, weights = matching_pursuit(
        torch.from_numpy(gradients), torch.from_numpy(target), budget, **options
    )
    return indices.tolist(), weights.numpy()


def residual(gradients: Array, target: Array, indices: list[int], weights: Array) -> float:
    return float(np.linalg.norm(target - gradients[indices].T @ weights))


def best_weights(gradients: Array, target: Array, support: list[int], l2: float = 0.0) -> Array:
    """Return the weights >= 0 that minimise the penalised error on `support`, by SciPy."""
    if not support:
        return np.zeros(0)
    penalty = np.sqrt(l2) * np.eye(len(support))
    system = np.vstack([gradients[support].T, penalty])
    weights, _ = nnls(system, np.concatenate([target, np.zeros(len(support))]))
    return weights


def reference(
    gradients: Array, target: Array, budget: int, l2: float = 0.0, tolerance: float = 0.0
) -> tuple[list[int], Array]:
    """Follow the docstring of `matching_pursuit` word by word, with SciPy's solver."""
    enough = tolerance * np.linalg.norm(target)
    support: list[int] = []
    weights = np.zeros(0)
    spent: set[int] = set()
    while len(support) < budget and residual(gradients, target, support, weights) > enough:
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


def all_supports(rows: int, size: int) -> list[list[int]]:
    return [list(chosen) for k in range(size + 1) for chosen in combinations(range(rows), k)]


# Against other solvers


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize("seed", SEEDS)
def test_choices_follow_the_documented_greedy_rule(seed: int, l2: float, budget: int) -> None:
    gradients, target = gaussian(seed, 9, 6)
    expected, _ = reference(gradients, target, budget, l2)
    assert pursue(gradients, target, budget, l2=l2)[0] == expected


@given(GENERIC, st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_weights_follow_the_documented_greedy_rule(
    problem: tuple[int, int, int], budget: int
) -> None:
    gradients, target = gaussian(*problem)
    expected = reference(gradients, target, budget)[1]
    np.testing.assert_allclose(pursue(gradients, target, budget)[1], expected, rtol=1e-6, atol=1e-8)


def test_a_row_whose_weight_becomes_zero_is_dropped() -> None:
    """The first choice lies between two rows that together make it useless.

    By hand: row 0 correlates most with the target (1, 1), as (1.1, 0.9) does with 2.0; the
    exact answer is rows 1 and 2 with weights 1.
    """
    gradients = np.array([[1.1, 0.9, 0.2], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    indices, weights = pursue(gradients, np.array([1.0, 1.0, 0.0]), 3)
    assert (sorted(indices), weights.round(12).tolist()) == ([1, 2], [1.0, 1.0])


@pytest.mark.parametrize("budget", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_residual_is_the_least_on_the_chosen_rows(seed: int, budget: int) -> None:
    gradients, target = gaussian(seed, 6, 5)
    indices, weights = pursue(gradients, target, budget)
    _, least = nnls(gradients[indices].T, target)
    assert residual(gradients, target, indices, weights) == pytest.approx(least, abs=1e-8)


@pytest.mark.parametrize("budget", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_residual_lies_between_the_best_support_and_the_best_single_row(
    seed: int, budget: int
) -> None:
    gradients, target = gaussian(seed, 6, 5)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    found = residual(gradients, target, *pursue(gradients, target, budget))
    errors = {
        tuple(support): residual(
            gradients, target, support, best_weights(gradients, target, support)
        )
        for support in all_supports(6, budget)
    }
    single = min(error for support, error in errors.items() if len(support) <= 1)
    assert min(errors.values()) - 1e-8 <= found <= single + 1e-8


@pytest.mark.parametrize("seed", SEEDS)
def test_one_row_of_equally_long_rows_is_the_best_one(seed: int) -> None:
    gradients, target = gaussian(seed, 8, 5)
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    found = residual(gradients, target, *pursue(gradients, target, 1))
    errors = [nnls(gradients[[row]].T, target)[1] for row in range(8)]
    assert found == pytest.approx(min(errors), abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_and_weights_are_scikit_learns_where_those_are_positive(seed: int) -> None:
    """Nearly orthogonal rows of length 1 and a target made of five of them."""
    generator = np.random.default_rng(seed)
    gradients = generator.normal(size=(20, 400))
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    made_of = generator.choice(20, size=5, replace=False)
    target = gradients[made_of].T @ generator.uniform(1, 2, size=5)
    indices, weights = pursue(gradients, target, 5)
    found = np.zeros(20)
    found[indices] = weights
    expected = orthogonal_mp(gradients.T, target, n_nonzero_coefs=5)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("l2", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_penalised_weights_are_those_of_the_augmented_system(seed: int, l2: float) -> None:
    gradients, target = gaussian(seed, 8, 5)
    indices, weights = pursue(gradients, target, 4, l2=l2)
    expected = best_weights(gradients, target, indices, l2)
    np.testing.assert_allclose(weights, expected, rtol=1e-8, atol=1e-10)


def test_the_penalty_of_a_single_row_is_that_of_a_hand_computation() -> None:
    """Minimise (2 w - 6)^2 + 8 w^2: w = 12 / (4 + 8) = 1."""
    _, weights = pursue(np.array([[2.0]]), np.array([6.0]), 1, l2=8.0)
    assert weights.tolist() == pytest.approx([1.0])


@pytest.mark.parametrize("tolerance", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("seed", SEEDS)
def test_pursuit_stops_at_the_first_residual_within_the_tolerance(
    seed: int, tolerance: float
) -> None:
    gradients, target = gaussian(seed, 10, 12)
    expected, _ = reference(gradients, target, 10, tolerance=tolerance)
    assert pursue(gradients, target, 10, tolerance=tolerance)[0] == expected


# Properties

# Whole numbers: rank-deficient, repeated and zero rows are common, near-singular ones are not.
COARSE = st.tuples(st.integers(1, 7), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=st.integers(-3, 3).map(float)),
        arrays(np.float64, shape[1], elements=st.integers(-3, 3).map(float)),
    )
)
BUDGETS = st.integers(0, 9)
PENALTIES = st.sampled_from([0.0, 0.5])


@given(COARSE, BUDGETS, PENALTIES)
def test_indices_are_distinct(problem: tuple[Array, Array], budget: int, l2: float) -> None:
    indices, _ = pursue(*problem, budget, l2=l2)
    assert len(set(indices)) == len(indices)


@given(COARSE, BUDGETS, PENALTIES)
def test_weights_are_positive(problem: tuple[Array, Array], budget: int, l2: float) -> None:
    _, weights = pursue(*problem, budget, l2=l2)
    assert (weights > 0).all()


@given(COARSE, BUDGETS, PENALTIES)
def test_at_most_the_budget_is_chosen(problem: tuple[Array, Array], budget: int, l2: float) -> None:
    indices, weights = pursue(*problem, budget, l2=l2)
    assert len(indices) == len(weights) <= budget


@given(COARSE, BUDGETS, PENALTIES)
def test_residual_is_at_most_the_target(
    problem: tuple[Array, Array], budget: int, l2: float
) -> None:
    gradients, target = problem
    found = residual(gradients, target, *pursue(gradients, target, budget, l2=l2))
    assert found <= np.linalg.norm(target) * (1 + 1e-12)


@given(COARSE, BUDGETS, PENALTIES)
def test_the_penalised_gradient_is_zero_on_the_chosen_rows(
    problem: tuple[Array, Array], budget: int, l2: float
) -> None:
    gradients, target = problem
    indices, weights = pursue(gradients, target, budget, l2=l2)
    chosen = gradients[indices]
    slope = chosen @ (target - chosen.T @ weights) - l2 * weights
    np.testing.assert_allclose(slope, 0, atol=1e-9)


@given(GENERIC, st.integers(0, 9))
@settings(deadline=None)
def test_a_larger_budget_never_has_a_larger_residual(
    problem: tuple[int, int, int], budget: int
) -> None:
    gradients, target = gaussian(*problem)
    less = residual(gradients, target, *pursue(gradients, target, budget))
    more = residual(gradients, target, *pursue(gradients, target, budget + 1))
    assert more <= less + 1e-10


@given(GENERIC, st.integers(1, 9))
@settings(deadline=None)
def test_repeated_calls_give_the_same_result(problem: tuple[int, int, int], budget: int) -> None:
    gradients, target = gaussian(*problem)
    first, second = pursue(gradients, target, budget), pursue(gradients, target, budget)
    assert (first[0], first[1].tolist()) == (second[0], second[1].tolist())


@given(GENERIC, st.integers(1, 9), st.sampled_from([1e-8, 1e-3, 1e6]))
@settings(deadline=None)
def test_the_scale_of_the_gradients_does_not_matter(
    problem: tuple[int, int, int], budget: int, scale: float
) -> None:
    gradients, target = gaussian(*problem)
    scaled = pursue(scale * gradients, scale * target, budget)
    assert scaled[0] == pursue(gradients, target, budget)[0]


# Degenerate inputs


def test_of_two_equal_rows_one_is_chosen() -> None:
    gradients = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    indices, _ = pursue(gradients, np.array([2.0, 5.0]), 3)
    assert not {0, 1} <= set(indices)


def test_equal_rows_reach_the_target_all_the_same() -> None:
    gradients = np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]])
    target = np.array([2.0, 5.0])
    assert residual(gradients, target, *pursue(gradients, target, 3)) == pytest.approx(0, abs=1e-9)


def test_a_zero_row_is_never_chosen() -> None:
    gradients = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert sorted(pursue(gradients, np.array([1.0, 2.0]), 3)[0]) == [1, 2]


@pytest.mark.parametrize(
    ("gradients", "target", "budget"),
    [
        (np.eye(3), np.zeros(3), 3),
        (np.eye(3), np.ones(3), 0),
        (np.zeros((3, 2)), np.ones(2), 3),
        (-np.eye(3), np.ones(3), 3),
    ],
    ids=["zero target", "budget 0", "zero rows", "opposite rows"],
)
def test_nothing_is_chosen_where_nothing_helps(
    gradients: Array, target: Array, budget: int
) -> None:
    assert pursue(gradients, target, budget)[0] == []


@pytest.mark.parametrize("budget", [3, 4, 100])
def test_a_budget_of_all_rows_or_more_takes_each_row_at_most_once(budget: int) -> None:
    indices, weights = pursue(np.eye(3), np.array([3.0, 1.0, 2.0]), budget)
    assert (indices, weights.tolist()) == ([0, 2, 1], [3.0, 2.0, 1.0])


def mirrored(seed: int) -> tuple[Array, Array]:
    """Return what a binary head gives: rows (r, -r) of rank 4 at most, and their mean."""
    half = np.random.default_rng(seed).normal(size=(12, 4))
    gradients = np.hstack([half, -half])
    return gradients, gradients.mean(axis=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_binary_head_needs_no_more_rows_than_its_rank(seed: int) -> None:
    gradients, target = mirrored(seed)
    assert len(pursue(gradients, target, 12)[0]) <= 4


@pytest.mark.parametrize("seed", SEEDS)
def test_weights_of_a_binary_head_are_those_of_half_the_columns(seed: int) -> None:
    gradients, target = mirrored(seed)
    halved = pursue(gradients[:, :4], target[:4], 12)
    np.testing.assert_allclose(pursue(gradients, target, 12)[1], halved[1], rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_and_its_opposite_are_never_both_chosen(seed: int) -> None:
    half, target = gaussian(seed, 6, 4)
    indices, _ = pursue(np.vstack([half, -half]), target, 12)
    assert len({row % 6 for row in indices}) == len(indices)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["gradients", "target"])
def test_values_that_are_not_finite_are_refused(place: str, value: float) -> None:
    problem = {"gradients": torch.eye(3), "target": torch.ones(3)}
    problem[place].view(-1)[1] = value
    with pytest.raises(ValueError, match="finite"):
        matching_pursuit(problem["gradients"], problem["target"], 2)


@pytest.mark.parametrize(
    ("gradients", "target"),
    [((3,), (3,)), ((3, 2), (3,)), ((3, 2), (1, 2)), ((3, 2), ()), ((3, 2, 2), (2, 2))],
)
def test_shapes_that_do_not_fit_are_refused(
    gradients: tuple[int, ...], target: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match=r"expected gradients \(n, d\) and target \(d,\)"):
        matching_pursuit(torch.ones(gradients), torch.ones(target), 1)


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        matching_pursuit(torch.eye(3), torch.ones(3), -1)


@pytest.mark.parametrize("seed", SEEDS)
def test_single_precision_gives_the_same_rows(seed: int) -> None:
    gradients, target = (torch.from_numpy(part).float() for part in gaussian(seed, 10, 6))
    single = matching_pursuit(gradients, target, 4)[0]
    double = matching_pursuit(gradients.double(), target.double(), 4)[0]
    assert single.tolist() == double.tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("budget", [0, 2])
def test_indices_are_int64_and_weights_float64(dtype: torch.dtype, budget: int) -> None:
    indices, weights = matching_pursuit(torch.eye(3, dtype=dtype), torch.ones(3).to(dtype), budget)
    assert (indices.dtype, weights.dtype) == (torch.int64, torch.float64)


def test_no_rows_give_no_choice() -> None:
    indices, weights = matching_pursuit(torch.zeros(0, 2), torch.ones(2), 3)
    assert len(indices) == len(weights) == 0
