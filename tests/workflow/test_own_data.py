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

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS / "own-data.md").read_text() + (DOCS / "extending.md").read_text()
EXAMPLES = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGES, re.DOTALL))
EXAMPLES["my_nets.py"] = (DOCS / "examples/my_nets.py").read_text()


def flowers(folder):
    """150 real flowers, with a column of names that says nothing, and gaps."""
    data = load_iris(as_frame=True)
    table = data.data.iloc[:, 2:].set_axis(["petal_length", "petal_width"], axis=1)
    table["soil"] = np.random.default_rng(0).choice(["sand", "clay"], len(table))
    table["species"] = data.target_names[data.target]
    table.loc[::10, "petal_width"] = None
    table.to_csv(folder / "flowers.csv", index=False)


def reviews(folder):
    """200 reviews, good or bad by one of their words."""
    words = {5: ["lovely", "great", "superb"], 1: ["dull", "awful", "bad"]}
    random = np.random.default_rng(0)
    stars = random.choice([1, 5], 200)
    texts = [
        f"The {random.choice(['food', 'room', 'film'])} was {random.choice(words[star])}. I'd say!"
        for star in stars
    ]
    pd.DataFrame({"review": texts, "stars": stars}).to_csv(folder / "reviews.csv", index=False)


def shapes(folder):
    """90 small images of stripes: across, upright, or none."""
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


def place(name, workflow):
    """Put the data and the configuration of an example into the folder of `workflow`."""
    for file, content in EXAMPLES.items():
        (workflow.folder / file).write_text(content)
    DATA[name](workflow.folder)
    workflow.config, workflow.configfiles = TOGETHER, [workflow.folder / f"{name}.yaml"]


def targets(name):
    """Return what is made of an example: of the first a figure, of the others the runs."""
    made = "figures/tradeoff/flowers.png" if name == "flowers" else "tables/runs.csv"
    return [f"results/{name}/{made}"]


def test_rows(name, record):
    """Write the test rows of an example as a user has them; return where, and their classes."""
    own = record.job.settings.data.own
    if name == "shapes":
        raw = load(name, own)
        np.savez("new.npz", images=raw.test.inputs.transpose(0, 2, 3, 1))
        return Path("new.npz"), np.array(raw.classes)[raw.test.labels]
    table = pd.read_csv(own.path, dtype=str)
    parts = read_own(own).parts
    rows = table.iloc[parts["test"].rows]
    rows.drop(columns=own.target).to_csv("new.csv", index=False)
    return Path("new.csv"), rows[own.target].to_numpy()


test_rows.__test__ = False


@pytest.fixture(
    params=[
        "flowers",
        pytest.param("reviews", marks=pytest.mark.slow),
        pytest.param("shapes", marks=pytest.mark.slow),
    ],
    scope="module",
)
def example(request, tmp_path_factory, make_workflow):
    """Name and finished workflow of an example, in a folder with its data."""
    name = request.param
    workflow = make_workflow(tmp_path_factory.mktemp(name))
    place(name, workflow)
    workflow.jobs = workflow.run(*targets(name))
    return name, workflow


def test_documentation_has_an_example_of_each_kind():
    assert EXAMPLES.keys() == {"flowers.yaml", "my_nets.py", "reviews.yaml", "shapes.yaml"}


@pytest.mark.parametrize("name", DATA)
def test_example_plans_its_runs_and_page(name, workflow):
    place(name, workflow)
    jobs = workflow.plan()
    assert (jobs["prepare"], jobs["tune_and_keep"], jobs["build_page"]) == (1, 2, 1)
    assert jobs["fit_baselines"] == 1


@pytest.mark.parametrize("example", ["flowers"], indirect=True)
def test_example_goes_all_the_way_to_its_figure(example):
    _, workflow = example
    assert (workflow.folder / "results/flowers/figures/tradeoff/flowers.png").exists()


@pytest.mark.parametrize("example", ["flowers"], indirect=True)
def test_claims_of_the_paper_are_not_checked_on_own_data(example, tmp_path, make_workflow):
    name, workflow = example
    again = make_workflow(tmp_path)
    place(name, again)
    again.config = {"experiment": "again", "archives": ["records.tar.xz"]}
    pack(workflow.folder.rglob("record.json"), tmp_path / "records.tar.xz")
    again.run("tables")
    for tables in (workflow.folder / "results/flowers/tables", tmp_path / "results/again/tables"):
        made = {path.name for path in tables.iterdir()}
        assert "overview.md" in made
        assert not made & {"claims.md", "claims.csv"}


def test_example_learns_more_than_the_largest_class(example):
    name, workflow = example
    records = [read_record(path) for path in workflow.folder.rglob("record.json")]
    assert workflow.jobs["tune_and_keep"] == 2
    assert [record.data.source for record in records] == [records[0].data.source] * 2
    assert name in records[0].data.source
    assert min(record.test.accuracy for record in records) > 0.6  # classes are of equal size


def test_kept_models_are_as_good_on_a_users_rows_as_their_records_say(example, monkeypatch):
    name, workflow = example
    monkeypatch.chdir(workflow.folder)
    monkeypatch.syspath_prepend(str(workflow.folder))
    rows, classes = test_rows(name, read_record(next(workflow.folder.rglob("record.json"))))
    models = list(Path("results/runs").rglob("model.safetensors"))
    assert len(models) == 2
    factory = "my_nets:build" if name == "reviews" else None
    for model in models:
        found = predict(model.parent, rows, factory)["prediction"].to_numpy()
        record = read_record(model.with_name("record.json"))
        assert (found == classes).mean() == pytest.approx(record.test.accuracy, abs=1e-9)


def test_second_call_runs_nothing(example):
    name, workflow = example
    assert not workflow.plan(*targets(name))


@pytest.fixture
def copy(example, tmp_path, make_workflow):
    """Name and workflow of a copy of a finished example."""
    name, workflow = example
    shutil.copytree(workflow.folder, tmp_path / "copy")
    files = [tmp_path / "copy" / f"{name}.yaml"]
    return name, make_workflow(tmp_path / "copy", TOGETHER, files)


def add_row(folder):
    table = pd.read_csv(folder)
    pd.concat([table, table.tail(1)]).to_csv(folder, index=False)


def repaint(file):
    Image.fromarray(np.zeros((12, 12, 3), np.uint8)).save(file)


CHANGES = {
    "flowers": lambda folder: add_row(folder / "flowers.csv"),
    "reviews": lambda folder: add_row(folder / "reviews.csv"),
    "shapes": lambda folder: repaint(folder / "shapes/plain/0.png"),
}


def test_changed_data_repeat_the_runs(copy):
    name, workflow = copy
    CHANGES[name](workflow.folder)
    jobs = workflow.plan()
    assert (jobs["prepare"], jobs["tune_and_keep"]) == (1, 2)


@pytest.mark.slow
def test_example_goes_all_the_way_to_its_page(copy):
    name, workflow = copy
    workflow.run()
    assert (workflow.folder / f"results/{name}/index.html").exists()


@pytest.mark.parametrize(
    ("data", "repeated"),
    [
        ({"mirror": "elsewhere", "cache": "also-elsewhere"}, ()),
        ({"vectors": {"source": None, "dimension": 7}}, ("reviews",)),
    ],
)
def test_data_settings_repeat_the_runs_whose_data_they_change(copy, data, repeated):
    name, workflow = copy
    workflow.config = {**TOGETHER, "data": data}
    jobs = workflow.plan()
    assert (jobs["prepare"], jobs["tune_and_keep"]) == ((1, 2) if name in repeated else (0, 0))


def test_name_of_a_data_set_may_end_like_a_number(workflow):
    flowers(workflow.folder)
    content = yaml.safe_load(EXAMPLES["flowers.yaml"])
    content.update(datasets=["v2.0"], own_datasets={"v2.0": content["own_datasets"]["flowers"]})
    own = workflow.folder / "flowers.yaml"
    own.write_text(yaml.safe_dump(content))
    workflow.configfiles = [own]
    assert workflow.plan()["tune_and_keep"] == 2


@pytest.mark.parametrize("called", ["x{y}.png", "{dataset}.png", "{ a,b}.png"])
def test_image_called_like_a_wildcard_is_prepared(workflow, called):
    place("shapes", workflow)
    image = workflow.folder / "shapes/plain/0.png"
    image.rename(image.with_name(called))
    assert workflow.plan(*targets("shapes"))["prepare"] == 1
