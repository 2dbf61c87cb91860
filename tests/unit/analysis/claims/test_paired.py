"""Pairs of runs: which are paired, the mean, and its interval."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from automata.analysis.claims.by_mean import PairedClaim
from automata.analysis.claims.finding import NOT_REPRODUCED, NOT_RUN, REPRODUCED

DNA = ("dna", "tpe", "hyperband")
LETTER = ("letter", "tpe", "hyperband")


@pytest.fixture
def paired(grid, words, tables):
    """Check that AUTOMATA's test accuracy is above RANDOM's."""

    def check(rows, **changes):
        said = {"against": "random", "quantity": "test_accuracy", "more_than": 0.0}
        where = grid(**changes.pop("grid", {}))
        return PairedClaim(grid=where, **{**said, **changes}, **words).check(tables(rows))

    return check


@pytest.fixture
def duel(runs):
    """Make runs of AUTOMATA and RANDOM with these errors per seed."""

    def make(own, other, **changes):
        ones = [4.0] * len(own)
        return [
            *runs(ones, list(own), **changes),
            *runs(ones, list(other), selector="random", **changes),
        ]

    return make


@pytest.mark.parametrize(
    ("own", "other", "verdict", "firm"),
    [
        ([1.0, 1.1, 1.2], [2.0, 2.2, 2.1], REPRODUCED, "interval"),
        ([2.0, 2.2, 2.1], [1.0, 1.1, 1.2], NOT_REPRODUCED, "interval"),
        ([1.0, 3.0, 1.0], [2.0, 2.0, 2.5], REPRODUCED, "within the interval"),
        ([2.0, 1.0, 3.0], [1.0, 2.0, 2.0], NOT_REPRODUCED, "within the interval"),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], NOT_REPRODUCED, "interval"),
        ([1.0, 1.0], [2.0, 2.0], REPRODUCED, "too few seeds"),
    ],
)
def test_the_mean_difference_decides(paired, duel, own, other, verdict, firm):
    finding = paired(duel(own, other))
    assert (finding.verdict, finding.firm) == (verdict, firm)


def test_runs_are_paired_by_seed_and_fraction(paired, duel, run):
    rows = duel([1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    rows += [run(4.0, -90.0, seed=9), run(4.0, 90.0, fraction=0.3, selector="random")]
    finding = paired(rows, grid={"fractions": [0.1, 0.3]})
    assert finding.ours == "+1 pp (+1 to +1) over 3 pairs, fractions 10 %"
    assert finding.firm == "fractions missing"


def test_fractions_that_the_claim_is_not_about_do_not_count(paired, duel):
    rows = [*duel([1.0] * 3, [2.0] * 3), *duel([9.0] * 3, [2.0] * 3, fraction=0.3)]
    assert paired(rows).verdict == REPRODUCED


def test_full_is_paired_with_every_fraction(paired, run):
    rows = [
        run(1.0, 0.0, selector="full", fraction=1.0, seed=seed, best_validation_accuracy=0.9)
        for seed in range(3)
    ]
    rows += [
        run(seed=seed, fraction=fraction, best_validation_accuracy=score)
        for seed in range(3)
        for fraction, score in ((0.1, 0.88), (0.3, 0.89))
    ]
    said = {"against": "full", "quantity": "best_validation_accuracy"}
    where = {"fractions": [0.1, 0.3]}
    finding = paired(rows, **said, grid=where, more_than=-2.0)
    assert finding.ours == "-1.5 pp (-1.5 to -1.5) over 6 pairs, fractions 10 %, 30 %"
    assert (finding.verdict, finding.firm) == (REPRODUCED, "interval")
    below = paired(rows, **said, grid=where, more_than=None, less_than=-2.0)
    assert (below.verdict, below.firm) == (NOT_REPRODUCED, "interval")


def test_ratios_are_not_in_percentage_points(paired, duel):
    rows = [{**row, "energy_ratio": 2.0 + (row["selector"] != "random")} for row in duel([1], [1])]
    assert paired(rows, quantity="energy_ratio").ours == "+1 over 1 pair, fractions 10 %"


@pytest.mark.parametrize("seeds", [1, 3])
def test_whole_data_sets_are_drawn_where_there_are_three(paired, duel, seeds):
    rows = [*duel([1.0] * 3, [3.0] * 3), *duel([2.0] * 3, [1.0] * 3, panel=DNA)]
    rows += duel([1.0] * seeds, [1.5] * seeds, panel=LETTER)
    finding = paired(rows, grid={"datasets": ["satimage", "dna", "letter"]})
    assert finding.ours.partition(" over ")[0].endswith("pp (-1 to +2)")
    assert (finding.verdict, finding.firm) == (REPRODUCED, "within the interval")


def test_seeds_are_drawn_where_there_are_two_data_sets(paired, duel):
    rows = [*duel([1.0, 1.0, 1.0], [3.0, 4.0, 5.0]), *duel([2.0] * 3, [1.0] * 3, panel=DNA)]
    finding = paired(rows, grid={"datasets": ["satimage", "dna"]})
    assert finding.ours == "+1 pp (+0.5 to +1.5) over 6 pairs, fractions 10 %"
    assert (finding.verdict, finding.firm) == (REPRODUCED, "interval")


def test_two_data_sets_and_too_few_seeds_of_one_have_no_interval(paired, duel):
    rows = [*duel([1.0] * 3, [3.0] * 3), *duel([2.0] * 2, [1.0] * 2, panel=DNA)]
    finding = paired(rows, grid={"datasets": ["satimage", "dna"]})
    assert finding.ours == "+0.8 pp over 5 pairs, fractions 10 %"
    assert finding.firm == "too few seeds"


def test_panels_that_were_not_run_make_it_less_firm(paired, duel):
    finding = paired(duel([1.0] * 3, [2.0] * 3), grid={"datasets": ["satimage", "dna"]})
    assert (finding.firm, len(finding.panels), finding.of) == ("panels missing", 1, 2)


def test_refused_runs_do_not_count(paired, duel):
    rows = [{**row, "refused": "diverged"} for row in duel([1.0] * 3, [2.0] * 3)]
    assert paired(rows).verdict == NOT_RUN


def test_without_pairs_it_is_not_run(paired, runs):
    assert paired(runs([4.0])).verdict == NOT_RUN


def test_records_are_of_both(paired, duel):
    names = [record.split("/")[3] for record in paired(duel([1.0], [2.0])).records]
    assert names == ["gradmatch-0.1", "random-0.1"]


@pytest.mark.parametrize("bars", [{}, {"more_than": 0.0, "less_than": 1.0}])
def test_exactly_one_bar_is_needed(grid, words, bars):
    with pytest.raises(ValidationError, match="needs either more_than or less_than"):
        PairedClaim(grid=grid(), against="random", quantity="test_accuracy", **bars, **words)


def test_the_rule_has_the_numbers(grid, words):
    said = {"against": "full", "quantity": "best_validation_accuracy", "less_than": -2.0}
    assert PairedClaim(grid=grid(fractions=[0.01, 0.05]), **said, **words).rule == (
        "on average over pairs of runs, AUTOMATA's validation accuracy of the best trial less "
        "that of FULL is below -2 percentage points (subsets of 1 %, 5 %)"
    )
