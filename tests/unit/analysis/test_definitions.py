"""Every reported quantity, against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.analysis.quantities import (
    ceiling,
    final_ceiling,
    relative_test_error,
)

# Hyperband, 27 configurations, T = 200, without early failures: 2982 epochs in all.
EPOCHS, T = 2982, 200


@pytest.mark.parametrize(
    ("full", "run", "points"),
    [(0.90, 0.88, 2.0), (0.88, 0.90, -2.0), (0.9, 0.9, 0.0)],
    ids=["loss", "gain", "none"],
)
def test_relative_test_error_is_positive_for_a_loss(full: float, run: float, points: float) -> None:
    assert relative_test_error(full, run) == pytest.approx(points)


def test_ceiling_of_free_selection_on_one_slot() -> None:
    # 2982 / (200 + 0.01 x 2982) = 2982 / 229.82 = 12.97537
    assert ceiling(EPOCHS, 0.01 * EPOCHS, T, 0, 1) == pytest.approx(12.97537, rel=1e-6)


def test_ceiling_of_free_selection_on_two_slots_keeps_the_final_training_whole() -> None:
    # 1491 / (200 + 0.01 x 1491) = 1491 / 214.91 = 6.937788
    assert ceiling(EPOCHS, 0.01 * EPOCHS, T, 0, 2) == pytest.approx(6.937788, rel=1e-6)


def test_ceiling_counts_a_selection_as_a_third_of_an_epoch() -> None:
    # 300 selections are 100 epochs: 2982 / (200 + 29.82 + 100) = 2982 / 329.82 = 9.041295
    assert ceiling(EPOCHS, 0.01 * EPOCHS, T, 300, 1) == pytest.approx(9.041295, rel=1e-6)


def test_ceiling_shares_selections_among_slots() -> None:
    # 1491 / (200 + 14.91 + 50) = 1491 / 264.91 = 5.628327
    assert ceiling(EPOCHS, 0.01 * EPOCHS, T, 300, 2) == pytest.approx(5.628327, rel=1e-6)


@pytest.mark.parametrize("slots", [1, 2])
def test_ceiling_of_full_against_itself_is_one(slots: int) -> None:
    assert ceiling(EPOCHS, EPOCHS, 0, 0, slots) == 1


def test_final_ceiling_counts_the_final_training_at_its_seconds() -> None:
    # An epoch is 600 / 300 = 2 s: 600 / (50 + (10 + 30 / 3) x 2) = 600 / 90
    assert final_ceiling(600, 300, 10, 50, 30) == pytest.approx(600 / 90)


@given(st.integers(1, 4), st.floats(1, 100), st.floats(0.1, 50), st.integers(0, 40))
def test_ceilings_agree_where_the_final_training_costs_an_average_one(
    slots: int, epoch: float, run_epochs: float, selections: int
) -> None:
    """`epoch` seconds on one slot; the final training runs alone."""
    full_seconds = EPOCHS * epoch / slots
    assert final_ceiling(full_seconds, EPOCHS, run_epochs, T * epoch, selections) == pytest.approx(
        ceiling(EPOCHS, run_epochs, T, selections, slots)
    )
