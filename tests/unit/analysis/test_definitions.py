"""Every reported quantity, against numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.analysis.ratios import ceiling, final_ceiling, relative_test_error
from automata.analysis.runs import TYPES, RunRow

# Hyperband, 27 configurations, T = 200, without early failures: 2982 epochs in all.
EPOCHS, T = 2982, 200


def run(**values: Any) -> RunRow:
    """A run with these values."""
    return RunRow({**dict.fromkeys(TYPES), **values})


FULL = run(full_epoch_equivalents=EPOCHS)


def subset(selections: int, slots: int, epochs: float = 0.01 * EPOCHS) -> RunRow:
    """A run of so many epochs and selections, with a final training of T epochs."""
    return run(
        full_epoch_equivalents=epochs,
        final_epochs=T,
        gradient_selections=selections,
        concurrent_trials=slots,
    )


@pytest.mark.parametrize(
    ("full", "other", "points"),
    [(0.90, 0.88, 2.0), (0.88, 0.90, -2.0), (0.9, 0.9, 0.0)],
    ids=["loss", "gain", "none"],
)
def test_relative_test_error_is_positive_for_a_loss(
    full: float, other: float, points: float
) -> None:
    assert relative_test_error(full, other) == pytest.approx(points)


@pytest.mark.parametrize(
    ("selections", "slots", "expected"),
    [
        (0, 1, 12.97537),  # 2982 / (200 + 0.01 x 2982) = 2982 / 229.82
        (0, 2, 6.937788),  # 1491 / (200 + 0.01 x 1491) = 1491 / 214.91: the final training is whole
        (300, 1, 9.041295),  # 300 selections are 100 epochs: 2982 / (200 + 29.82 + 100)
        (300, 2, 5.628327),  # 1491 / (200 + 14.91 + 50) = 1491 / 264.91
    ],
)
def test_ceiling_counts_epochs_selections_and_slots(
    selections: int, slots: int, expected: float
) -> None:
    assert ceiling(subset(selections, slots), FULL) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("slots", [1, 2])
def test_ceiling_of_full_against_itself_is_one(slots: int) -> None:
    values = {"final_epochs": 0, "gradient_selections": 0, "concurrent_trials": slots}
    full = run(full_epoch_equivalents=EPOCHS, **values)
    assert ceiling(full, full) == 1


def test_final_ceiling_counts_the_final_training_at_its_seconds() -> None:
    # An epoch is 600 / 300 = 2 s: 600 / (50 + (10 + 30 / 3) x 2) = 600 / 90
    full = run(total_seconds=600, full_epoch_equivalents=300)
    other = run(full_epoch_equivalents=10, final_seconds=50, gradient_selections=30)
    assert final_ceiling(other, full) == pytest.approx(600 / 90)


@given(st.integers(1, 4), st.floats(1, 100), st.floats(0.1, 50), st.integers(0, 40))
def test_ceilings_agree_where_the_final_training_costs_an_average_one(
    slots: int, epoch: float, run_epochs: float, selections: int
) -> None:
    """`epoch` seconds on one slot; the final training runs alone."""
    full = run(total_seconds=EPOCHS * epoch / slots, full_epoch_equivalents=EPOCHS)
    other = subset(selections, slots, run_epochs)
    other.final_seconds = T * epoch
    assert final_ceiling(other, full) == pytest.approx(ceiling(other, full))
