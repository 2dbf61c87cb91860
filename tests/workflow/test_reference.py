"""The published results: their tables come out of their records again, on any machine."""

import re
import shutil

import pandas as pd
import pytest
import yaml

from automata.analysis.tables import read_csv
from automata.config.files import read_experiments
from automata.page.build import page
from support.published import assert_same

from .conftest import ROOT, Workflow

CONFIG, REFERENCE = ROOT / "config", ROOT / "results/reference"
OWN = yaml.safe_load((CONFIG / "reference/cifar10-small.yaml").read_text())["own_datasets"]
NAMES = sorted(path.parent.name for path in REFERENCE.glob("*/records.tar.xz"))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name != "default" else ()) for name in NAMES],
)
def test_records_make_the_published_files_again_and_each_row_names_its_records(name, tmp_path):
    shutil.copy2(REFERENCE / name / "records.tar.xz", tmp_path)
    tables = {path.name: path for path in (REFERENCE / name / "tables").iterdir()}
    datasets = sorted(pd.read_csv(tables["runs.csv"])["dataset"].unique())
    config = {"experiment": "published", "archives": ["records.tar.xz"], "datasets": datasets}
    own = {dataset: OWN[dataset] for dataset in datasets if dataset in OWN}
    assert Workflow(tmp_path, {**config, "own_datasets": own}).run("tables")["tune"] == 0

    made = tmp_path / "results/published"
    again = made / "tables"
    assert {"runs.csv", "untuned.csv", "overview.md", "tradeoff.csv", "energy.md"} <= set(tables)
    for file, path in tables.items():
        assert_same(again / file, path)

    published = REFERENCE / name / "index.html"
    if published.exists():
        shutil.copytree(published.parent / "figures", made / "figures")
        html = page(made, ["config/reference/published.yaml"])
        assert html == published.read_text(), "python -m tools.republish"
        links = re.findall(r'href="(?!#|https?:|data:)([^"]+)"', html)
        assert [link for link in links if not (published.parent / link).exists()] == []

    folder = "results/published/records"
    records = {str(path.relative_to(tmp_path)) for path in tmp_path.glob(f"{folder}/**/*.json")}
    for table in ("runs", "ratios", "tradeoff", "untuned"):
        rows = read_csv(again / f"{table}.csv")
        named = rows["record" if "record" in rows else "records"].str.split(" ").explode()
        assert set(named) <= records, table


def experiments(file):
    return read_experiments([CONFIG / "config.yaml", CONFIG / "reference" / file])


@pytest.mark.parametrize("file", sorted(path.name for path in CONFIG.glob("reference/*.yaml")))
def test_reference_experiments_have_all_controls(file):
    """One call on a GPU has no time for them."""
    runs = [it for it in experiments(file) if it.compute.device != "cuda"]
    again = set() if file.startswith("confirmation") else {"full-again"}  # few ways, three seeds
    for experiment in runs:
        assert {"full", "untuned", "rs2"} | again <= set(experiment.selectors)


def test_published_and_drawn_data_sets_are_those_of_the_protocol():
    assert {"default", "protocol"} <= set(NAMES)
    runs = pd.read_csv(REFERENCE / "protocol/tables/runs.csv")
    for file in ("published.yaml", "protocol.yaml"):
        datasets = [dataset for part in experiments(file) for dataset in part.datasets]
        assert sorted(datasets) == sorted(set(runs["dataset"]))
