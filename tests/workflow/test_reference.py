"""The published results: their tables come out of their records again, on any machine."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from automata.analysis.tables import read_csv
from automata.config.files import read_experiments

ROOT = Path(__file__).parents[2]
CONFIG, REFERENCE = ROOT / "config", ROOT / "results/reference"
OWN = yaml.safe_load((CONFIG / "reference/cifar10-small.yaml").read_text())["own_datasets"]
NAMES = sorted(path.parent.name for path in REFERENCE.glob("*/records.tar.xz"))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.slow if name != "default" else ()) for name in NAMES
    ],
)
def redrawn(request, tmp_path_factory, make_workflow):
    """The folder of a published experiment, and that of the tables made from its records."""
    published = REFERENCE / request.param
    folder = tmp_path_factory.mktemp("reference")
    shutil.copy2(published / "records.tar.xz", folder)
    runs = pd.read_csv(published / "tables/runs.csv")
    datasets = sorted(runs["dataset"].unique())
    config = {
        "experiment": "again",
        "archives": ["records.tar.xz"],
        "datasets": datasets,
        "own_datasets": {name: OWN[name] for name in datasets if name in OWN},
    }
    workflow = make_workflow(folder, config=config)
    workflow.jobs = workflow.run("tables")
    return published, workflow


def test_something_is_published():
    assert {"default", "protocol"} <= set(NAMES)


def test_tables_are_the_published_ones(redrawn):
    """Texts to the byte: they have the numbers of the tables that are not published, rounded."""
    published, workflow = redrawn
    assert workflow.jobs["tune"] == 0
    again = workflow.folder / "results/again/tables"
    tables = {path.name: path for path in (published / "tables").iterdir()}
    assert {"runs.csv", "untuned.csv", "overview.md", "tradeoff.csv", "energy.md"} <= set(tables)
    for name, path in tables.items():
        if path.suffix == ".csv":
            expected, found = pd.read_csv(path), pd.read_csv(again / name)
            changing = [column for column in expected if "record" in column]
            pd.testing.assert_frame_equal(
                found.drop(columns=changing), expected.drop(columns=changing), obj=str(path)
            )
        else:
            assert (again / name).read_text() == path.read_text(), name


def experiments(file):
    return read_experiments([CONFIG / "config.yaml", file])


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIG.glob("reference/*.yaml")))
def test_reference_experiments_have_all_controls(name):
    """Those that record learning curves have them all the same: they are simulated."""
    runs = [it for it in experiments(CONFIG / "reference" / name) if it.learning_curves is None]
    again = set() if name.startswith("confirmation") else {"full-again"}  # few ways, three seeds
    for experiment in runs:
        assert {"full", "untuned", "rs2"} | again <= set(experiment.selectors)


def test_all_data_sets_of_the_protocol_are_drawn_again():
    def datasets(name):
        return sorted(
            dataset
            for experiment in experiments(CONFIG / "reference" / name)
            for dataset in experiment.datasets
        )

    runs = pd.read_csv(REFERENCE / "protocol/tables/runs.csv")
    assert datasets("published.yaml") == datasets("protocol.yaml") == sorted(set(runs["dataset"]))


def test_every_number_can_be_traced_to_a_record(redrawn):
    _, workflow = redrawn
    records = {
        path.relative_to(workflow.folder / "results/again/records").as_posix()
        for path in (workflow.folder / "results/again/records").rglob("record.json")
    }
    for table in ("runs", "ratios", "tradeoff", "untuned"):
        rows = read_csv(workflow.folder / f"results/again/tables/{table}.csv")
        column = "record" if "record" in rows else "records"
        for named in rows[column]:
            for path in named.split(" "):
                assert path.removeprefix("results/again/records/") in records
