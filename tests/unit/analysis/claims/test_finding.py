"""Shares of panels, figures against bars, and when a verdict is firm."""

from __future__ import annotations

import pytest

from automata.analysis.claims.finding import Estimate, Outcome, of_share

from .conftest import FEW, FIRM, OPEN

SURE, SURELY_NOT = Outcome(True, FIRM), Outcome(False, FIRM)
MAYBE, PERHAPS_NOT = Outcome(True, OPEN), Outcome(False, FEW)


@pytest.mark.parametrize(
    ("outcomes", "of", "share", "expected"),
    [
        ([SURE] * 9 + [SURELY_NOT], 10, 0.9, (True, FIRM)),
        ([SURE] * 8 + [SURELY_NOT] * 2, 10, 0.9, (False, FIRM)),
        ([SURE] * 10, 10, 1.0, (True, FIRM)),
        ([SURE] * 9 + [MAYBE], 10, 1.0, (True, OPEN)),
        ([SURE] * 9 + [MAYBE], 10, 0.9, (True, FIRM)),
        ([SURE] * 9 + [PERHAPS_NOT], 10, 1.0, (False, FEW)),
        ([SURE] * 8 + [SURELY_NOT, PERHAPS_NOT], 10, 0.9, (False, FEW)),
        ([SURE] * 5, 10, 0.9, (True, "panels missing")),
        ([SURE] * 5, 10, 0.5, (True, FIRM)),
        ([SURELY_NOT], 20, 0.9, (False, "panels missing")),
        ([SURELY_NOT] * 3, 20, 0.9, (False, FIRM)),
        ([SURELY_NOT] * 2 + [SURE], 20, 0.9, (False, "panels missing")),
        ([MAYBE], 20, 0.9, (True, OPEN)),
    ],
)
def test_a_share_of_panels(outcomes, of, share, expected):
    assert of_share(outcomes, of, share) == expected


@pytest.mark.parametrize(
    ("figure", "above", "below"),
    [
        ((2.0, 1.5, 2.5), (True, FIRM), (False, FIRM)),
        ((2.0, 0.5, 2.5), (True, OPEN), (False, OPEN)),
        ((0.5, 0.2, 0.9), (False, FIRM), (True, FIRM)),
        ((0.5, 0.2, 1.1), (False, OPEN), (True, OPEN)),
        ((1.0, 1.0, 1.0), (False, FIRM), (False, FIRM)),
        ((2.0, 2.0, 2.0, True), (True, FEW), (False, FEW)),
    ],
)
def test_a_figure_against_a_bar_of_one(figure, above, below):
    assert (Estimate(*figure).above(1.0), Estimate(*figure).below(1.0)) == (above, below)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ((1.5, 1.0, 2.0), (True, FIRM)),
        ((1.5, 0.9, 2.0), (True, OPEN)),
        ((0.9, 0.8, 1.0), (False, OPEN)),
        ((0.8, 0.7, 0.9), (False, FIRM)),
        ((2.2, 2.1, 2.3), (False, FIRM)),
        ((1.5, 1.0, 2.0, True), (True, FEW)),
    ],
)
def test_a_figure_between_one_and_two(figure, expected):
    assert Estimate(*figure).between(1.0, 2.0) == expected
