"""The points of the charts and the table of numbers, beside the table of trade-offs."""

import json
import shlex

import pytest

from automata.analysis import wording
from automata.analysis.study import Study, datasets
from automata.config.files import DEFAULTS, command, read_experiments
from automata.page import panels

CALL = command(["a config.yaml"])
START = "snakemake --cores all --configfile 'a config.yaml'"


@pytest.fixture(scope="module")
def tables(experiment):
    return Study(experiment / "tables")


def rows_of(group, column):
    """Return the rows that the chart of a data set draws, those that have `column`."""
    sets = group["chart"]["datasets"].values()
    return next(rows for rows in sets if rows and column in rows[0])


def point(group, *place):
    rows = rows_of(group, "selector")
    return next(row for row in rows if (row["panel"], row["title"]) == place)


def test_an_archived_run_is_made_again_by_its_axes(runs):
    archived = runs.assign(record=runs["record"].str.replace("/runs/", "/published/records/"))
    mine = archived.query("dataset == 'dna' and search == 'tpe' and selector == 'untuned'")
    full = archived.query("dataset == 'dna' and search == 'tpe' and selector == 'full'")
    for records, selectors in (
        ([*full["record"], *mine["record"]], ["full", "untuned"]),
        ([*mine["record"]], ["untuned"]),
    ):
        row = {**mine.iloc[0], "fraction": 0.0, "records": " ".join(records)}
        echo, call = panels.source(row, archived, CALL)["command"].split("\n")
        assert call == f"{START} again.yaml"
        axes = json.loads(shlex.split(echo)[1])
        (experiment,) = read_experiments([DEFAULTS], axes)
        assert experiment.selectors == axes["selectors"] == selectors
        assert axes.get("seeds", [0, 1, 2]) == axes["untuned_seeds"] == [0, 1, 2]
        assert "fractions" not in axes


def test_a_point_stands_and_speaks_as_the_table_says(tables):
    groups = [panels.data_set(name, tables, CALL) for name in datasets(tables.runs)]
    data = {group["title"]: group for group in groups}
    panel = "dataset == 'dna' and search == 'tpe' and fraction == 0.05 and selector == 'gradmatch'"
    row = tables.tradeoff.query(panel).iloc[0]
    shown = point(data["DNA"], "TPE, Hyperband", "AUTOMATA 5 %")
    assert data["DNA"]["rows"][0]["command"].startswith(f"{START} --force results/runs/dna/")
    median = tables.untuned["relative_test_error_median"].iloc[0]
    assert rows_of(data["DNA"], "median")[0]["median"] == median
    for column in ("speedup", "speedup_low", "relative_test_error_high"):
        assert shown[column] == pytest.approx(row[column], rel=1e-5)
    assert shown["Seeds"] == "0, 1, 2 (mean; brackets: 95 % t interval)"
    mine = tables.runs.query(panel).sort_values("best_validation_accuracy")
    assert shown["Best by validation"] == mine["best_configuration"].iloc[-1]
    refused = point(data["DNA"], "TPE, Hyperband", "RANDOM (fixed) 10 %")
    assert refused["Seeds"] == "0, 1 (mean; brackets: range)"
    unknown = point(data["TREC6"], "Random, Hyperband", "RANDOM (fixed) 10 %")
    assert unknown["Energy ratio"] == wording.MISSING
