"""Fronts and areas against their definitions, point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.analysis.statistics import hypervolume, on_front

# Whole numbers, so that ties are frequent and areas can be counted square by square.
POINTS = st.lists(st.tuples(st.integers(-2, 8), st.integers(-8, 8)), min_size=1, max_size=7)


def columns(points: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(points, dtype=float)
    return table[:, 0], table[:, 1]


def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] >= other[0] and one[1] <= other[1] and one != other


def squares(points: list[tuple[int, int]], reference: tuple[int, int]) -> int:
    """Count the unit squares between the reference and what some point beats."""
    covered = {
        (x, y)
        for fast, bad in points
        for x in range(reference[0], fast)
        for y in range(bad, reference[1])
    }
    return len(covered)


@given(POINTS)
def test_front_is_what_no_other_point_beats(points):
    expected = [not any(beats(other, point) for other in points) for point in points]
    assert on_front(*columns(points)).tolist() == expected


def test_of_two_points_of_one_speedup_the_better_is_on_the_front():
    assert on_front(np.array([2.0, 2.0]), np.array([1.0, 0.0])).tolist() == [False, True]


def test_equal_points_are_on_the_front_together():
    assert on_front(np.array([2.0, 2.0]), np.array([1.0, 1.0])).tolist() == [True, True]


@given(POINTS, st.integers(-1, 3), st.integers(-4, 9))
def test_area_is_the_number_of_squares_covered(points, slowest, worst):
    reference = (slowest, worst)
    assert hypervolume(*columns(points), reference) == pytest.approx(squares(points, reference))


@given(POINTS)
def test_points_off_the_front_add_nothing(points):
    speedups, errors = columns(points)
    front = on_front(speedups, errors)
    whole = hypervolume(speedups, errors, (1.0, 5.0))
    assert hypervolume(speedups[front], errors[front], (1.0, 5.0)) == pytest.approx(whole)


def test_area_of_one_point_is_a_rectangle():
    assert hypervolume(np.array([3.0]), np.array([0.5]), (1.0, 2.0)) == pytest.approx(3.0)


@pytest.mark.parametrize("point", [(0.5, 0.0), (3.0, 2.5), (1.0, 0.0), (3.0, 2.0)])
def test_a_point_that_does_not_beat_the_reference_covers_nothing(point):
    assert hypervolume(np.array([point[0]]), np.array([point[1]]), (1.0, 2.0)) == 0.0


def test_axes_before_the_last_are_problems_of_their_own():
    random = np.random.default_rng(0)
    speedups, errors = random.uniform(0.5, 9, (2, 5, 4)), random.normal(0, 2, (2, 5, 4))
    corners = np.stack([np.ones((2, 5)), errors.max(axis=-1)], axis=-1)
    areas = hypervolume(speedups, errors, corners)
    one_by_one = [
        [hypervolume(speedups[i, j], errors[i, j], corners[i, j]) for j in range(5)]
        for i in range(2)
    ]
    assert np.allclose(areas, one_by_one)
