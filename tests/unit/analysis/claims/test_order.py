"""Smaller subsets save more: the order of fractions."""

from __future__ import annotations

import pytest

from automata.analysis.claims.by_panel import OrderClaim
from automata.analysis.claims.finding import NOT_REPRODUCED, NOT_RUN, REPRODUCED

ASHA = ("satimage", "tpe", "asha")


@pytest.fixture
def order(grid, words, tables):
    def check(rows, fractions=(0.05, 0.1), selectors=("gradmatch",), **changes):
        where = grid(fractions=list(fractions))
        claim = OrderClaim(grid=where, selectors=list(selectors), **changes, **words)
        return claim.check(tables(rows))

    return check


@pytest.fixture
def line(runs):
    """Make runs of the fractions 5 %, 10 %, ... with these speedups per seed."""

    def make(*speedups, **changes):
        sizes = (0.05, 0.1, 0.3)
        return [
            row
            for fraction, values in zip(sizes, speedups, strict=False)
            for row in runs(list(values), fraction=fraction, **changes)
        ]

    return make


@pytest.mark.parametrize(
    ("small", "large", "verdict", "firm"),
    [
        ([5.0, 5.1, 5.2], [4.0, 4.1, 4.2], REPRODUCED, "interval"),
        ([5.0, 5.1, 5.2], [1.0, 4.1, 9.0], REPRODUCED, "within the interval"),
        ([4.0, 4.1, 4.2], [5.0, 5.1, 5.2], NOT_REPRODUCED, "interval"),
        ([1.0, 4.1, 9.0], [5.0, 5.1, 5.2], NOT_REPRODUCED, "within the interval"),
        ([5.0, 5.0, 5.0], [5.0, 5.0, 5.0], NOT_REPRODUCED, "within the interval"),
        ([5.0, 5.1], [4.0, 4.1], REPRODUCED, "too few seeds"),
    ],
)
def test_two_fractions(order, line, small, large, verdict, firm):
    finding = order(line(small, large))
    assert (finding.verdict, finding.firm) == (verdict, firm)


def test_energy_of_one_seed_of_three_is_of_too_few_seeds(order, line):
    rows = line([5.0, 5.1, 5.2], [4.0, 4.1, 4.2])
    assert order(rows, quantity="energy_ratio").firm == "interval"
    rows = [{**row, "energy_ratio": None} if row["seed"] else row for row in rows]
    assert order(rows, quantity="energy_ratio").firm == "too few seeds"
    assert order(rows).firm == "interval"


def test_every_step_counts(order, line):
    rows = line([5.0] * 3, [3.0] * 3, [4.0] * 3)
    assert order(rows, (0.05, 0.1, 0.3)).verdict == NOT_REPRODUCED
    assert order(rows, (0.05, 0.1)).verdict == REPRODUCED


def test_one_fraction_has_no_order(order, line):
    assert order(line([5.0] * 3)).verdict == NOT_RUN


def test_a_fraction_that_is_missing_could_be_out_of_order(order, line):
    rows = line([5.0] * 3, [4.0] * 3)
    assert order(rows, (0.05, 0.1, 0.3)).firm == "fractions missing"


def test_every_selector_must_be_in_order(order, line):
    rows = [*line([5.0] * 3, [4.0] * 3), *line([2.0] * 3, [3.0] * 3, selector="random")]
    assert order(rows).verdict == REPRODUCED
    finding = order(rows, selectors=("gradmatch", "random"))
    assert (finding.verdict, finding.firm) == (NOT_REPRODUCED, "interval")
    assert finding.ours == "in order in 0 of 1 panels; not in satimage/tpe-hyperband"


def test_a_share_of_the_panels_may_do(order, line, words, grid, tables):
    rows = [*line([5.0] * 3, [4.0] * 3), *line([2.0] * 3, [3.0] * 3, panel=ASHA)]
    where = grid(fractions=[0.05, 0.1], schedulers=["hyperband", "asha"])
    whole = tables(rows)
    for share, verdict in ((1.0, NOT_REPRODUCED), (0.5, REPRODUCED)):
        claim = OrderClaim(grid=where, selectors=["gradmatch"], share=share, **words)
        assert claim.check(whole).verdict == verdict
