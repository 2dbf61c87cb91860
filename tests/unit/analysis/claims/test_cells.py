"""Energies that are evidence: in every kind of claim, and in rows of several seeds."""

from __future__ import annotations

import pytest

from automata.analysis.claims.best import BestTradeoffClaim
from automata.analysis.claims.by_mean import PairedClaim
from automata.analysis.claims.by_panel import OrderClaim, PointClaim, RangeClaim, SimilarClaim
from automata.analysis.claims.finding import NOT_RUN

ESTIMATED = {"energy_method": "estimated", "energy_source": "codecarbon CPU load"}
IN_PART = {"energy_method": "estimated", "energy_source": "codecarbon CPU load + pyJoules NVML"}
CLAIMS = {
    "point": (PointClaim, {"low": 1.0, "loss": 9.0}),
    "range": (RangeClaim, {"low": 1.0}),
    "order": (OrderClaim, {"selectors": ["gradmatch", "random"]}),
    "best": (BestTradeoffClaim, {}),
    "paired": (PairedClaim, {"against": "random", "more_than": 0.0}),
    "similar": (SimilarClaim, {}),
}
ENERGY = ("energy_ratio", "co2_measured_ratio")


@pytest.fixture
def check(runs, grid, words, tables):
    """Check a claim of some kind against runs whose energy was obtained in one way."""

    def make(kind, quantity, **way):
        rows = [
            row
            for selector, best in (("gradmatch", 6.0), ("random", 4.0), ("craig", 3.0))
            for fraction, fast in ((0.1, best), (0.3, best / 2))
            for row in runs([fast] * 3, fraction=fraction, selector=selector, **way)
        ]
        claim, said = CLAIMS[kind]
        where = grid(fractions=[0.1, 0.3])
        return claim(grid=where, quantity=quantity, **said, **words).check(tables(rows))

    return make


@pytest.mark.parametrize("quantity", ENERGY)
@pytest.mark.parametrize("kind", CLAIMS)
def test_energy_estimated_from_cpu_time_is_no_evidence(check, kind, quantity):
    finding = check(kind, quantity, **ESTIMATED)
    assert (finding.verdict, finding.panels, finding.of) == (NOT_RUN, (), 1)
    assert finding.ours == "energy was estimated from CPU time in these panels"


@pytest.mark.parametrize("quantity", ENERGY)
@pytest.mark.parametrize("kind", CLAIMS)
def test_energy_that_counters_gave_in_part_is_evidence(check, kind, quantity):
    assert check(kind, quantity, **IN_PART).verdict != NOT_RUN


@pytest.mark.parametrize("quantity", ["speedup", "co2_time_ratio"])
@pytest.mark.parametrize("kind", [kind for kind in CLAIMS if kind != "similar"])
def test_time_is_evidence_however_energy_was_obtained(check, kind, quantity):
    assert check(kind, quantity, **ESTIMATED).verdict != NOT_RUN


@pytest.mark.parametrize("kind", CLAIMS)
def test_rules_say_that_estimates_do_not_count(kind, grid, words):
    claim, said = CLAIMS[kind]
    rules = claim(grid=grid(), quantity="energy_ratio", **said, **words).rule
    assert rules.endswith("(energy estimated from CPU time alone does not count: it follows time)")


@pytest.fixture
def means(grid, words, tables):
    """The means of energies that a claim looks at."""

    def make(rows):
        where = grid(fractions=[0.1, 0.3])
        claim = RangeClaim(grid=where, low=1.0, quantity="energy_ratio", **words)
        return claim._means(tables(rows))

    return make


def test_a_row_of_both_sorts_is_of_the_seeds_that_were_measured(run, means):
    rows = [
        run(4.0, seed=0, energy_ratio=2.0),
        run(4.0, seed=1, energy_ratio=4.0),
        run(4.0, seed=2, energy_ratio=90.0, **ESTIMATED),
    ]
    (row,) = means(rows).to_dict("records")
    assert row["energy_ratio"] == pytest.approx(3.0)
    assert (row["energy_ratio_low"], row["energy_ratio_high"]) == (2.0, 4.0)
    assert (row["energy_seeds"], row["seeds"]) == (2, 3)


def test_rows_of_one_sort_stay_as_they_are_beside_others(run, runs, means):
    rows = [*runs([2.0, 3.0]), run(9.0, fraction=0.3, **ESTIMATED)]
    kept = means(rows)
    assert kept["fraction"].to_list() == [0.1]
    assert kept["energy_ratio"].to_list() == [2.5]
