"""One panel by hand, and how often a selector leads."""

from __future__ import annotations

import pandas as pd
import pytest

from automata.analysis.tradeoff import fronts, summary


def row(selector, fraction, speedup, error, **changes):
    return {
        "dataset": "dna",
        "search": "tpe",
        "scheduler": "asha",
        "selector": selector,
        "fraction": fraction,
        "speedup": speedup,
        "relative_test_error": error,
        "records": f"full.json {selector}-{fraction}.json",
        **changes,
    }


FULL = row("full", 1.0, 1.0, 0.0)
PANEL = [
    FULL,
    row("craig", 0.1, 3.0, 1.0),  # 2 x 3 over the reference (1, 4)
    row("craig", 0.05, 5.0, 2.0),  # and 2 x 2 more
    row("rs2", 0.1, 3.0, 3.0),  # 2 x 1, inside the above
    row("random", 0.1, 6.0, 4.0),  # the worst: on the front, covers nothing
]


def by_selector(table, column):
    return dict(zip(table["selector"], table[column], strict=True))


def test_hypervolume_is_the_area_over_speedup_one_and_the_worst_error():
    table = fronts(pd.DataFrame(PANEL))

    assert by_selector(table, "hypervolume") == {"craig": 10, "full": 0, "random": 0, "rs2": 2}
    assert set(table["worst_error"]) == {4.0}


def test_share_is_of_what_all_cover_together():
    table = fronts(pd.DataFrame(PANEL))

    assert by_selector(table, "share") == {"craig": 1, "full": 0, "random": 0, "rs2": 0.2}


def test_points_on_the_front_are_counted_against_all_selectors():
    table = fronts(pd.DataFrame(PANEL))

    assert by_selector(table, "points") == {"craig": 2, "full": 1, "random": 1, "rs2": 1}
    assert by_selector(table, "on_front") == {"craig": 2, "full": 1, "random": 1, "rs2": 0}


def test_full_leaves_the_front_when_something_is_faster_and_no_worse():
    table = fronts(pd.DataFrame([FULL, row("rs2", 0.1, 2.0, 0.0)]))

    assert by_selector(table, "on_front") == {"full": 0, "rs2": 1}


def test_share_is_missing_where_nothing_is_covered():
    table = fronts(pd.DataFrame([FULL, row("rs2", 0.1, 0.5, 1.0)]))

    assert table["share"].isna().all()
    assert summary(table)["panels_largest"].tolist() == [0, 0]


@pytest.mark.parametrize("control", ["full-again", "untuned"])
def test_controls_that_save_no_time_take_no_part(control):
    table = fronts(pd.DataFrame([*PANEL, row(control, 1.0, 50.0, -9.0)]))

    pd.testing.assert_frame_equal(table, fronts(pd.DataFrame(PANEL)))


def test_panels_are_judged_apart():
    other = row("random", 0.1, 9.0, -1.0, dataset="letter")
    table = fronts(pd.DataFrame([*PANEL, {**FULL, "dataset": "letter"}, other]))

    totals = summary(table).set_index("selector")

    assert totals.loc["random", ["panels", "panels_on_front", "panels_largest"]].tolist() == [
        2,
        2,
        1,
    ]
    assert totals.loc["craig", ["panels", "panels_on_front", "panels_largest"]].tolist() == [
        1,
        1,
        1,
    ]
    assert totals.loc["full", ["panels", "panels_on_front", "panels_largest"]].tolist() == [2, 1, 0]


def test_selectors_that_tie_for_the_largest_all_count():
    tied = [FULL, row("rs2", 0.1, 2.0, 0.0), row("craig", 0.1, 2.0, 0.0), row("random", 0.1, 1, 3)]

    totals = summary(fronts(pd.DataFrame(tied))).set_index("selector")["panels_largest"]

    assert totals.to_dict() == {"craig": 1, "full": 0, "random": 0, "rs2": 1}


def test_rows_name_their_records_once():
    table = fronts(pd.DataFrame(PANEL)).set_index("selector")

    assert table.loc["craig", "records"] == "craig-0.05.json craig-0.1.json full.json"


def test_no_runs_make_empty_tables():
    table = fronts(pd.DataFrame([FULL]).iloc[:0])

    assert table.empty
    assert summary(table).empty
