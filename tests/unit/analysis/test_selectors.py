"""Selectors against each other: Pareto fronts and paired differences."""

import pandas as pd
import pytest

from automata.analysis.selectors import ALL, fronts, paired_differences, pooled_differences, summary

from .conftest import only, run


def point(selector, fraction, speedup, error, **changes):
    records = f"full.json {selector}-{fraction}.json"
    errors = {"relative_test_error": error, "records": records}
    return run(selector, fraction, speedup=speedup, **errors, **changes)


FULL = point("full", 1.0, 1.0, 0.0)
POINTS = [
    FULL,
    point("craig", 0.1, 3.0, 1.0),  # 2 x 3 over the reference (1, 4)
    point("craig", 0.05, 5.0, 2.0),  # and 2 x 2 more
    point("rs2", 0.1, 3.0, 3.0),  # 2 x 1, inside the above
    point("random", 0.1, 6.0, 4.0),  # the worst: on the front, covers nothing
]


def test_selectors_of_a_panel_have_points_on_its_front_and_areas():
    # Controls that save no time take no part.
    controls = [point(name, 1.0, 50.0, -9.0) for name in ("full-again", "untuned")]
    table = fronts(pd.DataFrame([*POINTS, *controls]))
    columns = ["selector", "points", "on_front", "hypervolume", "share", "worst_error"]
    assert table[columns].to_numpy().tolist() == [
        ["craig", 2, 2, 10, 1, 4],
        ["full", 1, 1, 0, 0, 4],
        ["random", 1, 1, 0, 0, 4],
        ["rs2", 1, 0, 2, 0.2, 4],
    ]
    assert table["records"][0] == "craig-0.05.json craig-0.1.json full.json"


def test_a_selector_leads_in_the_panels_where_its_area_is_largest():
    errors = {"full": 9, "rs2": 0, "craig": 0}
    tied = [point(name, 0.1, 2.0, error, dataset="dna") for name, error in errors.items()]
    slow = [point(name, 0.1, 0.5, 1.0, dataset="sst2") for name in ("full", "rs2")]
    table = fronts(pd.DataFrame([*POINTS, *tied, *slow]))
    assert table.loc[table["dataset"] == "sst2", "share"].isna().all()  # nothing is covered
    columns = ["selector", "panels", "panels_on_front", "panels_largest"]
    assert summary(table)[columns].to_numpy().tolist() == [
        ["craig", 2, 2, 2],
        ["full", 3, 2, 0],  # off the front where something is faster and no worse
        ["random", 1, 1, 0],
        ["rs2", 3, 2, 1],
    ]


def pairs(errors, **changes):
    """Return runs of RANDOM, and of RS2 whose errors are larger by `errors`."""
    rows = []
    for seed, error in enumerate(errors):
        rows.append(run("random", seed=seed, **changes))
        rows.append(run("rs2", seed=seed, relative_test_error=1.0 + error, **changes))
    return rows


def test_an_own_selector_is_contrasted_with_random_and_with_automata():
    made = paired_differences(pd.DataFrame([run(it) for it in ("random", "gradmatch", "mine")]))
    found = [(row.selector, row.baseline) for row in made.itertuples()]
    assert found == [("gradmatch", "random"), ("mine", "random"), ("mine", "gradmatch")]


@pytest.mark.parametrize("column", ["seed", "dataset", "search", "fraction", "refused"])
def test_runs_without_a_partner_make_no_difference(column):
    assert paired_differences(pd.DataFrame([run("random"), run("rs2", **{column: 7})])).empty


SETS = {"dna": [-1.0] * 5, "letter": [-2.0] * 3, "sst2": [-6.0]}


@pytest.mark.parametrize(
    ("rows", "place", "expected"),
    [
        (  # seed 0: -2, seed 1: -1
            [*pairs([-1.0, 0.0]), *pairs([-3.0, -2.0], scheduler="asha")],
            {"dataset": "satimage", "scheduler": ALL, "fraction": 0.1},
            (-1.5, -2, -1, "seeds", 2, 4),
        ),
        (  # three data sets count alike whatever their seeds
            [row for name, errors in SETS.items() for row in pairs(errors, dataset=name)],
            {"dataset": ALL, "fraction": 0.1},
            (-3, -6, -1, "data sets", 3, 9),
        ),
    ],
)
def test_panels_are_pooled_by_seeds_or_data_sets(rows, place, expected):
    row = only(pooled_differences(pd.DataFrame(rows)), **place)
    bounds = [f"error_difference{side}" for side in ("", "_low", "_high")]
    found = [row[name] for name in (*bounds, "over", "units", "pairs")]
    assert found[:3] == pytest.approx(expected[:3])
    assert tuple(found[3:]) == expected[3:]
    assert row["interval"] == ("95 %" if row["units"] > 2 else "range")
