"""Step curves by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from automata.analysis.search_studies import anytime, comparable


def trials(*curves, selector="rs2", fraction=0.1, **changes):
    """Return a run per curve, a list of (seconds, score); a joule is ten seconds' worth."""
    return pd.DataFrame(
        [
            {
                "dataset": "dna",
                "search": "tpe",
                "scheduler": "asha",
                "selector": selector,
                "fraction": fraction,
                "seed": seed,
                "rung": True,
                "accuracy": score,
                "elapsed_seconds": at,
                "elapsed_joules": 10 * at,
                "record": f"{selector}-{seed}.json",
                **changes,
            }
            for seed, curve in enumerate(curves)
            for at, score in curve
        ]
    )


def points(table):
    return [tuple(row) for row in table[["at", "median", "low", "high"]].to_numpy()]


def test_only_improvements_and_the_end_are_steps():
    table = anytime(trials([(1.0, 0.5), (2.0, 0.4), (3.0, 0.7), (4.0, 0.7), (5.0, 0.6)]))

    assert points(table) == [(1.0, 0.5, 0.5, 0.5), (3.0, 0.7, 0.7, 0.7), (5.0, 0.7, 0.7, 0.7)]


def test_evaluations_may_come_in_any_order():
    ordered = trials([(1.0, 0.5), (2.0, 0.6), (2.0, 0.8), (3.0, 0.7)])

    assert points(anytime(ordered)) == [(1.0, *[0.5] * 3), (2.0, *[0.8] * 3), (3.0, *[0.8] * 3)]
    pd.testing.assert_frame_equal(anytime(ordered[::-1]), anytime(ordered))


def test_seeds_are_summed_up_from_when_all_have_begun():
    table = anytime(
        trials([(1, 0.1), (4, 0.4)], [(2, 0.2), (3, 0.3), (6, 0.6)], [(1, 0.5), (5, 0.5)])
    )

    assert points(table) == [
        (2.0, 0.2, 0.1, 0.5),
        (3.0, 0.3, 0.1, 0.5),
        (4.0, 0.4, 0.3, 0.5),
        (5.0, 0.4, 0.3, 0.5),
        (6.0, 0.5, 0.4, 0.6),
    ]
    assert set(table["seeds"]) == {3}
    assert set(table["records"]) == {"rs2-0.json rs2-1.json rs2-2.json"}


def test_a_search_that_is_over_keeps_its_best():
    table = anytime(trials([(1, 0.9)], [(1, 0.1), (9, 0.2)]))

    assert points(table)[-1] == pytest.approx((9.0, 0.55, 0.2, 0.9))


def test_joules_have_the_same_steps_at_their_own_places():
    both = trials([(1, 0.1), (4, 0.4)])

    assert points(anytime(both, "elapsed_joules")) == [
        (10 * at, *rest) for at, *rest in points(anytime(both))
    ]


def test_a_combination_without_energy_has_no_curve_against_it():
    known = trials([(1, 0.1)], selector="craig")
    unknown = trials([(1, 0.1)], elapsed_joules=math.nan)

    table = anytime(pd.concat([known, unknown]), "elapsed_joules")

    assert set(table["selector"]) == {"craig"}


def test_evaluations_off_the_rungs_do_not_count():
    table = anytime(pd.concat([trials([(1, 0.1)]), trials([(2, 0.9)], rung=False)]))

    assert points(table) == [(1.0, 0.1, 0.1, 0.1)]


def test_combinations_are_apart():
    table = anytime(pd.concat([trials([(1, 0.1)], fraction=0.1), trials([(2, 0.2)], fraction=0.3)]))

    assert table["fraction"].tolist() == [0.1, 0.3]


def test_no_trials_make_an_empty_table():
    assert anytime(trials([(1, 0.1)]).iloc[:0]).empty


def ratios(**changes):
    """Two comparable runs, or what is changed: a list of two values by column."""
    values = {
        "record": ["rs2-0.json", "rs2-1.json"],
        "refused": [None, None],
        "energy_method": ["measured", "measured"],
        "full_record": ["full-0.json", "full-1.json"],
        "energy_ratio": [2.0, 3.0],
    }
    return pd.DataFrame({**values, **changes})


@pytest.mark.parametrize(
    ("changes", "clock", "kept"),
    [
        ({}, "elapsed_seconds", {0, 1}),
        ({}, "elapsed_joules", {0, 1}),
        ({"refused": ["not comparable with its FULL: host a and b", None]}, "elapsed_seconds", {1}),
        ({"refused": ["not comparable with its FULL: host a and b", None]}, "elapsed_joules", {1}),
        ({"refused": ["the final training diverged: nan", None]}, "elapsed_seconds", {0, 1}),
        ({"energy_ratio": [None, 3.0]}, "elapsed_seconds", {0, 1}),
        ({"energy_ratio": [None, 3.0]}, "elapsed_joules", {1}),
        (
            {
                "refused": ["no FULL run to compare with"] * 2,
                "full_record": [None, None],
                "energy_ratio": [None, None],
            },
            "elapsed_joules",
            {0, 1},
        ),
    ],
)
def test_only_runs_that_compare_with_full_are_kept(changes, clock, kept):
    both = trials([(1, 0.5)], [(2, 0.6)])

    assert set(comparable(both, ratios(**changes), clock)["seed"]) == kept
