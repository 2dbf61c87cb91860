"""The published results: their tables come out of their records again, on any machine."""

import shutil

import pandas as pd
import pytest
import yaml

from automata.analysis.tables import read_csv
from automata.config.files import command
from automata.page.build import page

from .conftest import ROOT, Workflow

REFERENCE = ROOT / "results/reference"
OWN = yaml.safe_load((ROOT / "config/reference/cifar10-small.yaml").read_text())["own_datasets"]
NAMES = sorted(path.parent.name for path in REFERENCE.glob("*/records.tar.xz"))
assert {"default", "protocol"} <= set(NAMES)


def assert_same(found, expected):
    """Check that two tables are the same but for the paths of records; texts, to the byte."""
    if expected.suffix != ".csv":
        assert found.read_text() == expected.read_text(), expected
        return
    one, other = pd.read_csv(found), pd.read_csv(expected)
    lineage = [column for column in other if "record" in column]
    one, other = one.drop(columns=lineage), other.drop(columns=lineage)
    pd.testing.assert_frame_equal(one, other, obj=str(expected))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_records_make_the_published_files_again_and_each_row_names_its_records(name, tmp_path):
    shutil.copy2(REFERENCE / name / "records.tar.xz", tmp_path)
    tables = {path.name: path for path in (REFERENCE / name / "tables").iterdir()}
    datasets = sorted(pd.read_csv(tables["runs.csv"])["dataset"].unique())
    config = {"experiment": "published", "archives": ["records.tar.xz"], "datasets": datasets}
    own = {dataset: OWN[dataset] for dataset in datasets if dataset in OWN}
    workflow = Workflow(tmp_path, {**config, "own_datasets": own})
    assert workflow.run("tables") == {"unpack": 1, "collect": 1, "tabulate": 1, "tables": 1}
    assert workflow.plan("figures") == {"plot": 1, "figures": 1}

    made = tmp_path / "results/published"
    assert {"runs.csv", "untuned.csv", "overview.md", "tradeoff.csv", "energy.md"} <= set(tables)
    for file, path in tables.items():
        assert_same(made / "tables" / file, path)

    published = REFERENCE / name / "index.html"
    if published.exists():
        shutil.copytree(published.parent / "figures", made / "figures")
        again = page(made, command(["config/reference/protocol.yaml"]))
        assert again == published.read_text(), "python -m tools.republish"

    folder = "results/published/records"
    records = {str(path.relative_to(tmp_path)) for path in tmp_path.glob(f"{folder}/**/*.json")}
    for table in ("runs", "ratios", "tradeoff", "untuned"):
        rows = read_csv(made / f"tables/{table}.csv")
        named = rows["record" if "record" in rows else "records"].str.split(" ").explode()
        assert set(named) <= records, table
