"""Trends, similar savings, schedulers, hours, arithmetic, and what is not checked."""

from __future__ import annotations

import pytest
from scipy.stats import spearmanr

from automata.analysis.claims.by_mean import HoursClaim, SchedulerClaim, TrendClaim
from automata.analysis.claims.by_panel import SimilarClaim
from automata.analysis.claims.claim import FootprintClaim, UncheckedClaim
from automata.analysis.claims.finding import NOT_REPRODUCED, NOT_RUN, REPRODUCED

SETS = ["dna", "satimage", "trec6", "letter", "connect4", "svhn"]
ASHA = ("satimage", "tpe", "asha")


@pytest.fixture
def trend(grid, words, tables, run):
    """Check data sets of 100, 200, ... rows with these speedups."""

    def check(speedups, extra=(), more_than=0.5, **changes):
        rows = [
            run(fast, panel=(name, "tpe", "hyperband"), train_rows=100 * number)
            for number, (name, fast) in enumerate(zip(SETS, speedups, strict=False), start=1)
        ]
        where = grid(datasets=SETS, **changes)
        claim = TrendClaim(grid=where, more_than=more_than, **words)
        return claim.check(tables([*rows, *extra]))

    return check


@pytest.mark.parametrize(
    ("speedups", "verdict", "firm"),
    [
        ([1, 2, 3, 4, 5, 6], REPRODUCED, "interval"),
        ([6, 5, 4, 3, 2, 1], NOT_REPRODUCED, "interval"),
        ([2, 1, 3, 6, 4, 5], REPRODUCED, "within the interval"),
        ([4, 4, 4, 4, 4, 4], NOT_REPRODUCED, "interval"),
    ],
)
def test_larger_data_sets_have_larger_speedups(trend, speedups, verdict, firm):
    finding = trend(speedups)
    assert (finding.verdict, finding.firm) == (verdict, firm)


@pytest.mark.parametrize("speedups", [[3, 1, 2, 5, 4, 9], [1, 2, 2, 2, 7, 3]])
def test_the_correlation_is_scipys(trend, speedups):
    expected = spearmanr(range(6), speedups).statistic
    assert trend(speedups).ours.startswith(f"rank correlation {expected:.2f} (")


def test_a_correlation_at_the_bar_is_not_above_it(trend):
    # Spearman: 1 - 6 sum(d^2) / (n (n^2 - 1)), with sum(d^2) = 10 and n = 5.
    assert trend([2, 4, 1, 3, 5], more_than=0.5).verdict == NOT_REPRODUCED
    assert trend([2, 4, 1, 3, 5], more_than=0.49).verdict == REPRODUCED


def test_four_data_sets_have_no_trend(trend):
    finding = trend([1, 2, 3, 4])
    assert finding.verdict == NOT_RUN
    assert finding.ours == "4 of the 5 data sets that a correlation needs"


def test_five_data_sets_have_one_and_the_sixth_is_missing(trend):
    assert (trend([1, 2, 3, 4, 5]).verdict, trend([1, 2, 3, 4, 5]).firm) == (
        REPRODUCED,
        "panels missing",
    )


def test_only_what_all_data_sets_have_is_compared(trend, run):
    stranger = run(99.0, panel=("dna", "tpe", "asha"), train_rows=100)
    finding = trend([1, 2, 3, 4, 5, 6], [stranger], schedulers=["asha", "hyperband"])
    assert finding.ours.startswith("rank correlation 1.00")
    assert len(finding.panels) == 6


def test_data_sets_without_anything_in_common_do_not_compare(trend, run):
    rows = [run(panel=("svhn", "tpe", "asha"), train_rows=7)]
    assert trend([1, 2, 3, 4, 5], rows, schedulers=["asha", "hyperband"]).verdict == NOT_RUN


@pytest.fixture
def similar(grid, words, tables):
    def check(rows, **changes):
        where = grid(schedulers=["hyperband", "asha"])
        return SimilarClaim(grid=where, **changes, **words).check(tables(rows))

    return check


@pytest.fixture
def saving(run):
    """Make runs of both panels, of speedup 4 and these energy ratios over that, per seed."""

    def make(*shares, **changes):
        return [
            run(4.0, seed=seed, panel=panel, energy_ratio=4 * share, **changes)
            for panel in (ASHA, ("satimage", "tpe", "hyperband"))
            for seed, share in enumerate(shares)
        ]

    return make


@pytest.mark.parametrize(
    ("shares", "verdict", "firm"),
    [
        ([1.0, 1.1, 0.9], REPRODUCED, "interval"),
        ([0.8, 0.8, 0.8], REPRODUCED, "interval"),
        ([1.25, 1.25, 1.25], REPRODUCED, "interval"),
        ([0.79, 0.79, 0.79], NOT_REPRODUCED, "interval"),
        ([1.26, 1.26, 1.26], NOT_REPRODUCED, "interval"),
        ([0.5, 1.1, 1.1], REPRODUCED, "within the interval"),
        ([0.1, 1.1, 1.1], NOT_REPRODUCED, "within the interval"),
        ([1.0, 1.1], REPRODUCED, "too few seeds"),
    ],
)
def test_savings_are_similar_within_a_quarter(similar, saving, shares, verdict, firm):
    finding = similar(saving(*shares))
    assert (finding.verdict, finding.firm) == (verdict, firm)


def test_savings_are_seen_against_the_speedup(similar, run):
    assert similar([run(8.0, energy_ratio=8.0)]).verdict == REPRODUCED
    assert similar([run(8.0, energy_ratio=4.0)]).verdict == NOT_REPRODUCED


def test_fractions_are_averaged_within_a_seed(similar, run, grid, words, tables):
    rows = [run(4.0, energy_ratio=2.4), run(4.0, energy_ratio=5.6, fraction=0.3)]
    claim = SimilarClaim(grid=grid(fractions=[0.1, 0.3]), **words)
    finding = claim.check(tables(rows))
    assert finding.verdict == REPRODUCED
    assert "from 1.00 (satimage/tpe-hyperband)" in finding.ours


@pytest.mark.parametrize(
    ("method", "source", "verdict"),
    [
        ("estimated", "codecarbon CPU load", NOT_RUN),
        ("estimated", "pyJoules NVML, codecarbon", REPRODUCED),
        ("polled", "NVML power", REPRODUCED),
        ("measured", "pyJoules RAPL", REPRODUCED),
    ],
)
def test_energy_from_cpu_time_alone_says_nothing(similar, saving, method, source, verdict):
    rows = saving(1.0, 1.0, 1.0, energy_method=method, energy_source=source)
    assert similar(rows).verdict == verdict


def test_energy_from_cpu_time_is_named_as_the_reason(similar, saving):
    rows = saving(1.0, energy_method="estimated", energy_source="codecarbon CPU load")
    assert similar(rows).ours == "energy was estimated from CPU time in these panels"
    assert similar([]).ours == "no energy ratio in these panels"


@pytest.fixture
def scheduler(grid, words, tables):
    def check(rows):
        where = grid(schedulers=["hyperband", "asha"])
        claim = SchedulerClaim(grid=where, faster="asha", slower="hyperband", **words)
        return claim.check(tables(rows))

    return check


@pytest.fixture
def full(run):
    """Make FULL's runs of Hyperband and ASHA that take so many seconds, per seed."""

    def make(hyperband, asha, **changes):
        return [
            run(1.0, 0.0, selector="full", fraction=1.0, seed=seed, panel=panel,
                total_seconds=value, **changes)
            for panel, seconds in ((ASHA, asha), (("satimage", "tpe", "hyperband"), hyperband))
            for seed, value in enumerate(seconds)
        ]  # fmt: skip

    return make


@pytest.mark.parametrize(
    ("hyperband", "asha", "verdict", "firm"),
    [
        ([20, 22, 24], [10, 11, 12], REPRODUCED, "interval"),
        ([10, 11, 12], [20, 22, 24], NOT_REPRODUCED, "interval"),
        ([10, 10, 10], [10, 10, 10], NOT_REPRODUCED, "interval"),
        ([9, 9, 20], [10, 10, 10], REPRODUCED, "within the interval"),
        ([20], [10], REPRODUCED, "too few seeds"),
    ],
)
def test_one_scheduler_is_faster(scheduler, full, hyperband, asha, verdict, firm):
    finding = scheduler(full(hyperband, asha))
    assert (finding.verdict, finding.firm) == (verdict, firm)
    assert len(finding.panels) == 2


def test_schedulers_in_words(scheduler, full):
    ours = "FULL takes 2x (2x to 2x) as long under hyperband as under asha"
    assert scheduler(full([20, 20, 20], [10, 10, 10])).ours == ours


def test_the_times_are_those_of_full(scheduler, full, run):
    rows = full([20, 20, 20], [10, 10, 10])
    rows += [run(seed=seed, panel=ASHA, total_seconds=500.0) for seed in range(3)]
    assert scheduler(rows).ours.startswith("FULL takes 2x (2x to 2x)")


def test_times_of_two_hosts_do_not_compare(scheduler, full):
    rows = full([20], [10])
    rows[0]["machine"] = "there"
    assert scheduler(rows).verdict == NOT_RUN


@pytest.mark.parametrize(
    ("covers", "verdict"),
    [(["decisions", "numbers", "times"], REPRODUCED), (["decisions", "numbers"], NOT_RUN)],
)
def test_times_of_code_declared_equal_compare(scheduler, full, declare, covers, verdict):
    rows = full([20], [10])
    declare("new", rows[0]["training_code"], *covers)
    rows[0]["training_code"] = "new"
    assert scheduler(rows).verdict == verdict


@pytest.mark.parametrize(
    "changes", [{"epochs": 200.0}, {"configurations": 9}, {"model": "cnn"}, {"train_rows": 500}]
)
def test_times_of_different_work_do_not_compare(scheduler, full, changes):
    rows = full([20], [10])
    rows[0].update(changes)
    assert scheduler(rows).verdict == NOT_RUN


@pytest.fixture
def hours(words, tables):
    """Check that 300 epochs of a resnet on satimage take 6 h, within a quarter, on a V100."""

    def check(rows):
        claim = HoursClaim(
            dataset="satimage", model="resnet", epochs=300, device="V100", hours=6.0, around=0.25,
            **words,
        )  # fmt: skip
        return claim.check(tables(rows))

    return check


@pytest.fixture
def training(run):
    def make(*hours, **changes):
        told = {"model": "resnet18", "device": "Tesla V100-SXM2-16GB", **changes}
        return [
            run(seed=seed, final_seconds=3600.0 * value, **told) for seed, value in enumerate(hours)
        ]

    return make


@pytest.mark.parametrize(
    ("values", "verdict", "firm"),
    [
        ([4.5, 4.5, 4.5], REPRODUCED, "interval"),
        ([7.5, 7.5, 7.5], REPRODUCED, "interval"),
        ([4.4, 4.4, 4.4], NOT_REPRODUCED, "interval"),
        ([7.6, 7.6, 7.6], NOT_REPRODUCED, "interval"),
        ([3.0, 6.0, 9.0], REPRODUCED, "within the interval"),
        ([6.0], REPRODUCED, "too few seeds"),
    ],
)
def test_hours_of_a_training(hours, training, values, verdict, firm):
    finding = hours(training(*values))
    assert (finding.verdict, finding.firm) == (verdict, firm)


@pytest.mark.parametrize(
    "changes",
    [
        {"device": "NVIDIA H200"},
        {"model": "mlp"},
        {"final_epochs": 30},
        {"final_failure": "diverged"},
        {"panel": ("dna", "tpe", "asha")},
    ],
)
def test_another_training_says_nothing(hours, training, changes):
    assert hours(training(6.0, **changes)).verdict == NOT_RUN


def test_arithmetic_needs_no_runs(words, tables):
    finding = FootprintClaim(arithmetic="1 + 1", gives="2", **words).check(tables([]))
    assert (finding.verdict, finding.ours, finding.firm) == (REPRODUCED, "2", "no runs needed")


def test_what_is_not_checked_is_not_run_and_says_what_it_needs(words, tables):
    finding = UncheckedClaim(needs="two models", **words).check(tables([]))
    assert (finding.verdict, finding.ours) == (NOT_RUN, "needs two models")
