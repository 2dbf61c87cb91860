"""Non-negative orthogonal matching pursuit against brute force, SciPy and scikit-learn."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.linear_model import orthogonal_mp
from torch import Tensor

from automata.selection import matching
from automata.selection.matching import (
    BLOCK,
    _independent,
    _KnownColumns,
    _LazyColumns,
    _Pursuit,
    matching_pursuit,
    matching_pursuit_of_gram,
)

Array = NDArray[np.float64]

SEEDS = range(4)
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
def test_a_larger_budget_never_has_a_larger_residual(
    problem: tuple[int, int, int], budget: int
) -> None:
    gradients, target = gaussian(*problem)
    less = residual(gradients, target, *pursue(gradients, target, budget))
    more = residual(gradients, target, *pursue(gradients, target, budget + 1))
    assert more <= less + 1e-10


@given(GENERIC, st.integers(1, 9))
def test_repeated_calls_give_the_same_result(problem: tuple[int, int, int], budget: int) -> None:
    gradients, target = gaussian(*problem)
    first, second = pursue(gradients, target, budget), pursue(gradients, target, budget)
    assert (first[0], first[1].tolist()) == (second[0], second[1].tolist())


@given(GENERIC, st.integers(1, 9), st.sampled_from([1e-8, 1e-3, 1e6]))
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


@pytest.mark.parametrize("options", [{"l2": -0.5}, {"tolerance": -0.1}, {"l2": np.nan}])
def test_negative_options_are_refused_by_name(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} must not be negative"):
        matching_pursuit(torch.eye(3), torch.ones(3), 2, **options)


def test_no_rows_give_no_choice() -> None:
    indices, weights = matching_pursuit(torch.zeros(0, 2), torch.ones(2), 3)
    assert len(indices) == len(weights) == 0


@pytest.mark.parametrize("place", ["gradients", "target"])
def test_numbers_without_finite_products_are_refused(place: str) -> None:
    problem = {"gradients": torch.eye(3), "target": torch.ones(3)}
    problem[place].view(-1)[0] = 3e38
    problem["gradients"] *= 10
    with pytest.raises(ValueError, match="products must be finite"):
        matching_pursuit(problem["gradients"], problem["target"], 2)


def test_a_target_that_is_not_finite_is_refused_without_rows() -> None:
    with pytest.raises(ValueError, match="finite"):
        matching_pursuit(torch.zeros(0, 2), torch.tensor([1.0, np.nan]), 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.int8])
def test_other_types_are_computed_in_single_precision(dtype: torch.dtype) -> None:
    gradients = torch.tensor([[3, 0, 1], [0, 2, 1], [1, 1, -4], [-1, 2, 0]]).to(dtype)
    target = torch.tensor([5, 7, 1]).to(dtype)
    found, expected = (
        matching_pursuit(rows, aim, 3)
        for rows, aim in [(gradients, target), (gradients.float(), target.float())]
    )
    assert found[0].tolist() == expected[0].tolist() != []
    assert found[1].tolist() == expected[1].tolist()


def test_rows_that_are_not_contiguous_are_taken_as_they_are() -> None:
    gradients, target = (torch.from_numpy(part) for part in gaussian(3, 10, 6))
    wide = torch.stack([gradients.T, -gradients.T], dim=2)  # (6, 10, 2)
    found = matching_pursuit(wide[:, :, 0].T, target.repeat_interleave(2)[::2], 4)
    expected = matching_pursuit(gradients, target, 4)
    assert found[0].tolist() == expected[0].tolist()
    torch.testing.assert_close(found[1], expected[1])


def test_gradients_that_require_a_gradient_are_taken_as_numbers() -> None:
    gradients = torch.eye(3, requires_grad=True)
    indices, weights = matching_pursuit(gradients, torch.ones(3, requires_grad=True), 3)
    assert (len(indices), weights.requires_grad) == (3, False)


def test_arguments_are_left_as_they_are() -> None:
    gradients, target = (torch.from_numpy(part) for part in gaussian(3, 40, 6))
    before = gradients.clone(), target.clone()
    matching_pursuit(gradients, target, 6)
    assert torch.equal(gradients, before[0])
    assert torch.equal(target, before[1])


# Single precision


@pytest.mark.parametrize("budget", [3, 12, 40])
@pytest.mark.parametrize("seed", SEEDS)
def test_weights_are_exact_for_rows_in_single_precision(seed: int, budget: int) -> None:
    gradients, target = (torch.from_numpy(part).float() for part in gaussian(seed, 60, 50))
    indices, weights = matching_pursuit(gradients, target, budget)
    expected = best_weights(gradients.double().numpy(), target.double().numpy(), indices.tolist())
    np.testing.assert_allclose(weights.numpy(), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("budget", [3, 12, 40])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_error_in_single_precision_is_that_in_double(seed: int, budget: int) -> None:
    gradients, target = gaussian(seed, 60, 50)
    double = residual(gradients, target, *pursue(gradients, target, budget))
    indices, weights = matching_pursuit(
        torch.from_numpy(gradients).float(), torch.from_numpy(target).float(), budget
    )
    single = residual(gradients, target, indices.tolist(), weights.numpy())
    assert single == pytest.approx(double, rel=1e-4, abs=1e-4 * np.linalg.norm(target))


def binary_head(seed: int, rows: int, rank: int) -> Tensor:
    """Return rows (r, -r) of single precision, in a space of so many dimensions."""
    generator = torch.Generator().manual_seed(seed)
    parts = torch.randn(rows, rank, generator=generator)
    half = parts @ torch.randn(rank, 3 * rank, generator=generator)
    return torch.cat([half, -half], dim=1)


@pytest.mark.parametrize("seed", range(4))
def test_single_precision_spends_a_binary_head_without_an_error(seed: int) -> None:
    rows = binary_head(seed, 300, 40)
    target = rows.mean(dim=0)
    indices, weights = matching_pursuit(rows, target, 300)
    error = float((target.double() - weights @ rows[indices].double()).norm())
    assert len(indices) <= 41
    assert error <= 1e-3 * float(target.norm())


def test_rows_that_only_rounding_tells_apart_end_no_pursuit() -> None:
    """Each row nearly three times, so that products in single precision are of low rank."""
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(60, 30, generator=generator).repeat(3, 1)
    rows += 1e-7 * torch.randn(180, 30, generator=generator)
    indices, weights = matching_pursuit(rows, rows.mean(dim=0) + 0.1, 180)
    assert len(set((indices % 60).tolist())) == len(indices)
    assert torch.isfinite(weights).all()


def test_rows_that_are_dependent_in_double_precision_alone_are_left_out() -> None:
    """The last solve is given two equal rows, as if single precision had let them in."""
    support = [4, 7, 2]
    gram = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    pursuit = _Pursuit(_KnownColumns(gram), np.ones(9), np.ones(9), 0.0, 1e-5)
    pursuit.support, pursuit.weights = support, np.array([0.5, 0.5, 1.0])
    indices, weights = pursuit.result(gram, np.array([2.0, 2.0, 3.0]), torch.device("cpu"))
    assert (indices.tolist(), weights.tolist()) == ([4, 2], pytest.approx([1.0, 3.0]))


def test_row_that_ends_a_factorisation_is_left_out() -> None:
    """The second of two equal rows has nothing of its own, to the last bit."""
    places, factor = _independent(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]]))
    assert (places.tolist(), factor.tolist()) == ([0, 2], [[1.0, 0.0], [0.0, 0.5]])


# Many rows: several blocks of columns, and rows that are dropped


def crowded(seed: int) -> tuple[Array, Array]:
    """Return 200 rows around a common one: pursuits of them drop 4 to 13 rows."""
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(200, 60)) + 0.5 * generator.normal(size=60)
    return rows, rows.mean(axis=0) + 0.3 * generator.normal(size=60)


@pytest.mark.parametrize("block", [1, 5, BLOCK, 1000])
@pytest.mark.parametrize("seed", SEEDS)
def test_many_rows_follow_the_documented_greedy_rule(
    monkeypatch: pytest.MonkeyPatch, seed: int, block: int
) -> None:
    monkeypatch.setattr(matching, "BLOCK", block)
    gradients, target = crowded(seed)
    indices, weights = reference(gradients, target, 60)
    found = pursue(gradients, target, 60)
    assert found[0] == indices
    np.testing.assert_allclose(found[1], weights, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", [1, 4])
def test_rows_are_dropped_from_a_crowd(seed: int) -> None:
    """Or else the test above shows less than it says."""
    gradients, target = crowded(seed)
    chosen = [set(pursue(gradients, target, budget)[0]) for budget in range(1, 61)]
    assert len(set.union(*chosen) - chosen[-1]) >= 4


def test_columns_come_in_blocks_of_the_rows_that_promise_most() -> None:
    rows = torch.from_numpy(crowded(0)[0])
    columns = _LazyColumns(rows)
    promise = np.arange(200.0)
    np.testing.assert_allclose(columns.column(3, promise), rows.numpy() @ rows[3].numpy())
    assert set(columns._known) == {3, *range(200 - BLOCK + 1, 200)}


def test_columns_of_rows_that_are_out_of_the_question_are_not_computed() -> None:
    columns = _LazyColumns(torch.from_numpy(crowded(0)[0]))
    promise = np.where(np.arange(200) < 7, 1.0, -np.inf)
    columns.column(3, promise)
    columns.column(100, promise)
    assert set(columns._known) == {*range(7), 100}


def test_a_column_that_is_known_costs_nothing() -> None:
    columns = _LazyColumns(torch.from_numpy(crowded(0)[0]))
    first = columns.column(3, np.arange(200.0))
    assert columns.column(3, np.arange(200.0)) is first


@given(st.integers(0, 10**6), st.integers(33, 120), st.integers(2, 8), st.integers(1, 130))
def test_no_row_is_taken_twice_from_repeated_rows(
    seed: int, rows: int, columns: int, budget: int
) -> None:
    generator = np.random.default_rng(seed)
    gradients = generator.integers(-2, 3, size=(rows, columns)).astype(float)
    target = generator.integers(-9, 10, size=columns).astype(float)
    for dtype in (torch.float32, torch.float64):
        indices, weights = matching_pursuit(
            torch.from_numpy(gradients).to(dtype), torch.from_numpy(target).to(dtype), budget
        )
        assert len(set(indices.tolist())) == len(indices) <= min(budget, columns)
        assert (weights > 0).all()


# The floor


@pytest.mark.parametrize("floor", [0, 1, 3, 6])
@pytest.mark.parametrize("tolerance", [0.0, 0.3, 0.99])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_floor_is_chosen_before_the_tolerance_counts(
    seed: int, tolerance: float, floor: int
) -> None:
    gradients, target = gaussian(seed, 20, 30)
    early = pursue(gradients, target, 10, tolerance=tolerance)
    at_least = pursue(gradients, target, floor)
    expected = max(early, at_least, key=lambda found: len(found[0]))
    assert pursue(gradients, target, 10, tolerance=tolerance, floor=floor)[0] == expected[0]


def test_without_a_floor_a_tolerance_of_all_needs_no_row() -> None:
    assert pursue(np.eye(3), np.ones(3), 3, tolerance=1.0)[0] == []
    by_products = matching_pursuit_of_gram(torch.eye(3), torch.ones(3) / 3, 3, tolerance=1.0)
    assert by_products[0].tolist() == []


def test_a_floor_above_the_budget_is_the_budget() -> None:
    assert len(pursue(np.eye(5), np.ones(5), 3, tolerance=0.9, floor=4)[0]) == 3


# From the Gram matrix alone


@pytest.mark.parametrize("l2", [0.0, 0.5])
@pytest.mark.parametrize("tolerance", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_gram_matrix_is_as_good_as_the_gradients(
    seed: int, tolerance: float, l2: float
) -> None:
    gradients, _ = crowded(seed)
    mixture = np.random.default_rng(seed).uniform(size=200)
    options = {"tolerance": tolerance, "l2": l2, "floor": 3}
    expected = pursue(gradients, gradients.T @ mixture, 40, **options)
    indices, weights = matching_pursuit_of_gram(
        torch.from_numpy(gradients @ gradients.T), torch.from_numpy(mixture), 40, **options
    )
    assert indices.tolist() == expected[0]
    np.testing.assert_allclose(weights.numpy(), expected[1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_gram_matrix_of_a_binary_head_is_spent_without_an_error(seed: int) -> None:
    rows = binary_head(seed, 300, 40).double()
    indices, weights = matching_pursuit_of_gram(rows @ rows.T, torch.full((300,), 1 / 300), 300)
    target = rows.mean(dim=0)
    assert len(indices) <= 41
    assert float((target - weights @ rows[indices]).norm()) <= 1e-6 * float(target.norm())


@pytest.mark.parametrize("mixture", [[0.0, 0.0, 0.0], [0.1, 0.1, 0.1]], ids=["none", "cancel"])
@pytest.mark.filterwarnings("error")
def test_a_mixture_that_adds_up_to_nothing_needs_no_row(mixture: list[float]) -> None:
    rows = torch.tensor([[1.1, 0.3], [2.2, -0.7], [-3.3, 0.4]]).double()
    indices, _ = matching_pursuit_of_gram(rows @ rows.T, torch.tensor(mixture).double(), 3)
    assert len(indices) <= 2


@pytest.mark.parametrize("place", ["gram", "mixture"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_products_that_are_not_finite_are_refused(place: str, value: float) -> None:
    problem = {"gram": torch.eye(3), "mixture": torch.ones(3)}
    problem[place].view(-1)[1] = value
    with pytest.raises(ValueError, match="finite"):
        matching_pursuit_of_gram(problem["gram"], problem["mixture"], 2)


@pytest.mark.parametrize(("gram", "mixture"), [((3, 2), 3), ((2, 2), 3), ((3,), 3), ((3, 3), 2)])
def test_products_that_do_not_fit_are_refused(gram: tuple[int, ...], mixture: int) -> None:
    with pytest.raises(ValueError, match=r"expected gram \(n, n\)"):
        matching_pursuit_of_gram(torch.ones(gram), torch.ones(mixture), 1)


@pytest.mark.parametrize("budget", [0, 3])
def test_no_products_give_no_choice(budget: int) -> None:
    indices, _ = matching_pursuit_of_gram(torch.zeros(0, 0), torch.zeros(0), budget)
    assert len(indices) == 0
