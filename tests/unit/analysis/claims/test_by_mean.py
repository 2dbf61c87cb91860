"""Pairs of runs, schedulers, trends and hours: what is averaged, the bar, and how firmly."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import spearmanr

from automata.analysis.statistics import clustered_bounds

from .conftest import ASHA, BOTH, FEW, FIRM, HYPERBAND, NO, NOT_RUN, OPEN, YES, claim, run, runs

DNA, LETTER = ("dna", "tpe", "hyperband"), ("letter", "tpe", "hyperband")
PAIRED = {"against": "random", "quantity": "test_accuracy", "more_than": 0.0}
AGAINST_FULL = {"against": "full", "quantity": "best_validation_accuracy"}
TWO = {"datasets": ["satimage", "dna"]}
SIZES = {"fractions": [0.1, 0.3]}


def duel(own, other, **changes):
    """Make runs of AUTOMATA and RANDOM with these errors per seed."""
    rows = runs([4.0] * len(own), own, **changes)
    return rows + runs([4.0] * len(other), other, selector="random", **changes)


@pytest.mark.parametrize(
    ("own", "other", "verdict", "firm"),
    [
        ([1.0, 1.1, 1.2], [2.0, 2.2, 2.1], YES, FIRM),
        ([2.0, 2.2, 2.1], [1.0, 1.1, 1.2], NO, FIRM),
        ([1.0, 3.0, 1.0], [2.0, 2.0, 2.5], YES, OPEN),
        ([2.0, 1.0, 3.0], [1.0, 2.0, 2.0], NO, OPEN),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], NO, FIRM),
        ([1.0, 1.0], [2.0, 2.0], YES, FEW),
    ],
)
def test_the_mean_difference_decides(check, own, other, verdict, firm):
    finding = check("paired", duel(own, other), **PAIRED)
    assert (finding.verdict, finding.firm) == (verdict, firm)


VALIDATION = [
    *(
        run(1.0, 0.0, selector="full", fraction=1.0, seed=seed, best_validation_accuracy=0.9)
        for seed in range(3)
    ),
    *(
        run(seed=seed, fraction=fraction, best_validation_accuracy=score)
        for seed in range(3)
        for fraction, score in ((0.1, 0.88), (0.3, 0.89))
    ),
]
"""1 and 2 points below FULL's."""


@pytest.mark.parametrize(
    ("rows", "said", "ours", "firm"),
    [
        (  # by seed and fraction
            [
                *duel([1.0] * 3, [2.0] * 3),
                run(4.0, -90.0, seed=9),
                run(4.0, 90.0, fraction=0.3, selector="random"),
            ],
            SIZES,
            "+1 pp (+1 to +1) over 3 pairs, fractions 10 %",
            "fractions missing",
        ),
        (  # what is open stays so, whatever is missing
            duel([1.0, 3.0, 1.0], [2.0, 2.0, 2.5]),
            SIZES,
            "+0.5 pp (-1 to +1.5) over 3 pairs, fractions 10 %",
            OPEN,
        ),
        (  # of the fractions that the claim is about
            [*duel([1.0] * 3, [2.0] * 3), *duel([9.0] * 3, [2.0] * 3, fraction=0.3)],
            {},
            "+1 pp (+1 to +1) over 3 pairs, fractions 10 %",
            FIRM,
        ),
        (  # FULL with every fraction
            VALIDATION,
            {**AGAINST_FULL, "more_than": -2.0, **SIZES},
            "-1.5 pp (-1.5 to -1.5) over 6 pairs, fractions 10 %, 30 %",
            FIRM,
        ),
        (
            [run(energy_ratio=3.0), run(energy_ratio=2.0, selector="random")],
            {"quantity": "energy_ratio"},
            "+1 over 1 pair, fractions 10 %",
            FEW,
        ),
        (  # seeds are drawn where there are two data sets
            [*duel([1.0, 1.0, 1.0], [3.0, 4.0, 5.0]), *duel([2.0] * 3, [1.0] * 3, panel=DNA)],
            TWO,
            "+1 pp (+0.5 to +1.5) over 6 pairs, fractions 10 %",
            FIRM,
        ),
        (  # too few of one of them
            [*duel([1.0] * 3, [3.0] * 3), *duel([2.0] * 2, [1.0] * 2, panel=DNA)],
            TWO,
            "+0.8 pp over 5 pairs, fractions 10 %",
            FEW,
        ),
        (
            duel([1.0] * 3, [2.0] * 3),
            TWO,
            "+1 pp (+1 to +1) over 3 pairs, fractions 10 %",
            "panels missing",
        ),
        (runs([4.0]), {}, "no pair of AUTOMATA and random in these panels", ""),
        (
            [{**row, "refused": "diverged"} for row in duel([1.0] * 3, [2.0] * 3)],
            {},
            "no pair of AUTOMATA and random in these panels",
            "",
        ),
    ],
)
def test_what_is_paired(check, rows, said, ours, firm):
    finding = check("paired", rows, **{**PAIRED, **said})
    assert (finding.ours, finding.firm) == (ours, firm)


@pytest.mark.parametrize(
    ("values", "clusters", "expected"),
    [
        ([1.0, 1.0, 1.0, 5.0], "aaab", (1.0, 5.0)),
        ([0.0, 0.0, 3.0], "aab", (0.0, 3.0)),
        ([0.0, 0.0, 3.0], "aaa", (1.0, 1.0)),
    ],
)
def test_a_cluster_is_drawn_with_all_of_its_values(values, clusters, expected):
    assert clustered_bounds(np.array(values), clusters) == expected


def test_values_in_clusters_of_their_own_are_drawn_singly():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    # All 4**4 resamples, each as likely.
    draws = np.array(np.meshgrid(*[values] * 4)).reshape(4, -1).mean(axis=0)
    expected = np.percentile(draws, [2.5, 97.5])
    assert clustered_bounds(values, "abcd") == pytest.approx(tuple(expected), abs=0.13)


@pytest.mark.parametrize("seeds", [1, 3])
def test_whole_data_sets_are_drawn_where_there_are_three(check, seeds):
    rows = [*duel([1.0] * 3, [3.0] * 3), *duel([2.0] * 3, [1.0] * 3, panel=DNA)]
    rows += duel([1.0] * seeds, [1.5] * seeds, panel=LETTER)
    finding = check("paired", rows, **PAIRED, datasets=["satimage", "dna", "letter"])
    assert finding.ours.partition(" over ")[0].endswith("pp (-1 to +2)")
    assert (finding.verdict, finding.firm) == (YES, OPEN)


@pytest.mark.parametrize(("bar", "verdict"), [("more_than", YES), ("less_than", NO)])
def test_the_bar_may_be_on_either_side(check, bar, verdict):
    finding = check("paired", VALIDATION, **AGAINST_FULL, **{bar: -2.0}, **SIZES)
    assert (finding.verdict, finding.firm) == (verdict, FIRM)


def test_records_are_of_both_and_panels_of_those_that_were_run(check):
    finding = check("paired", duel([1.0], [2.0]), **PAIRED, **TWO)
    names = [record.split("/")[3] for record in finding.records]
    assert names == ["gradmatch-0.1", "random-0.1"]
    assert (finding.panels, finding.of) == ((HYPERBAND,), 2)


@pytest.mark.parametrize("bars", [{}, {"more_than": 0.0, "less_than": 1.0}])
def test_exactly_one_bar_is_needed(bars):
    with pytest.raises(ValidationError, match="needs either more_than or less_than"):
        claim("paired", **AGAINST_FULL, **bars)


def test_the_rule_of_a_pair_has_the_numbers():
    assert claim("paired", **AGAINST_FULL, less_than=-2.0, fractions=[0.01, 0.05]).rule == (
        "on average over pairs of runs, AUTOMATA's validation accuracy of the best trial less "
        "that of FULL is below -2 percentage points (subsets of 1 %, 5 %)"
    )


SCHEDULER = {"faster": "asha", "slower": "hyperband", **BOTH}


def full(hyperband, asha, **changes):
    """Make FULL's runs of Hyperband and ASHA that take so many seconds, per seed."""
    return [
        run(1.0, 0.0, selector="full", fraction=1.0, seed=seed, panel=panel, total_seconds=value)
        | changes
        for panel, seconds in ((ASHA, asha), (HYPERBAND, hyperband))
        for seed, value in enumerate(seconds)
    ]


@pytest.mark.parametrize(
    ("hyperband", "asha", "verdict", "firm"),
    [
        ([20, 22, 24], [10, 11, 12], YES, FIRM),
        ([10, 11, 12], [20, 22, 24], NO, FIRM),
        ([10, 10, 10], [10, 10, 10], NO, FIRM),
        ([9, 9, 20], [10, 10, 10], YES, OPEN),
        ([20], [10], YES, FEW),
    ],
)
def test_one_scheduler_is_faster(check, hyperband, asha, verdict, firm):
    finding = check("scheduler", full(hyperband, asha), **SCHEDULER)
    assert (finding.verdict, finding.firm) == (verdict, firm)
    assert len(finding.panels) == 2
    assert len(finding.records) == 2 * len(asha)


def test_the_times_of_schedulers_are_those_of_full(check):
    rows = full([20, 20, 20], [10, 10, 10])
    rows += [run(seed=seed, panel=ASHA, total_seconds=500.0) for seed in range(3)]
    ours = "FULL takes 2x (2x to 2x) as long under hyperband as under asha"
    assert check("scheduler", rows, **SCHEDULER).ours == ours


@pytest.mark.parametrize(
    "changes",
    [
        {"machine": "there"},
        {"training_version": 2},
        {"set_aside": "no longer asked for"},
        {"epochs": 200.0},
        {"configurations": 9},
        {"model": "cnn"},
        {"train_rows": 500},
    ],
)
def test_times_of_other_hosts_and_other_work_do_not_compare(check, changes):
    rows = full([20], [10])
    rows[0].update(changes)
    assert check("scheduler", rows, **SCHEDULER).verdict == NOT_RUN


SETS = ["dna", "satimage", "trec6", "letter", "connect4", "svhn"]


def growing(speedups):
    """Make runs of data sets of 100, 200, ... rows with these speedups."""
    return [
        run(fast, panel=(name, "tpe", "hyperband"), train_rows=100 * number)
        for number, (name, fast) in enumerate(zip(SETS, speedups, strict=False), start=1)
    ]


@pytest.mark.parametrize(
    ("speedups", "bar", "verdict", "firm"),
    [
        ([1, 2, 3, 4, 5, 6], 0.5, YES, FIRM),
        ([6, 5, 4, 3, 2, 1], 0.5, NO, FIRM),
        ([2, 1, 3, 6, 4, 5], 0.5, YES, OPEN),
        ([4, 4, 4, 4, 4, 4], 0.5, NO, FIRM),
        ([1, 2, 3, 4, 5], 0.5, YES, "panels missing"),
        # Spearman: 1 - 6 sum(d^2) / (n (n^2 - 1)), with sum(d^2) = 10 and n = 5.
        ([2, 4, 1, 3, 5], 0.5, NO, OPEN),
        ([2, 4, 1, 3, 5], 0.49, YES, OPEN),
    ],
)
def test_larger_data_sets_have_larger_speedups(check, speedups, bar, verdict, firm):
    finding = check("trend", growing(speedups), more_than=bar, datasets=SETS)
    assert (finding.verdict, finding.firm) == (verdict, firm)


@pytest.mark.parametrize("speedups", [[3, 1, 2, 5, 4, 9], [1, 2, 2, 2, 7, 3]])
def test_the_correlation_is_scipys(check, speedups):
    finding = check("trend", growing(speedups), more_than=0.5, datasets=SETS)
    expected = spearmanr(range(6), speedups).statistic
    assert finding.ours.startswith(f"rank correlation {expected:.2f} (")


@pytest.mark.parametrize(
    ("rows", "ours"),
    [
        (growing([1, 2, 3, 4]), "4 of the 5 data sets that a correlation needs"),
        (
            [*growing([1, 2, 3, 4, 5]), run(panel=("svhn", "tpe", "asha"), train_rows=7)],
            "no search, scheduler and fraction that all data sets have",
        ),
    ],
)
def test_data_sets_must_be_enough_and_have_something_in_common(check, rows, ours):
    finding = check("trend", rows, more_than=0.5, datasets=SETS, **BOTH)
    assert (finding.verdict, finding.ours) == (NOT_RUN, ours)


def test_only_what_all_data_sets_have_is_compared(check):
    rows = [*growing([1, 2, 3, 4, 5, 6]), run(99.0, panel=("dna", "tpe", "asha"), train_rows=100)]
    finding = check("trend", rows, more_than=0.5, datasets=SETS, **BOTH)
    assert finding.ours.startswith("rank correlation 1.00")
    assert len(finding.panels) == 6


HOURS = {"dataset": "satimage", "model": "resnet", "epochs": 300, "device": "V100", "hours": 6.0}


def training(*hours, **changes):
    told = {"model": "resnet18", "device": "Tesla V100-SXM2-16GB", **changes}
    return [
        run(seed=seed, final_seconds=3600.0 * value, **told) for seed, value in enumerate(hours)
    ]


@pytest.mark.parametrize(
    ("values", "verdict", "firm"),
    [
        ([4.5, 4.5, 4.5], YES, FIRM),
        ([7.5, 7.5, 7.5], YES, FIRM),
        ([4.4, 4.4, 4.4], NO, FIRM),
        ([7.6, 7.6, 7.6], NO, FIRM),
        ([3.0, 6.0, 9.0], YES, OPEN),
        ([6.0], YES, FEW),
    ],
)
def test_hours_of_a_training(check, values, verdict, firm):
    finding = check("hours", training(*values), **HOURS, around=0.25)
    assert (finding.verdict, finding.firm, finding.of) == (verdict, firm, 0)


def test_hours_in_words(check):
    finding = check("hours", training(5.0, 7.0), **HOURS, around=0.25)
    assert finding.ours == "6 h (5 to 7) for resnet18, 2 trainings"


@pytest.mark.parametrize(
    "changes",
    [
        {"device": "NVIDIA H200"},
        {"model": "mlp"},
        {"final_epochs": 30},
        {"final_failure": "diverged"},
        {"set_aside": "no longer asked for"},
        {"panel": ("dna", "tpe", "asha")},
    ],
)
def test_another_training_says_nothing(check, changes):
    finding = check("hours", training(6.0, **changes), **HOURS, around=0.25)
    wanted = "satimage with resnet* for 300 epochs on a V100"
    assert (finding.verdict, finding.ours) == (NOT_RUN, f"no training of {wanted}")


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        ("footprint", {"arithmetic": "1 + 1", "gives": "2"}, (YES, "2", "no runs needed")),
        ("unchecked", {"needs": "two models"}, (NOT_RUN, "needs two models", "")),
    ],
)
def test_some_claims_look_at_no_run(check, kind, said, expected):
    finding = check(kind, [], **said)
    assert (finding.verdict, finding.ours, finding.firm) == expected
