import json

import pytest

from automata import names
from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.page import panels
from automata.page.spec import SHAPES, compiled_panel, look


@pytest.fixture(scope="module")
def tables(experiment):
    return Study(experiment / "tables")


@pytest.fixture(scope="module")
def data(experiment, tables):
    return panels.data_sets(tables, read_csv(experiment / "tables/untuned.csv"))


@pytest.fixture(scope="module")
def panel(data):
    """DNA (TPE, Hyperband), in which one run was refused."""
    return data[0].panels[1]


def point(panel, selector, fraction):
    return next(p for p in panel.points if (p.selector, p.fraction) == (selector, fraction))


def test_every_marker_of_the_figures_has_a_shape():
    assert {names.SELECTORS[name].marker for name in names.SELECTORS} <= set(SHAPES)


def test_selectors_of_the_figures_do_not_look_the_same():
    looks = {(look(name)["colour"], look(name)["shape"]) for name in names.SELECTORS}
    assert len(looks) == len(names.SELECTORS)


def test_panel_compiles_to_vega_without_data():
    named = {table["name"]: table.get("values") for table in compiled_panel()["data"]}
    assert named["points"] == []


def test_panels_are_those_with_runs(data):
    assert [(group.title, len(group.panels)) for group in data] == [("DNA", 2), ("TREC6", 1)]


def test_point_is_a_row_of_the_tradeoff_table(panel, tables):
    row = panels.of(tables.tradeoff, panel.combination).query("selector == 'gradmatch'").iloc[0]
    shown = point(panel, "gradmatch", 0.05)
    assert shown.x["speedup"].mean == pytest.approx(row["speedup"], rel=1e-5)
    assert shown.x["speedup"].low == pytest.approx(row["speedup_low"], rel=1e-5)
    assert shown.x["energy_ratio"].mean == pytest.approx(row["energy_ratio"], rel=1e-5)
    assert shown.y.high == pytest.approx(row["relative_test_error_high"], rel=1e-5)
    assert len(panel.points) == len(panels.of(tables.tradeoff, panel.combination))


def test_point_tells_its_seeds(panel, runs):
    chosen = runs[(runs["dataset"] == "dna") & (runs["search"] == "tpe")]
    chosen = chosen[(chosen["selector"] == "gradmatch") & (chosen["fraction"] == 0.05)]
    seeds = point(panel, "gradmatch", 0.05).seeds
    assert [seed[0] for seed in seeds] == list(chosen["best_configuration"])
    assert [seed[1] for seed in seeds] == ["0", "1", "2"]


def test_refused_run_is_no_seed_of_its_point(panel):
    assert ("2 seeds", "0, 1") in point(panel, "random", 0.1).facts
    assert "1 of 18 runs not comparable" in panel.notes


def test_missing_combination_is_noted(data):
    assert "not run: RANDOM (fixed) 5 %" in data[1].panels[0].notes


def test_ratio_that_does_not_exist_is_none(data):
    shown = point(data[1].panels[0], "random", 0.1).x
    assert shown["energy_ratio"].mean is None
    assert shown["speedup"].mean > 1


def test_untuned_far_from_the_points_is_not_drawn(panel):
    draws = {"draws": 3, "relative_test_error": 88.0, "relative_test_error_median": 90.0}
    bounds = {"relative_test_error_low": 80.0, "relative_test_error_high": 95.0}
    row = panels.pd.DataFrame([{**draws, **bounds}])
    control = panels._untuned(row, panel.points)
    assert not control.inside
    assert control.label == "untuned: 90 pp [80, 95], 3 draws"


def test_data_of_the_script_is_json(data, tables):
    json.dumps(panels.script_data(data, tables.tradeoff), allow_nan=False)
