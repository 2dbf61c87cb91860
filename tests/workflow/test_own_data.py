"""The examples of the documentation for a user's own data and model, run as they stand there."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import automata
from automata.datasets.own import load
from automata.datasets.own.tables import read_own
from automata.records.record import read_record

from .conftest import ROOT, Workflow

DOCS = ROOT / "docs"
PAGES = (DOCS / "own-data.md").read_text() + (DOCS / "extending.md").read_text()
EXAMPLES = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGES, re.DOTALL))
EXAMPLES["my_nets.py"] = (DOCS / "examples/my_nets.py").read_text()
TOGETHER = {"metering": {"exclusive": False}}
"""Changes the examples: they would wait for whatever else is measured on this host."""


def write_reviews(folder):
    """Write 200 reviews, good or bad by one of their words."""
    words = {5: ["lovely", "great", "superb"], 1: ["dull", "awful", "bad"]}
    random = np.random.default_rng(0)
    stars = random.choice([1, 5], 200)
    texts = [f"The film was {random.choice(words[star])}. I'd say!" for star in stars]
    pd.DataFrame({"review": texts, "stars": stars}).to_csv(folder / "reviews.csv", index=False)


def write_shapes(folder):
    """Write 90 small images of three shades."""
    random = np.random.default_rng(0)
    for shade, name in enumerate(["dark", "grey", "light"]):
        (folder / "shapes" / name).mkdir(parents=True)
        for number, noise in enumerate(random.integers(0, 90, (30, 12, 12, 3))):
            image = Image.fromarray((80 * shade + noise).astype(np.uint8))
            image.save(folder / "shapes" / name / f"{number}.png")


DATA = {"reviews": write_reviews, "shapes": write_shapes}
"""A table is run to its predictions in test_readme."""


def placed(name, folder):
    """Return a workflow in `folder`, which gets the data and the configuration of an example."""
    for file, content in EXAMPLES.items():
        (folder / file).write_text(content)
    DATA[name](folder)
    return Workflow(folder, TOGETHER, [folder / f"{name}.yaml"])


def rows_and_classes(name, record):
    """Write the test rows of an example as a user has them; return where, and their classes."""
    own = record.job.settings.data.own
    if name == "shapes":
        raw = load(name, own)
        np.savez("new.npz", images=raw.test.inputs.transpose(0, 2, 3, 1))
        return Path("new.npz"), np.array(raw.classes)[raw.test.labels]
    rows = pd.read_csv(own.path, dtype=str).iloc[read_own(own).parts["test"].rows]
    rows.drop(columns=own.target).to_csv("new.csv", index=False)
    return Path("new.csv"), rows[own.target].to_numpy()


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.slow) for name in DATA], scope="module"
)
def example(request, tmp_path_factory):
    """Name and finished workflow of an example, in a folder with its data."""
    name = request.param
    workflow = placed(name, tmp_path_factory.mktemp(name))
    workflow.jobs = workflow.run()
    return name, workflow


def test_example_ends_with_a_page_and_tables_without_claims_of_the_paper(example):
    name, workflow = example
    rules = ("prepare", "tune_and_keep", "fit_baselines", "build_page")
    assert [workflow.jobs[rule] for rule in rules] == [1, 2, 1, 1]
    results = workflow.folder / "results" / name
    made = {path.name for path in results.rglob("*.*")}
    assert {"index.html", "best.yaml", "overview.md"} <= made
    assert not made & {"claims.md", "claims.csv"}
    assert (results / f"figures/tradeoff/{name}.png").exists()


def test_kept_models_are_as_good_on_a_users_rows_as_their_records_say(example, monkeypatch):
    name, workflow = example
    monkeypatch.chdir(workflow.folder)
    monkeypatch.syspath_prepend(str(workflow.folder))
    factory = "my_nets:build" if name == "reviews" else None
    models = list(Path("results/runs").rglob("model.safetensors"))
    assert len(models) == 2
    for model in models:
        record = read_record(model.with_name("record.json"))
        assert name in record.data.source
        assert record.test.accuracy > 0.6  # classes are of equal size
        rows, classes = rows_and_classes(name, record)
        found = automata.load(model.parent, factory).table(rows)["prediction"].to_numpy()
        assert (found == classes).mean() == pytest.approx(record.test.accuracy, abs=1e-9)


def test_runs_are_repeated_for_other_data_alone(example, tmp_path):
    name, workflow = example
    shutil.copytree(workflow.folder, tmp_path / "copy")
    copy = Workflow(tmp_path / "copy", {}, [tmp_path / "copy" / f"{name}.yaml"])

    def jobs(**data):
        copy.config = {**TOGETHER, "data": data}
        planned = copy.plan()
        return planned["prepare"], planned["tune_and_keep"]

    assert jobs(mirror="elsewhere", cache="also-elsewhere") == (0, 0)
    vectors = {"source": None, "dimension": 7}
    assert jobs(vectors=vectors) == ((1, 2) if name == "reviews" else (0, 0))
    file = copy.folder / ("shapes/dark/0.png" if name == "shapes" else f"{name}.csv")
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")  # of the same size
    assert jobs() == (1, 2)
