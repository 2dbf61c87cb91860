"""Energies that are evidence: in every kind of claim, and in rows of several seeds."""

from __future__ import annotations

import pytest

from automata.analysis.claims.best import BestTradeoffClaim
from automata.analysis.claims.cells import tradeoff_of
from automata.analysis.claims.finding import NOT_RUN
from automata.analysis.claims.order import OrderClaim
from automata.analysis.claims.paired import PairedClaim
from automata.analysis.claims.reach import PointClaim, RangeClaim
from automata.analysis.claims.similar import SimilarClaim

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


def test_a_row_of_both_sorts_is_of_the_seeds_that_were_measured(run, tables):
    rows = [
        run(4.0, seed=0, energy_ratio=2.0),
        run(4.0, seed=1, energy_ratio=4.0),
        run(4.0, seed=2, energy_ratio=90.0, **ESTIMATED),
    ]
    (row,) = tradeoff_of(tables(rows), "energy_ratio").to_dict("records")
    assert row["energy_ratio"] == pytest.approx(3.0)
    assert (row["energy_ratio_low"], row["energy_ratio_high"]) == (2.0, 4.0)
    assert (row["energy_seeds"], row["seeds"]) == (2, 3)


def test_rows_of_one_sort_stay_as_they_are_beside_others(run, runs, tables):
    rows = [*runs([2.0, 3.0]), run(9.0, fraction=0.3, **ESTIMATED)]
    kept = tradeoff_of(tables(rows), "energy_ratio")
    assert kept["fraction"].to_list() == [0.1]
    assert kept["energy_ratio"].to_list() == [2.5]
