"""Points, ranges, orders and similar savings: met, missed, at the bar, and how firmly."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from .conftest import ASHA, BOTH, FEW, FIRM, HYPERBAND, NO, NOT_RUN, OPEN, YES, claim, run, runs

POINT = {"low": 4.0, "loss": 1.0}
RANGE = {"low": 3.0, "high": 5.0, "loss": 2.0, **BOTH}
ORDER = {"selectors": ["gradmatch"], "fractions": [0.05, 0.1]}
THREE = [3.9, 4.0, 4.1]
SLOW = [2.1, 2.2, 2.3]


def line(*speedups, **changes):
    """Make runs of the fractions 5 %, 10 %, ... with these speedups per seed."""
    pairs = zip((0.05, 0.1, 0.3), speedups, strict=False)
    return [row for size, fast in pairs for row in runs(fast, fraction=size, **changes)]


def saving(*shares, **changes):
    """Make runs of both panels, of speedup 4 and these energy ratios over that, per seed."""
    return [
        run(4.0, seed=seed, panel=panel, energy_ratio=4 * share, **changes)
        for panel in (ASHA, HYPERBAND)
        for seed, share in enumerate(shares)
    ]


def of_one_seed(rows):
    """Return `rows` with the energy of seed 0 alone."""
    return [{**row, "energy_ratio": None} if row["seed"] else row for row in rows]


@pytest.mark.parametrize(
    ("rows", "changes", "verdict"),
    [
        ([run(4.0, 1.0)], {}, YES),
        ([run(9.0, -3.0)], {}, YES),
        ([run(3.99, 1.0)], {}, NO),
        ([run(4.0, 1.01)], {}, NO),
        ([run(9.0, 1.01)], {}, NO),
        ([run(3.99, -3.0)], {}, NO),
        ([run(9.0, -0.9)], {"loss": -0.9}, YES),  # a gain is a negative loss
        ([run(9.0, -0.8)], {"loss": -0.9}, NO),
        ([run(3.6)], {"around": 0.1}, YES),
        ([run(3.59)], {"around": 0.1}, NO),
        ([run(2.412)], {"low": 2.68, "around": 0.1}, YES),  # 2.68 x 0.9 is more in binary
        (runs([2.0, 4.0, 6.0]), {}, YES),
        (runs([2.0, 4.0, 5.9]), {}, NO),
        # Both at one fraction, of those that the claim is about, of AUTOMATA.
        ([run(9.0, 3.0, fraction=0.05), run(2.0, 0.0)], {"fractions": [0.05, 0.1]}, NO),
        ([run(9.0, 3.0, fraction=0.05), run(4.5, 0.5)], {"fractions": [0.05, 0.1]}, YES),
        ([run(2.0, 0.0), run(9.0, 0.0, fraction=0.7)], {}, NO),
        ([run(2.0, 0.0), run(9.0, 0.0, selector="rs2")], {}, NO),
        ([run(panel=ASHA), run(selector="craig")], {}, NOT_RUN),
    ],
)
def test_a_point_needs_the_speedup_and_the_error_at_once(check, rows, changes, verdict):
    assert check("point", rows, **{**POINT, **changes}).verdict == verdict


@pytest.mark.parametrize(
    ("speedups", "errors", "verdict", "firm"),
    [
        ([5.0, 5.5, 6.0], 0.5, YES, FIRM),
        ([2.0, 5.5, 9.0], 0.5, YES, OPEN),
        ([5.0, 5.5, 6.0], [-2.0, 0.5, 2.5], YES, OPEN),
        ([5.0, 5.5], 0.5, YES, FEW),
        ([2.0, 2.5, 3.0], 0.5, NO, FIRM),
        ([1.0, 3.5, 6.0], 0.5, NO, OPEN),
        ([5.0, 5.5, 6.0], [0.5, 1.1, 3.0], NO, OPEN),
        ([5.0, 5.5, 6.0], [2.5, 3.0, 3.5], NO, FIRM),
        ([2.0], 0.5, NO, FEW),
    ],
)
def test_a_point_is_firm_if_the_whole_interval_says_the_same(
    check, speedups, errors, verdict, firm
):
    finding = check("point", runs(speedups, errors), **POINT)
    assert (finding.verdict, finding.firm) == (verdict, firm)


@pytest.mark.parametrize(
    ("rows", "changes", "verdict", "firm"),
    [
        ([*runs(THREE), *runs([3.1, 3.2, 3.3], panel=ASHA)], {}, YES, FIRM),
        ([*runs(THREE), *runs(SLOW, panel=ASHA)], {}, NO, FIRM),
        ([*runs(THREE), *runs(SLOW, panel=ASHA)], {"share": 0.5}, YES, FIRM),
        # What was not run could turn a success, and fractions a failure.
        (runs(THREE), {}, YES, "panels missing"),
        (runs(SLOW), {}, NO, FIRM),
        (runs(SLOW), {"fractions": [0.05, 0.1]}, NO, "fractions missing"),
        ([*runs(SLOW), run(2.0, fraction=0.05)], {"fractions": [0.05, 0.1]}, NO, FEW),
        (runs(THREE), {"fractions": [0.05, 0.1], "schedulers": ["hyperband"]}, YES, FIRM),
        ([*runs([9.0], 50.0), *runs([3.5], panel=ASHA)], {"loss": None}, YES, FEW),
        ([run(1.0, energy_ratio=7.0)], {"quantity": "energy_ratio"}, YES, FEW),
        ([run(energy_ratio=None)], {"quantity": "energy_ratio"}, NOT_RUN, ""),
    ],
)
def test_a_range_is_reached_in_every_panel_that_was_run(check, rows, changes, verdict, firm):
    finding = check("range", rows, **{**RANGE, **changes})
    assert (finding.verdict, finding.firm) == (verdict, firm)


@pytest.mark.parametrize(
    ("kind", "said", "rows"),
    [
        ("range", RANGE, [*runs([5.0] * 3), *runs([5.0] * 3, panel=ASHA)]),
        ("range", {**RANGE, "low": 50.0}, runs([5.0] * 3)),
        ("order", ORDER, line([5.0, 5.1, 5.2], [4.0, 4.1, 4.2])),
    ],
)
def test_energy_of_one_seed_of_three_is_of_too_few_seeds(check, kind, said, rows):
    energy = {**said, "quantity": "energy_ratio"}
    assert check(kind, rows, **energy).firm == FIRM
    assert check(kind, of_one_seed(rows), **energy).firm == FEW
    assert check(kind, of_one_seed(rows), **said).firm == FIRM


@pytest.mark.parametrize(
    ("kind", "said", "rows", "ours"),
    [
        (
            "point",
            POINT,
            runs([5.0, 5.5, 6.0], 0.5),
            "5.5x (5 to 6) at +0.5 pp (+0.5 to +0.5), fraction 10 %",
        ),
        ("point", POINT, [run(8.44, -0.25)], "8.44x at -0.25 pp, fraction 10 %"),
        (
            "point",
            {**POINT, "quantity": "energy_ratio"},
            of_one_seed(runs([5.0] * 3)),
            "5x at +1 pp (+1 to +1), fraction 10 %",
        ),
        (
            "point",  # the closest and the fastest
            {**POINT, "fractions": [0.01, 0.1, 0.3]},
            [run(9.0, 3.0, fraction=0.01), run(2.0, 0.9), run(1.5, 0.1, fraction=0.3)],
            "2x at +0.9 pp, fraction 10 %; the fastest: 9x at +3 pp, fraction 1 %",
        ),
        (
            "point",  # none within the loss: that of least error
            {**POINT, "fractions": [0.01, 0.1]},
            [run(9.0, 3.0, fraction=0.01), run(2.0, 1.5)],
            "2x at +1.5 pp, fraction 10 %; the fastest: 9x at +3 pp, fraction 1 %",
        ),
        (
            "range",
            RANGE,
            [*runs([4.0, 6.0]), *runs([2.2], panel=ASHA)],
            "1 of 2 panels reach 3x at a loss of at most 2 percentage points; the best fraction "
            "there has 2.2x (satimage/tpe-asha) to 5x (satimage/tpe-hyperband); "
            "5x is reached in 1",
        ),
        (
            "range",  # a speedup beyond the loss is not reported as reached
            RANGE,
            [*runs([9.0], 2.5), *runs([3.5], panel=ASHA)],
            "1 of 2 panels reach 3x at a loss of at most 2 percentage points; the best fraction "
            "there has 3.5x (satimage/tpe-asha) to 3.5x (satimage/tpe-asha); "
            "no fraction is within the loss in 1; 5x is reached in 0",
        ),
        (
            "order",
            {**ORDER, "selectors": ["gradmatch", "random"]},
            [*line([5.0] * 3, [4.0] * 3), *line([2.0] * 3, [3.0] * 3, selector="random")],
            "in order in 0 of 1 panels; not in satimage/tpe-hyperband",
        ),
        (
            "similar",  # fractions are averaged within a seed
            {"fractions": [0.1, 0.3]},
            [run(4.0, energy_ratio=2.4), run(4.0, energy_ratio=5.6, fraction=0.3)],
            "similar in 1 of 1 panels; ratio / speedup from 1.00 (satimage/tpe-hyperband) to "
            "1.00 (satimage/tpe-hyperband)",
        ),
        ("similar", {}, [], "no energy ratio in these panels"),
    ],
)
def test_our_figures_in_words(check, kind, said, rows, ours):
    assert check(kind, rows, **said).ours == ours


@pytest.mark.parametrize(
    ("kind", "said", "rule"),
    [
        (
            "point",
            {"low": 9.8, "loss": -0.9, "around": 0.1},
            "one fraction has a speedup of at least 9.8x (less 10 %, for 'around') at a gain of at "
            "least 0.9 percentage points",
        ),
        (
            "range",
            {"low": 1, "share": 0.9, **BOTH},
            "in at least 90 % of the panels one fraction has a speedup of at least 1x at any loss",
        ),
        (
            "order",
            {**ORDER, **BOTH},
            "in all panels the speedup falls from each fraction to the next larger one",
        ),
    ],
)
def test_a_rule_has_the_numbers(kind, said, rule):
    assert claim(kind, **said).rule == rule


def test_a_finding_names_its_panels_and_their_records_with_full(check):
    rows = [*runs([5.0, 6.0]), *runs([5.0], panel=("dna", "tpe", "asha"))]
    finding = check("range", [*rows, *runs([5.0], selector="craig")], **RANGE)
    assert (finding.panels, finding.of) == ((HYPERBAND,), 2)
    assert finding.records == tuple(
        f"satimage/tpe/hyperband/{name}/seed-{seed}"
        for name in ("full-1", "gradmatch-0.1")
        for seed in (0, 1)
    )


@pytest.mark.parametrize(
    "changes", [{"schedulers": ["asha", "hyperband"]}, {"loss": None}, {"high": 9.0}]
)
def test_a_point_has_one_panel_and_a_loss(changes):
    with pytest.raises(ValidationError, match="a point has one panel, a loss, and no high"):
        claim("point", **{**POINT, **changes})


@pytest.mark.parametrize(
    ("rows", "changes", "verdict", "firm"),
    [
        (line([5.0, 5.1, 5.2], [4.0, 4.1, 4.2]), {}, YES, FIRM),
        (line([5.0, 5.1, 5.2], [1.0, 4.1, 9.0]), {}, YES, OPEN),
        (line([4.0, 4.1, 4.2], [5.0, 5.1, 5.2]), {}, NO, FIRM),
        (line([1.0, 4.1, 9.0], [5.0, 5.1, 5.2]), {}, NO, OPEN),
        (line([5.0] * 3, [5.0] * 3), {}, NO, OPEN),
        (line([5.0, 5.1], [4.0, 4.1]), {}, YES, FEW),
        (line([5.0] * 3), {}, NOT_RUN, ""),
        # Every step counts, also one that is missing.
        (line([5.0] * 3, [3.0] * 3, [4.0] * 3), {}, YES, FIRM),
        (line([5.0] * 3, [3.0] * 3, [4.0] * 3), {"fractions": [0.05, 0.1, 0.3]}, NO, FIRM),
        (line([5.0] * 3, [4.0] * 3), {"fractions": [0.05, 0.1, 0.3]}, YES, "fractions missing"),
        (line([9.0] * 3, [5.0] * 3, [1, 4, 9]), {"fractions": [0.05, 0.1, 0.3]}, YES, OPEN),
    ],
)
def test_smaller_subsets_are_faster(check, rows, changes, verdict, firm):
    finding = check("order", rows, **{**ORDER, **changes})
    assert (finding.verdict, finding.firm) == (verdict, firm)


@pytest.mark.parametrize(
    ("selectors", "verdict"), [(["gradmatch"], YES), (["gradmatch", "random"], NO)]
)
def test_every_selector_must_be_in_order(check, selectors, verdict):
    rows = [*line([5.0] * 3, [4.0] * 3), *line([2.0] * 3, [3.0] * 3, selector="random")]
    finding = check("order", rows, **{**ORDER, "selectors": selectors})
    assert (finding.verdict, finding.firm) == (verdict, FIRM)


@pytest.mark.parametrize(("share", "verdict"), [(1.0, NO), (0.5, YES)])
def test_a_share_of_the_panels_may_be_in_order(check, share, verdict):
    rows = [*line([5.0] * 3, [4.0] * 3), *line([2.0] * 3, [3.0] * 3, panel=ASHA)]
    assert check("order", rows, share=share, **ORDER, **BOTH).verdict == verdict


@pytest.mark.parametrize(
    ("shares", "verdict", "firm"),
    [
        ([1.0, 1.1, 0.9], YES, FIRM),
        ([0.8, 0.8, 0.8], YES, FIRM),
        ([1.25, 1.25, 1.25], YES, FIRM),
        ([0.79, 0.79, 0.79], NO, FIRM),
        ([1.26, 1.26, 1.26], NO, FIRM),
        ([0.5, 1.1, 1.1], YES, OPEN),
        ([0.1, 1.1, 1.1], NO, OPEN),
        ([1.0, 1.1], YES, FEW),
    ],
)
def test_savings_are_similar_within_a_quarter_of_the_speedup(check, shares, verdict, firm):
    finding = check("similar", saving(*shares), **BOTH)
    assert (finding.verdict, finding.firm) == (verdict, firm)
