"""The best tradeoff: areas by hand, seeds, fractions and panels."""

from __future__ import annotations

import pytest

from .conftest import ASHA, BOTH, FEW, FIRM, NO, NOT_RUN, OPEN, YES, run, runs

AHEAD = ((4.0, 0.5), (4.0, 1.0), (3.0, 2.0))
BEHIND = ((4.0, 1.0), (4.0, 0.5), (3.0, 2.0))
SIZES = {"fractions": [0.1, 0.3]}


@pytest.fixture
def best(check):
    def checked(rows, **said):
        return check("best-tradeoff", rows, **BOTH, **said)

    return checked


def contest(points, seeds=3, **changes):
    """Make the runs of one fraction: (speedup, error) of AUTOMATA, RANDOM and CRAIG."""
    pairs = zip(("gradmatch", "random", "craig"), points, strict=True)
    return [
        row
        for selector, (fast, bad) in pairs
        for row in runs([fast] * seeds, bad, selector=selector, **changes)
    ]


def both(**changes):
    return [*contest(AHEAD, **changes), *contest(AHEAD, panel=ASHA, **changes)]


def of_seeds(rows, *seeds):
    return [row for row in rows if row["seed"] in seeds]


@pytest.mark.parametrize(
    ("points", "verdict"),
    [
        (AHEAD, YES),  # areas 4.5, 3, 0
        (BEHIND, NO),
        (((4.0, 1.0), (3.0, 2.0), (4.0, 0.5)), NO),
        (((4.0, 1.0), (2.5, 0.0), (9.0, 2.0)), NO),  # 3 and 3: no single best
        (((4.0, 1.0), (2.4, 0.0), (9.0, 2.0)), YES),  # 3 and 2.8
        (((9.0, 2.0), (3.0, 1.0), (2.0, 1.0)), NO),  # fastest, but worst: no area
        (((2.0, -1.0), (4.0, -0.5), (3.0, -0.5)), NO),  # seen from FULL's 0: 1, 1.5
        (((3.0, -1.0), (4.0, -0.5), (3.0, -0.5)), YES),  # 2, 1.5
        (((0.9, 0.0), (0.8, 1.0), (0.7, 2.0)), NO),  # slower than FULL
    ],
)
def test_the_largest_area_wins(best, points, verdict):
    assert best(contest(points)).verdict == verdict


@pytest.mark.parametrize(("fractions", "verdict"), [([0.1], YES), ([0.1, 0.3], NO)])
def test_areas_join_fractions(best, fractions, verdict):
    rows = [
        *contest(((4.0, 1.0), (4.0, 1.1), (2.0, 4.0))),  # areas so far: 9, 8.7
        *contest(((2.0, 0.5), (2.0, 0.0), (2.0, 4.0)), fraction=0.3),  # + 0.5, + 1.1
    ]
    assert best(rows, fractions=fractions).verdict == verdict


@pytest.mark.parametrize(
    "strangers",
    [
        runs([99.0] * 3, -5.0, selector="rs2"),
        runs([1.0] * 3, 90.0, fraction=0.7),
        runs([50.0] * 3, 0.0, fraction=0.3),  # RANDOM and CRAIG have no such fraction
        [run(500.0, 0.0, seed=7)],  # nor such a seed
    ],
)
def test_only_what_all_three_have_counts(best, strangers):
    finding, alone = (
        best(rows, **SIZES) for rows in ([*contest(BEHIND), *strangers], contest(BEHIND))
    )
    assert finding.ours.partition("; incomplete")[0] == alone.ours
    assert finding.records == alone.records


@pytest.mark.parametrize(
    ("rows", "said", "left_out", "firm"),
    [
        (both(), {}, None, FIRM),
        (both(), {"fractions": [0.05, 0.1]}, None, "fractions missing"),
        (both(seeds=2), {}, None, FEW),
        (contest(AHEAD), {}, None, "panels missing"),
        (  # a fraction that one seed has does not cut the seeds
            [
                *both(seeds=5),
                *contest(((4.0, 9.0), (40.0, 0.0), (3.0, 9.0)), seeds=1, fraction=0.3),
            ],
            SIZES,
            "fraction 30 % of satimage/tpe-hyperband",
            "fractions missing",
        ),
        (  # a seed that has one fraction does not cut the fractions
            [*contest(AHEAD, seeds=4), *contest(AHEAD, seeds=3, fraction=0.3)],
            SIZES,
            "seed 3 of satimage/tpe-hyperband",
            "panels missing",
        ),
        (  # different fractions are missing in different seeds
            [
                *of_seeds(contest(AHEAD), 0, 1),
                *of_seeds(contest(AHEAD, seeds=4, fraction=0.3), 2, 3),
            ],
            SIZES,
            "fraction 30 % and seeds 2, 3 of satimage/tpe-hyperband",
            FEW,
        ),
        (  # fractions of few seeds would leave too few
            [
                *contest(AHEAD),
                *contest(AHEAD, seeds=2, fraction=0.05),
                *contest(AHEAD, seeds=2, fraction=0.3),
            ],
            {"fractions": [0.05, 0.1, 0.3]},
            "fractions 5 %, 30 % of satimage/tpe-hyperband",
            "fractions missing",
        ),
    ],
)
def test_a_panel_counts_with_the_fractions_and_seeds_that_are_complete(
    best, rows, said, left_out, firm
):
    finding = best(rows, **said)
    _, _, shown = finding.ours.partition("; incomplete and left out: ")
    assert (finding.verdict, finding.firm, shown or None) == (YES, firm, left_out)


def test_a_lead_within_the_noise_is_open(best):
    rows = [
        row
        for panel in (("satimage", "tpe", "hyperband"), ASHA)
        for selector, fast, errors in (
            ("gradmatch", 4.0, [0.0, 0.5, 1.6]),  # mean 0.7, against 0.8
            ("random", 4.0, 0.8),
            ("craig", 3.0, 2.0),
        )
        for row in runs([fast] * 3, errors, selector=selector, panel=panel)
    ]
    finding = best(rows)
    assert (finding.verdict, finding.firm) == (YES, OPEN)


@pytest.mark.parametrize(
    "rows",
    [
        [{**row, "refused": "another host"} for row in contest(AHEAD)],
        [row for row in contest(AHEAD) if row["selector"] != "craig"],
    ],
)
def test_without_all_three_there_is_no_contest(best, rows):
    finding = best(rows)
    assert (finding.verdict, finding.of) == (NOT_RUN, 2)
    assert finding.ours == (
        "no panel has the speedup of AUTOMATA, RANDOM and CRAIG at one fraction and seed"
    )


@pytest.mark.parametrize(
    ("rows", "said", "verdict", "ours"),
    [
        (
            [*contest(AHEAD), *contest(BEHIND, panel=ASHA)],
            {"share": 0.9},
            NO,
            "the largest area in 1 of 2 panels (50 %); RANDOM in 1",
        ),
        (
            [*contest(AHEAD), *contest(BEHIND, panel=ASHA)],
            {"share": 0.5},
            YES,
            "the largest area in 1 of 2 panels (50 %); RANDOM in 1",
        ),
        (
            contest(((4.0, 0.0), (4.0, 0.0), (3.0, 2.0))),
            {},
            NO,
            "the largest area in 0 of 1 panels (0 %); no single best in 1",
        ),
        (
            [
                {**row, "energy_ratio": 9.0 if row["selector"] == "random" else 1.5}
                for row in contest(AHEAD)
            ],
            {"quantity": "energy_ratio"},
            NO,
            "the largest area in 0 of 1 panels (0 %); RANDOM in 1",
        ),
    ],
)
def test_who_is_best_in_how_many_panels(best, rows, said, verdict, ours):
    finding = best(rows, **said)
    assert (finding.verdict, finding.ours) == (verdict, ours)


def test_records_are_of_all_three_and_their_full(best):
    names = [record.split("/")[3] for record in best(contest(AHEAD, seeds=1)).records]
    assert names == ["craig-0.1", "full-1", "gradmatch-0.1", "random-0.1"]
