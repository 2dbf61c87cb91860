"""The examples of the documentation for a user's own data and model, run as they stand there."""

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image
from sklearn.datasets import load_iris

from automata.datasets.own import load
from automata.datasets.own.tables import read_own
from automata.prediction.predict import predict
from automata.records import read_record
from automata.runs import pack

from .conftest import ROOT, Workflow

DOCS = ROOT / "docs"
PAGES = (DOCS / "own-data.md").read_text() + (DOCS / "extending.md").read_text()
EXAMPLES = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGES, re.DOTALL))
EXAMPLES["my_nets.py"] = (DOCS / "examples/my_nets.py").read_text()


def flowers(folder):
    """Write 150 real flowers, with a column of names that says nothing, and gaps."""
    data = load_iris(as_frame=True)
    table = data.data.iloc[:, 2:].set_axis(["petal_length", "petal_width"], axis=1)
    table["soil"] = np.random.default_rng(0).choice(["sand", "clay"], len(table))
    table["species"] = data.target_names[data.target]
    table.loc[::10, "petal_width"] = None
    table.to_csv(folder / "flowers.csv", index=False)


def reviews(folder):
    """Write 200 reviews, good or bad by one of their words."""
    words = {5: ["lovely", "great", "superb"], 1: ["dull", "awful", "bad"]}
    random = np.random.default_rng(0)
    stars = random.choice([1, 5], 200)
    texts = [
        f"The {random.choice(['food', 'room', 'film'])} was {random.choice(words[star])}. I'd say!"
        for star in stars
    ]
    pd.DataFrame({"review": texts, "stars": stars}).to_csv(folder / "reviews.csv", index=False)


def shapes(folder):
    """Write 90 small images of stripes: across, upright, or none."""
    random = np.random.default_rng(0)
    for name in ("across", "upright", "plain"):
        (folder / "shapes" / name).mkdir(parents=True)
        for number in range(30):
            image = random.integers(100, 156, (12, 12, 3))
            image[::2] += 90 * (name == "across")
            image[:, ::2] += 90 * (name == "upright")
            picture = Image.fromarray(image.astype(np.uint8))
            picture.save(folder / "shapes" / name / f"{number}.png")


# As they stand but for this: they would wait for whatever else is measured on this host.
TOGETHER = {"metering": {"exclusive": False}}
DATA = {"flowers": flowers, "reviews": reviews, "shapes": shapes}


def placed(name, folder, **config):
    """Return a workflow in `folder`, which gets the data and the configuration of an example."""
    for file, content in EXAMPLES.items():
        (folder / file).write_text(content)
    DATA[name](folder)
    return Workflow(folder, {**TOGETHER, **config}, [folder / f"{name}.yaml"])


def target(name):
    """Return a target of an example: of the first a figure, of the others the runs."""
    made = "figures/tradeoff/flowers.png" if name == "flowers" else "tables/runs.csv"
    return f"results/{name}/{made}"


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
    params=[
        "flowers",
        pytest.param("reviews", marks=pytest.mark.slow),
        pytest.param("shapes", marks=pytest.mark.slow),
    ],
    scope="module",
)
def example(request, tmp_path_factory):
    """Name and finished workflow of an example, in a folder with its data."""
    name = request.param
    workflow = placed(name, tmp_path_factory.mktemp(name))
    workflow.jobs = workflow.run(target(name))
    return name, workflow


def test_documentation_has_an_example_of_each_kind():
    assert EXAMPLES.keys() == {"flowers.yaml", "my_nets.py", "reviews.yaml", "shapes.yaml"}


@pytest.mark.parametrize("name", DATA)
def test_example_plans_its_runs_and_page(name, tmp_path):
    jobs = placed(name, tmp_path).plan()
    assert (jobs["prepare"], jobs["tune_and_keep"], jobs["build_page"]) == (1, 2, 1)
    assert jobs["fit_baselines"] == 1


def test_kept_models_are_as_good_on_a_users_rows_as_their_records_say(example, monkeypatch):
    name, workflow = example
    assert (workflow.folder / target(name)).exists()
    assert workflow.jobs["tune_and_keep"] == 2
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
        found = predict(model.parent, rows, factory)["prediction"].to_numpy()
        assert (found == classes).mean() == pytest.approx(record.test.accuracy, abs=1e-9)


@pytest.mark.parametrize("example", ["flowers"], indirect=True)
def test_claims_of_the_paper_are_not_checked_on_own_data(example, tmp_path):
    _, workflow = example
    again = placed("flowers", tmp_path, experiment="again", archives=["records.tar.xz"])
    pack(workflow.folder.rglob("record.json"), tmp_path / "records.tar.xz")
    again.run("tables")
    for tables in (workflow.folder / "results/flowers/tables", tmp_path / "results/again/tables"):
        made = {path.name for path in tables.iterdir()}
        assert "overview.md" in made
        assert not made & {"claims.md", "claims.csv"}


def add_row(table):
    rows = pd.read_csv(table)
    pd.concat([rows, rows.tail(1)]).to_csv(table, index=False)


def repaint(image):
    Image.fromarray(np.zeros((12, 12, 3), np.uint8)).save(image)


CHANGES = {
    "flowers": lambda folder: add_row(folder / "flowers.csv"),
    "reviews": lambda folder: add_row(folder / "reviews.csv"),
    "shapes": lambda folder: repaint(folder / "shapes/plain/0.png"),
}


def test_runs_are_repeated_for_other_data_alone(example, tmp_path):
    name, workflow = example
    assert not workflow.plan(target(name))
    shutil.copytree(workflow.folder, tmp_path / "copy")
    copy = Workflow(tmp_path / "copy", {}, [tmp_path / "copy" / f"{name}.yaml"])

    def jobs(**data):
        copy.config = {**TOGETHER, "data": data}
        planned = copy.plan()
        return planned["prepare"], planned["tune_and_keep"]

    assert jobs(mirror="elsewhere", cache="also-elsewhere") == (0, 0)
    vectors = {"source": None, "dimension": 7}
    assert jobs(vectors=vectors) == ((1, 2) if name == "reviews" else (0, 0))
    CHANGES[name](copy.folder)
    assert jobs() == (1, 2)


@pytest.mark.slow
def test_example_goes_all_the_way_to_its_page(example):
    name, workflow = example
    workflow.run()
    assert (workflow.folder / f"results/{name}/index.html").exists()


def test_name_of_a_data_set_may_end_like_a_number(tmp_path):
    content = yaml.safe_load(EXAMPLES["flowers.yaml"])
    content.update(datasets=["v2.0"], own_datasets={"v2.0": content["own_datasets"]["flowers"]})
    workflow = placed("flowers", tmp_path)
    workflow.configfiles[0].write_text(yaml.safe_dump(content))
    assert workflow.plan()["tune_and_keep"] == 2


def test_images_called_like_wildcards_are_prepared(tmp_path):
    workflow = placed("shapes", tmp_path)
    for number, called in enumerate(["x{y}.png", "{dataset}.png", "{ a,b}.png"]):
        image = tmp_path / f"shapes/plain/{number}.png"
        image.rename(image.with_name(called))
    assert workflow.plan(target("shapes"))["prepare"] == 1
