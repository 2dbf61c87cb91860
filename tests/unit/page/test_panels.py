"""The points of the charts and the table of numbers, beside the table of trade-offs."""

import pytest

from automata import names
from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.page import panels
from automata.page.chart import MARKS


@pytest.fixture(scope="module")
def tables(experiment):
    return Study(experiment / "tables")


@pytest.fixture(scope="module")
def untuned(experiment):
    return read_csv(experiment / "tables/untuned.csv")


@pytest.fixture(scope="module")
def data(tables, untuned):
    return {group.name: group for group in panels.data_sets(tables, untuned)}


def rows_of(group, column):
    """Return the rows that the chart of a data set draws, those that have `column`."""
    sets = group.chart["datasets"].values()
    return next(rows for rows in sets if rows and column in rows[0])


def point(group, panel, title):
    rows = rows_of(group, "selector")
    return next(row for row in rows if (row["panel"], row["title"]) == (panel, title))


def test_every_marker_of_the_figures_has_a_mark():
    points = [name for name in names.METHODS if name != "untuned"]
    used = {names.look(name).marker for name in points}
    assert used | set(names.SPARE_MARKERS) == set(MARKS)


def test_own_selector_has_the_colour_of_the_figures(tables, untuned):
    own = Study(tables.folder)
    renamed = tables.tradeoff.replace({"selector": {"random": "mine"}})
    own.__dict__.update(runs=tables.runs, ratios=tables.ratios, tradeoff=renamed)
    (group, *_) = panels.data_sets(own, untuned)
    encoding = next(it for it in group.chart["layer"] if it.get("name") == "points")["encoding"]
    colours, look = encoding["color"]["scale"], names.look("mine")
    assert (colours["domain"][-1], colours["range"][-1]) == ("mine", look.colour)


def test_data_sets_and_panels_are_those_with_runs(data):
    shown = {group.title: len(group.notes) for group in data.values()}
    assert shown == {"TREC6": 1, "DNA": 2}


def test_every_row_of_the_tradeoff_table_is_a_point_and_a_row(data, tables):
    for group in data.values():
        rows = tables.tradeoff[tables.tradeoff["dataset"] == group.name]
        assert len(rows_of(group, "selector")) == len(group.rows) == len(rows)


def test_point_lies_where_the_table_says(data, tables):
    rows = tables.tradeoff.query("dataset == 'dna' and search == 'tpe' and fraction == 0.05")
    row = rows[rows["selector"] == "gradmatch"].iloc[0]
    shown = point(data["dna"], "TPE, Hyperband", "AUTOMATA 5 %")
    for column in ("speedup", "speedup_low", "energy_ratio", "relative_test_error_high"):
        assert shown[column] == pytest.approx(row[column], rel=1e-5)
    assert shown["Speedup"].startswith(
        f"{row['speedup']:.3g} \N{MULTIPLICATION SIGN} [{row['speedup_low']:.3g}, "
    )
    assert shown["Seeds"] == "0, 1, 2 (brackets: 95 % bootstrap)"


def test_point_tells_the_configuration_with_the_highest_score(data, runs):
    mine = runs.query("dataset == 'dna' and search == 'tpe' and fraction == 0.05")
    mine = mine[mine["selector"] == "gradmatch"].set_index("best_validation_accuracy")
    shown = point(data["dna"], "TPE, Hyperband", "AUTOMATA 5 %")
    assert shown["Best by validation"] == mine["best_configuration"][mine.index.max()]


def test_refused_run_is_no_seed_of_its_point(data):
    shown = point(data["dna"], "TPE, Hyperband", "RANDOM (fixed) 10 %")
    assert shown["Seeds"] == "0, 1 (brackets: range)"
    assert "1 of 18 runs not comparable" in data["dna"].notes[1]


def test_missing_combination_is_noted(data):
    assert "not run: RANDOM (fixed) 5 %" in data["trec6"].notes[0]


def test_ratio_that_does_not_exist_is_none(data):
    shown = point(data["trec6"], "Random, Hyperband", "RANDOM (fixed) 10 %")
    assert shown["energy_ratio"] is None
    assert shown["speedup"] > 1


def test_untuned_far_from_the_points_is_noted_but_not_drawn(tables, untuned):
    end = "relative_test_error_"
    far = untuned.assign(**{f"{end}median": 90.0, f"{end}low": 80.0, f"{end}high": 95.0})
    (dna, _) = panels.data_sets(tables, far)
    assert "untuned: 90 pp [80, 95], 3 draws" in dna.notes[0]
    assert "untuned" not in str(dna.chart["layer"])


def test_band_of_untuned_does_not_squeeze_the_points(tables, untuned):
    (dna, _) = panels.data_sets(tables, untuned.assign(relative_test_error_high=95.0))
    assert max(row["high"] for row in rows_of(dna, "median")) < 20
    assert ", 95], 3 draws" in rows_of(dna, "median")[0]["label"]


def test_chart_is_the_same_each_time(data, tables, untuned):
    assert panels.data_sets(tables, untuned)[0].chart == data["dna"].chart


def test_axis_without_a_value_is_not_offered(tables):
    tradeoff = tables.tradeoff.assign(energy_ratio=float("nan"))
    bare = Study(tables.folder)
    bare.__dict__.update(runs=tables.runs, ratios=tables.ratios, tradeoff=tradeoff)
    (dna, _) = panels.data_sets(bare, None)
    assert "energy ratio" not in str(dna.chart["params"])
