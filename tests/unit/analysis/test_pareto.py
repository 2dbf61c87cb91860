"""Fronts by their definition, areas by counting cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.analysis.pareto import hypervolume, on_front

POINTS = st.lists(
    st.tuples(
        st.integers(0, 12).map(lambda i: i / 2),
        st.integers(-6, 6).map(lambda i: i / 2),
    ),
    min_size=1,
    max_size=12,
)


def arrays(points):
    both = np.array(points, dtype=np.float64)
    return both[:, 0], both[:, 1]


def beats(one, other):
    return one != other and one[0] >= other[0] and one[1] <= other[1]


def cells(points, reference):
    """Count the area in squares of side 1/2, the grid that all points of POINTS lie on."""
    area = 0.0
    for speedup in np.arange(reference[0], 6.5, 0.5):
        for error in np.arange(-3.5, reference[1], 0.5):
            # The square with its slow, good corner at (speedup, error).
            if any(p[0] >= speedup + 0.5 and p[1] <= error for p in points):
                area += 0.25
    return area


@given(POINTS)
def test_the_front_is_what_no_other_point_beats(points):
    expected = [not any(beats(other, point) for other in points) for point in points]

    assert on_front(*arrays(points)).tolist() == expected


@given(POINTS, st.sampled_from([(1.0, 3.0), (1.0, 0.0), (2.5, 1.5)]))
def test_hypervolume_is_the_area_of_the_squares_that_are_dominated(points, reference):
    assert hypervolume(*arrays(points), reference) == pytest.approx(cells(points, reference))


@given(POINTS)
def test_points_off_the_front_add_no_hypervolume(points):
    speedups, errors = arrays(points)
    front = on_front(speedups, errors)

    assert hypervolume(speedups, errors, (1.0, 3.0)) == pytest.approx(
        hypervolume(speedups[front], errors[front], (1.0, 3.0))
    )


def test_a_point_on_the_reference_covers_nothing():
    assert hypervolume(np.array([1.0]), np.array([0.0]), (1.0, 2.0)) == 0
