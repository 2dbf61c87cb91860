"""Points and ranges: met, missed, at the bar, and how firmly."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from automata.analysis.claims.by_panel import PointClaim, RangeClaim
from automata.analysis.claims.finding import NOT_REPRODUCED, NOT_RUN, REPRODUCED

THREE = [3.9, 4.0, 4.1]
ASHA = ("satimage", "tpe", "asha")


@pytest.fixture
def point(grid, words, tables):
    """Check a point of 4x at a loss of 1 (one panel, one fraction) against runs."""

    def check(rows, fractions=(0.1,), **changes):
        said = {"low": 4.0, "loss": 1.0, **changes}
        claim = PointClaim(grid=grid(fractions=list(fractions)), **said, **words)
        return claim.check(tables(rows))

    return check


@pytest.mark.parametrize(
    ("speedup", "error", "verdict"),
    [
        (4.0, 1.0, REPRODUCED),
        (9.0, -3.0, REPRODUCED),
        (3.99, 1.0, NOT_REPRODUCED),
        (4.0, 1.01, NOT_REPRODUCED),
        (9.0, 1.01, NOT_REPRODUCED),
        (3.99, -3.0, NOT_REPRODUCED),
    ],
)
def test_a_point_needs_the_speedup_and_the_error_at_once(point, run, speedup, error, verdict):
    assert point([run(speedup, error)]).verdict == verdict


def test_one_fraction_must_meet_both(point, run):
    rows = [run(9.0, 3.0, fraction=0.05), run(2.0, 0.0, fraction=0.1)]
    assert point(rows, (0.05, 0.1)).verdict == NOT_REPRODUCED
    rows.append(run(4.5, 0.5, fraction=0.3))
    assert point(rows, (0.05, 0.1, 0.3)).verdict == REPRODUCED


def test_a_fraction_that_the_claim_is_not_about_does_not_count(point, run):
    rows = [run(2.0, 0.0), run(9.0, 0.0, fraction=0.7)]
    assert point(rows).verdict == NOT_REPRODUCED


def test_another_selector_does_not_count(point, run):
    assert point([run(2.0, 0.0), run(9.0, 0.0, selector="rs2")]).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(("error", "verdict"), [(-0.9, REPRODUCED), (-0.8, NOT_REPRODUCED)])
def test_a_gain_is_a_negative_loss(point, run, error, verdict):
    assert point([run(9.0, error)], loss=-0.9).verdict == verdict


def test_the_verdict_goes_by_means_over_seeds(point, runs):
    assert point(runs([2.0, 4.0, 6.0])).verdict == REPRODUCED
    assert point(runs([2.0, 4.0, 5.9])).verdict == NOT_REPRODUCED


@pytest.mark.parametrize(
    ("speedups", "errors", "verdict", "firm"),
    [
        ([5.0, 5.5, 6.0], 0.5, REPRODUCED, "interval"),
        ([2.0, 5.5, 9.0], 0.5, REPRODUCED, "within the interval"),
        ([5.0, 5.5, 6.0], [-2.0, 0.5, 2.5], REPRODUCED, "within the interval"),
        ([5.0, 5.5], 0.5, REPRODUCED, "too few seeds"),
        ([2.0, 2.5, 3.0], 0.5, NOT_REPRODUCED, "interval"),
        ([1.0, 3.5, 6.0], 0.5, NOT_REPRODUCED, "within the interval"),
        ([5.0, 5.5, 6.0], [0.5, 1.1, 3.0], NOT_REPRODUCED, "within the interval"),
        ([5.0, 5.5, 6.0], [2.5, 3.0, 3.5], NOT_REPRODUCED, "interval"),
        ([2.0], 0.5, NOT_REPRODUCED, "too few seeds"),
    ],
)
def test_it_is_firm_if_the_whole_interval_says_the_same(
    point, runs, speedups, errors, verdict, firm
):
    finding = point(runs(speedups, errors))
    assert (finding.verdict, finding.firm) == (verdict, firm)


def test_a_fraction_that_was_not_run_could_turn_a_failure_alone(point, runs):
    assert point(runs([2.0, 2.5, 3.0]), (0.05, 0.1)).firm == "fractions missing"
    assert point(runs([5.0, 5.5, 6.0]), (0.05, 0.1)).firm == "interval"


@pytest.mark.parametrize(("speedup", "verdict"), [(3.6, REPRODUCED), (3.59, NOT_REPRODUCED)])
def test_around_covers_a_share_less(point, run, speedup, verdict):
    assert point([run(speedup)], around=0.1).verdict == verdict


def test_a_point_in_words(point, runs):
    finding = point(runs([5.0, 5.5, 6.0], 0.5))
    assert finding.ours == "5.5x (5 to 6) at +0.5 pp (+0.5 to +0.5), fraction 10 %"


def test_a_single_seed_has_no_interval(point, run):
    assert point([run(8.44, -0.25)]).ours == "8.44x at -0.25 pp, fraction 10 %"


def test_a_point_that_is_missed_shows_the_closest_and_the_fastest_fraction(point, run):
    rows = [run(9.0, 3.0, fraction=0.01), run(2.0, 0.9, fraction=0.1), run(1.5, 0.1, fraction=0.3)]
    assert point(rows, (0.01, 0.1, 0.3)).ours == (
        "2x at +0.9 pp, fraction 10 %; the fastest: 9x at +3 pp, fraction 1 %"
    )


def test_where_no_fraction_is_within_the_loss_the_closest_is_of_least_error(point, run):
    rows = [run(9.0, 3.0, fraction=0.01), run(2.0, 1.5, fraction=0.1)]
    assert point(rows, (0.01, 0.1)).ours.startswith("2x at +1.5 pp, fraction 10 %")


def test_a_panel_without_runs_is_not_run(point, run):
    finding = point([run(panel=ASHA), run(selector="craig")])
    assert (finding.verdict, finding.panels, finding.of, finding.records) == (NOT_RUN, (), 1, ())


def test_records_are_those_of_the_panel_and_its_full(point, runs):
    rows = [*runs([5.0, 6.0]), *runs([5.0], panel=ASHA), *runs([5.0], selector="craig")]
    stem = "satimage/tpe/hyperband"
    assert point(rows).records == tuple(
        f"{stem}/{name}/seed-{seed}" for name in ("full-1", "gradmatch-0.1") for seed in (0, 1)
    )


def test_a_point_with_two_panels_is_refused(grid, words):
    with pytest.raises(ValidationError, match="a point has one panel, a loss, and no high"):
        PointClaim(grid=grid(schedulers=["asha", "hyperband"]), low=1, loss=1, **words)


@pytest.fixture
def reach(grid, words, tables):
    """Check a range of 3x to 5x at a loss of 2, over two panels, against runs."""

    def check(rows, **changes):
        claim = RangeClaim(
            grid=grid(schedulers=["hyperband", "asha"]),
            **{"low": 3.0, "high": 5.0, "loss": 2.0, **changes},
            **words,
        )
        return claim.check(tables(rows))

    return check


def test_a_range_is_reached_in_every_panel_that_was_run(reach, runs):
    both = [*runs(THREE), *runs([3.1, 3.2, 3.3], panel=ASHA)]
    assert (reach(both).verdict, reach(both).firm) == (REPRODUCED, "interval")
    worse = [*runs(THREE), *runs([2.1, 2.2, 2.3], panel=ASHA)]
    assert (reach(worse).verdict, reach(worse).firm) == (NOT_REPRODUCED, "interval")


def test_panels_that_were_not_run_make_a_success_less_firm_and_no_failure(reach, runs):
    good, bad = reach(runs(THREE)), reach(runs([2.1, 2.2, 2.3]))
    assert (good.verdict, good.firm) == (REPRODUCED, "panels missing")
    assert (bad.verdict, bad.firm) == (NOT_REPRODUCED, "interval")
    assert (good.panels, good.of) == ((("satimage", "tpe", "hyperband"),), 2)


def test_half_of_the_panels_may_be_enough(reach, runs):
    rows = [*runs(THREE), *runs([2.1, 2.2, 2.3], panel=ASHA)]
    assert (reach(rows, share=0.5).verdict, reach(rows, share=0.5).firm) == (REPRODUCED, "interval")


def test_a_range_in_words(reach, runs):
    rows = [*runs([5.0, 6.0]), *runs([2.2], panel=ASHA)]
    assert reach(rows).ours == (
        "1 of 2 panels reach 3x at a loss of at most 2 percentage points; the best fraction there "
        "has 2.2x (satimage/tpe-asha) to 5.5x (satimage/tpe-hyperband); 5x is reached in 1"
    )


def test_a_speedup_beyond_the_loss_is_not_reported_as_reached(reach, runs):
    rows = [*runs([9.0], 2.5), *runs([3.5], panel=ASHA)]
    assert reach(rows).ours.endswith("no fraction is within the loss in 1; 5x is reached in 0")


def test_any_loss_will_do_where_the_claim_says_nothing_of_it(reach, runs):
    rows = [*runs([9.0], 50.0), *runs([3.5], panel=ASHA)]
    assert reach(rows, loss=None).verdict == REPRODUCED


def test_a_ratio_that_was_not_measured_is_not_run(reach, run):
    rows = [run(energy_ratio=None)]
    assert reach(rows, quantity="energy_ratio").verdict == NOT_RUN
    assert reach([run(1.0, energy_ratio=7.0)], quantity="energy_ratio").verdict == REPRODUCED


def test_energy_of_one_seed_of_three_is_of_too_few_seeds(reach, runs):
    rows = [*runs([5.0] * 3), *runs([5.0] * 3, panel=ASHA)]
    assert reach(rows, quantity="energy_ratio").firm == "interval"
    rows = [{**row, "energy_ratio": None} if row["seed"] else row for row in rows]
    assert reach(rows, quantity="energy_ratio").firm == "too few seeds"
    assert reach(rows, quantity="energy_ratio", low=50.0).firm == "too few seeds"
    assert reach(rows).firm == "interval"


def test_one_seed_has_no_interval_of_its_energy(point, runs):
    rows = [{**row, "energy_ratio": None} if row["seed"] else row for row in runs([5.0] * 3)]
    ours = point(rows, quantity="energy_ratio").ours
    assert ours == "5x at +1 pp (+1 to +1), fraction 10 %"


def test_the_rule_has_the_numbers(grid, words):
    claim = PointClaim(grid=grid(), low=9.8, loss=-0.9, around=0.1, **words)
    assert claim.rule == (
        "one fraction has a speedup of at least 9.8x (less 10 %, for 'around') at a gain of at "
        "least 0.9 percentage points"
    )
