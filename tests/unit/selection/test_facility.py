"""Greedy facility location against a naive greedy and the brute-force optimum."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from automata.selection.facility import facility_location

Array = NDArray[np.float64]
SEEDS = range(4)

SQUARES = st.integers(1, 7).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=st.integers(0, 4).map(float))
)


def similarity_of(seed: int, rows: int) -> Array:
    """Return similarities that are not symmetric, without ties."""
    return np.random.default_rng(seed).uniform(size=(rows, rows))


def choose(similarity: Array, budget: int) -> tuple[list[int], list[float]]:
    indices, weights = facility_location(torch.from_numpy(similarity), budget)
    return indices.tolist(), weights.tolist()


def value(similarity: Array, chosen: list[int]) -> float:
    """Return sum_i max_{j in S} similarity[i, j], 0 for nothing chosen."""
    return float(similarity[:, chosen].max(axis=1).sum()) if chosen else 0.0


def naive_greedy(similarity: Array, budget: int) -> list[int]:
    chosen: list[int] = []
    for _ in range(min(budget, len(similarity))):
        others = [row for row in range(len(similarity)) if row not in chosen]
        chosen.append(max(others, key=lambda row: value(similarity, [*chosen, row])))
    return chosen


@pytest.mark.parametrize("budget", [1, 2, 5, 8])
@pytest.mark.parametrize("seed", SEEDS)
def test_choices_are_those_of_a_naive_greedy(seed: int, budget: int) -> None:
    similarity = similarity_of(seed, 8)
    assert choose(similarity, budget)[0] == naive_greedy(similarity, budget)


@pytest.mark.parametrize("budget", [1, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_value_keeps_the_bound_of_greedy_maximisation(seed: int, budget: int) -> None:
    """Nemhauser, Wolsey and Fisher, 1978: at least 1 - 1/e of the optimum."""
    similarity = similarity_of(seed, 7)
    optimum = max(value(similarity, list(rows)) for rows in combinations(range(7), budget))
    assert value(similarity, choose(similarity, budget)[0]) >= (1 - 1 / math.e) * optimum


@pytest.mark.parametrize("seed", SEEDS)
def test_one_choice_is_the_best_one(seed: int) -> None:
    similarity = similarity_of(seed, 7)
    assert choose(similarity, 1)[0] == [int(similarity.sum(axis=0).argmax())]


@given(SQUARES, st.integers(1, 9))
def test_weights_sum_to_the_number_of_rows(similarity: Array, budget: int) -> None:
    assert sum(choose(similarity, budget)[1]) == len(similarity)


@given(SQUARES, st.integers(1, 9))
def test_weights_are_cluster_sizes_with_ties_to_the_earlier_choice(
    similarity: Array, budget: int
) -> None:
    indices, weights = choose(similarity, budget)
    stands_for = [
        max(range(len(indices)), key=lambda place: (row[indices[place]], -place))
        for row in similarity
    ]
    assert weights == [stands_for.count(place) for place in range(len(indices))]


@given(SQUARES, st.integers(0, 9))
def test_choices_are_distinct_and_as_many_as_possible(similarity: Array, budget: int) -> None:
    indices, _ = choose(similarity, budget)
    assert len(set(indices)) == len(indices) == min(budget, len(similarity))


def test_one_exemplar_is_chosen_of_each_cluster() -> None:
    clusters = np.array([0, 1, 0, 2, 0, 1])
    similarity = (clusters[:, None] == clusters[None, :]).astype(float)
    indices, weights = choose(similarity, 3)
    assert (clusters[indices].tolist(), weights) == ([0, 1, 2], [3.0, 2.0, 1.0])


def test_a_duplicate_of_a_chosen_row_is_chosen_last() -> None:
    similarity = np.array([[5.0, 5.0, 0.0], [5.0, 5.0, 0.0], [0.0, 0.0, 1.0]])
    assert choose(similarity, 3)[0] == [0, 2, 1]


def test_a_duplicate_of_a_chosen_row_stands_for_nothing() -> None:
    similarity = np.array([[5.0, 5.0, 0.0], [5.0, 5.0, 0.0], [0.0, 0.0, 1.0]])
    assert choose(similarity, 3)[1] == [2.0, 1.0, 0.0]


@pytest.mark.parametrize("rows", [0, 3])
def test_a_budget_of_zero_chooses_nothing(rows: int) -> None:
    assert choose(np.ones((rows, rows)), 0) == ([], [])


@pytest.mark.parametrize("budget", [4, 5, 100])
def test_a_budget_of_all_rows_or_more_chooses_every_row(budget: int) -> None:
    assert sorted(choose(similarity_of(0, 4), budget)[0]) == [0, 1, 2, 3]


def test_rows_that_are_similar_to_nothing_are_chosen_in_order() -> None:
    assert choose(np.zeros((3, 3)), 2)[0] == [0, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-9])
def test_values_that_are_not_finite_or_negative_are_refused(bad: float) -> None:
    similarity = np.ones((3, 3))
    similarity[1, 2] = bad
    with pytest.raises(ValueError, match="finite and not negative"):
        choose(similarity, 1)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3,), (3, 3, 3), ()])
def test_a_matrix_that_is_not_square_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="square"):
        choose(np.ones(shape), 1)


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        choose(np.ones((3, 3)), -1)


@pytest.mark.parametrize("seed", SEEDS)
def test_single_precision_gives_the_same_choices(seed: int) -> None:
    similarity = torch.from_numpy(similarity_of(seed, 8)).float()
    single, double = (facility_location(s, 4)[0] for s in (similarity, similarity.double()))
    assert single.tolist() == double.tolist()


@pytest.mark.parametrize("rows", [1, 4])
def test_equal_rows_are_stood_for_by_the_first(rows: int) -> None:
    assert choose(np.ones((rows, rows)), rows + 1) == (
        list(range(rows)),
        [float(rows)] + [0.0] * (rows - 1),
    )


@given(SQUARES, st.integers(0, 9))
def test_whole_numbers_are_chosen_as_by_a_naive_greedy(similarity: Array, budget: int) -> None:
    """With zeros, duplicates and ties, of which the first row wins each."""
    assert choose(similarity, budget)[0] == naive_greedy(similarity, budget)


@pytest.mark.parametrize("dtype", [torch.float16, torch.int64])
def test_other_types_give_the_same_choices(dtype: torch.dtype) -> None:
    similarity = torch.tensor([[4, 1, 0], [1, 4, 3], [0, 3, 4]])
    found = facility_location(similarity.to(dtype), 2)
    assert [part.tolist() for part in found] == [[1, 0], [2.0, 1.0]]


def test_rows_that_are_not_contiguous_are_taken_as_they_are() -> None:
    similarity = similarity_of(2, 8)
    wide = torch.from_numpy(np.repeat(similarity, 2, axis=1))[:, ::2]
    assert facility_location(wide, 4)[0].tolist() == choose(similarity, 4)[0]
