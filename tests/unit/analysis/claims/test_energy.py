"""Energies that are evidence: in every kind of claim, and in rows of several seeds."""

from __future__ import annotations

import pytest

from .conftest import NOT_RUN, claim, run, runs

ESTIMATED = {"energy_method": "estimated", "energy_source": "codecarbon CPU load"}
IN_PART = {"energy_method": "estimated", "energy_source": "codecarbon CPU load + pyJoules NVML"}
POLLED = {"energy_method": "polled", "energy_source": "NVML power"}
KINDS = {
    "point": {"low": 1.0, "loss": 9.0},
    "range": {"low": 1.0},
    "order": {"selectors": ["gradmatch", "random"]},
    "best-tradeoff": {},
    "paired": {"against": "random", "more_than": 0.0},
    "similar": {},
}
ENERGY = ("energy_ratio", "co2_measured_ratio")
TIME = ("speedup", "co2_time_ratio")
SIZES = {"fractions": [0.1, 0.3]}


@pytest.fixture
def verdict(check):
    """Check a claim of some kind against runs whose energy was obtained in one way."""

    def make(kind, quantity, way):
        rows = [
            row
            for selector, best in (("gradmatch", 6.0), ("random", 4.0), ("craig", 3.0))
            for fraction, fast in ((0.1, best), (0.3, best / 2))
            for row in runs([fast] * 3, fraction=fraction, selector=selector, **way)
        ]
        return check(kind, rows, quantity=quantity, **KINDS[kind], **SIZES)

    return make


@pytest.mark.parametrize("quantity", ENERGY)
@pytest.mark.parametrize("kind", KINDS)
def test_energy_estimated_from_cpu_time_is_no_evidence(verdict, kind, quantity):
    finding = verdict(kind, quantity, ESTIMATED)
    assert (finding.verdict, finding.panels, finding.of) == (NOT_RUN, (), 1)
    assert finding.ours == "energy was estimated from CPU time in these panels"


@pytest.mark.parametrize(
    ("kind", "quantity", "way"),
    [
        *(
            (kind, quantity, way)
            for kind in KINDS
            for quantity in ENERGY
            for way in (IN_PART, POLLED)
        ),
        *((kind, quantity, ESTIMATED) for kind in KINDS if kind != "similar" for quantity in TIME),
    ],
)
def test_energy_that_counters_gave_in_part_and_time_are_evidence(verdict, kind, quantity, way):
    assert verdict(kind, quantity, way).verdict != NOT_RUN


@pytest.mark.parametrize("kind", KINDS)
def test_rules_say_that_estimates_do_not_count(kind):
    rule = claim(kind, quantity="energy_ratio", **KINDS[kind]).rule
    assert rule.endswith("(energy estimated from CPU time alone does not count: it follows time)")


@pytest.mark.parametrize(
    ("rows", "ours"),
    [
        (
            [
                run(4.0, seed=0, energy_ratio=2.0),
                run(4.0, seed=1, energy_ratio=4.0),
                run(4.0, seed=2, energy_ratio=90.0, **ESTIMATED),
            ],
            "3x (2 to 4) at +1 pp (+1 to +1), fraction 10 %",
        ),
        (
            [*runs([2.0, 3.0]), run(9.0, fraction=0.3, **ESTIMATED)],
            "2.5x (2 to 3) at +1 pp (+1 to +1), fraction 10 %",
        ),
    ],
)
def test_a_row_is_of_the_seeds_whose_energy_was_measured(check, rows, ours):
    finding = check("point", rows, quantity="energy_ratio", low=1.0, loss=9.0, **SIZES)
    assert finding.ours == ours
