"""A kept model predicts the same for a user's files as for the prepared rows, however written."""

import json
import logging
import subprocess
import sys
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from PIL import Image

import automata
from automata.cli.commands import predict
from automata.config.data import Preparation
from automata.config.job import Job
from automata.config.protocol import OwnModel
from automata.datasets.prepare import prepare
from automata.errors import UserError
from automata.files import sha256
from automata.models.classifier import build_model
from automata.prediction.predict import load
from automata.prediction.saved import read_model, write_model
from automata.training.evaluation import evaluate
from support.keeping import keep

EXAMPLES = Path(__file__).parents[3] / "docs/examples"
RANDOM = np.random.default_rng(0)
OWN = {
    "image": {},
    "text": {"text": "review", "target": "species"},
    "tabular": {"target": "species", "drop": ["review"], "categorical": ["code"]},
}


def write_table(file, rows, words):
    """Write numbers with gaps, codes that are no numbers, categories and texts."""
    frame = {
        "height": np.where(np.arange(rows) % 7, RANDOM.normal(100, 30, rows), np.nan),
        "code": RANDOM.choice(["01", "02", "10"], rows),
        "soil": RANDOM.choice(words, rows),
        "review": [" ".join(RANDOM.choice(words, n)) for n in RANDOM.integers(1, 9, rows)],
        "species": RANDOM.choice(["setosa", "virginica"], rows),
    }
    pd.DataFrame(frame).to_csv(file, index=False)


def write_images(folder, each):
    """Write images of several sizes, some of them transparent."""
    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            shape = (8 + number, 10, 3 + number % 2)
            pixels = RANDOM.integers(0, 256, shape).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")


class Kept:
    """A model with random weights in a file, and the data that it is for."""

    def __init__(self, kind, folder):
        train, self.test = folder / "train", folder / "test"
        if kind == "image":
            write_images(train, 20)
            write_images(self.test, 5)
        else:
            train, self.test = folder / "train.csv", folder / "test.csv"
            write_table(train, 60, ["sand", "clay", "it's"])
            write_table(self.test, 30, ["sand", "clay", "loam"])
        own = {"kind": kind, "path": str(train), "test": str(self.test), **OWN[kind]}
        vectors = {"source": None, "dimension": 5} if kind == "text" else None
        preparation = Preparation.model_validate({"own": own, "vectors": vectors})
        self.data = prepare("mine", preparation, folder)
        self.file = folder / "model.safetensors"
        self.model, self.saved = keep(self.data, preparation, self.file)


@pytest.fixture
def flowers(tmp_path):
    return Kept("tabular", tmp_path)


@pytest.mark.parametrize("kind", OWN)
def test_rows_of_a_file_are_predicted_as_the_prepared_test_rows(tmp_path, kind, caplog):
    kept = Kept(kind, tmp_path)
    with caplog.at_level(logging.WARNING):
        found = load(kept.file).table(kept.test)
    assert (kind == "tabular") == any(
        "without a training row: 'loam'" in it for it in caplog.messages
    )
    test = kept.data.test
    with torch.inference_mode():
        expected = kept.model(test.ready(test.inputs)).double().softmax(dim=1).numpy()
    probabilities = found.filter(like="p(").to_numpy()
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5, atol=1e-7)
    classes = np.array(kept.data.metadata["class_names"])
    right = (classes[test.labels.numpy()] == found["prediction"].to_numpy()).mean()
    assert right == evaluate(kept.model, test).accuracy


def test_probabilities_follow_the_training_rows_and_the_answer_the_class_weights(flowers):
    weights = np.array([0.1, 4.0])
    plain = load(flowers.file).table(flowers.test)
    saved = flowers.saved.model_copy(update={"class_weights": weights.tolist()})
    write_model(flowers.file, flowers.model, saved)
    found = load(flowers.file).table(flowers.test)
    expected = plain.filter(like="p(").to_numpy() / weights  # Bayes' rule, up to a factor
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.filter(like="p("), expected, rtol=1e-5, atol=1e-7)
    assert found["prediction"].equals(plain["prediction"])


def test_what_is_read_is_not_replaced(flowers):
    for output in (flowers.file, flowers.test):
        with pytest.raises(UserError, match="is read; name another file"):
            predict(flowers.file, flowers.test, output=output)


def test_arrays_and_single_images_are_rows_too(tmp_path):
    kept = Kept("image", tmp_path)
    file = kept.test / "cat/0.png"
    np.savez(tmp_path / "new.npz", images=np.asarray(Image.open(file))[None])
    one, array = (load(kept.file).table(rows) for rows in (file, tmp_path / "new.npz"))
    assert one["row"].tolist() == ["0.png"]
    pd.testing.assert_frame_equal(one.drop(columns="row"), array.drop(columns="row"))
    with pytest.raises(UserError, match="rows: ndarray; one image, of shape"):
        load(kept.file).predict(np.asarray(Image.open(file)))


@pytest.mark.parametrize(
    ("runs", "problem"),
    [
        (["a"], r"runs/a/model\.safetensors: no such model; set models.keep"),
        (["a", "b"], "is of several data sets; name a run: .*runs/a, .*runs/b"),
        ([], "has no run$"),
    ],
)
def test_an_experiment_without_one_best_model_is_refused_in_one_line(tmp_path, runs, problem):
    (tmp_path / "disk/of/mine").mkdir(parents=True)
    (tmp_path / "results").symlink_to("disk/of/mine")
    for folder in ("runs/a", "mine"):
        (tmp_path / "results" / folder).mkdir(parents=True)
    best = {run: {"record": f"results/runs/{run}/record.json"} for run in runs}
    (tmp_path / "results/mine/best.yaml").write_text(json.dumps({"best": best}))
    with pytest.raises(UserError, match=problem) as caught:
        load(tmp_path / "results/mine").table(Path("unread.csv"))
    assert str(tmp_path / "results") in str(caught.value)


@pytest.mark.parametrize("text", ["", "\0", "- best", "best: {a: 1}", "best: {a: {record: 2}}"])
def test_a_damaged_best_yaml_is_refused_in_one_line(tmp_path, text):
    (tmp_path / "best.yaml").write_text(text)
    with pytest.raises(UserError, match=r"\A\S+best\.yaml: damaged: delete it, .*\Z"):
        load(tmp_path).table(Path("unread.csv"))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *(("kind", it) for it in ("image", "../text")),
        *(("inputs", it) for it in ([], [7], [10**9, 10**9])),
        *(("configuration", it) for it in ({}, {"hidden1": "8", "hidden2": 8})),
        *(("classes", it) for it in ([], ["a", "a"], ["a", "b", "c"])),
        *(("encoding", {it: [1]}) for it in ("columns", "mean", "separator")),
        ("encoding", {"scale": [0.0]}),
    ],
)
def test_a_forged_model_is_refused_in_one_line(flowers, part, value):
    if part == "encoding":
        value = flowers.saved.encoding | value
    write_model(flowers.file, flowers.model, flowers.saved.model_copy(update={part: value}))
    with pytest.raises(UserError, match=rf"\A{flowers.file}: no model can be made of it: .*\Z"):
        load(flowers.file).table(flowers.test)


def test_a_model_that_gives_no_numbers_is_refused(flowers):
    flowers.model.head.weight.data[0, 0] = np.nan
    write_model(flowers.file, flowers.model, flowers.saved)
    with pytest.raises(UserError, match=r"no probabilities for \S+, row 1: its training diverged"):
        load(flowers.file).table(flowers.test)


def test_a_file_that_is_no_model_or_has_an_altered_bit_is_refused_in_one_line(flowers):
    content = flowers.file.read_bytes()
    for place in [*range(0, len(content), 23), len(content) - 1]:
        altered = bytes([content[place] ^ (1 << place % 8)])
        flowers.file.write_bytes(content[:place] + altered + content[place + 1 :])
        with pytest.raises(UserError, match=rf"\A{flowers.file}: .*\Z") as caught:
            read_model(flowers.file)
    assert "its content does not match its digest: damaged; " in str(caught.value)
    for content in (b"", b"no model", b"\x80\x04."):
        flowers.file.write_bytes(content)
        with pytest.raises(UserError, match=r"\A.*of another version of the project.*\Z"):
            read_model(flowers.file)


def test_training_and_validation_rows_together_are_all_of_both(tmp_path):
    data = Kept("text", tmp_path).data
    both = data.train_with_validation()
    width = data.train.inputs.shape[1]
    assert torch.equal(both.inputs[: len(data.train), :width], data.train.inputs)
    assert torch.equal(both.labels, torch.cat([data.train.labels, data.validation.labels]))


def test_a_factory_runs_only_if_the_user_names_it(tmp_path, monkeypatch):
    kept = Kept("text", tmp_path)
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')")
    for folder in (tmp_path, EXAMPLES):
        monkeypatch.syspath_prepend(str(folder))

    def write_as(file, model, configuration, **options):
        """Write a model whose file names a factory with the right digest, as anybody can."""
        job = kept.saved.job.model_dump()
        job["settings"]["protocol"]["model"] = {"factory": f"{file.stem}:build", **options}
        job["files"] = {"model.factory": sha256(file)}
        changes = {"job": Job.model_validate(job), "configuration": configuration}
        write_model(kept.file, model, kept.saved.model_copy(update=changes))

    write_as(tmp_path / "trap.py", kept.model, {})
    for factory in (None, "my_nets:build"):
        with pytest.raises(UserError, match=r"\A.*made by trap:build: if you .*--factory.*\Z"):
            load(kept.file, factory).table(kept.test)
    assert not (tmp_path / "sprung").exists()
    width, own = {"width": 4}, OwnModel(factory="my_nets:build", dropout=0.1)
    model = build_model(kept.data, width, own)
    write_as(EXAMPLES / "my_nets.py", model, width, dropout=0.1)
    assert len(load(kept.file, "my_nets:build").table(kept.test)) == 30

    edited = tmp_path / "my_edited_nets.py"
    edited.write_text((EXAMPLES / "my_nets.py").read_text() + "VERSION = 1\n")
    module = import_module("my_edited_nets")
    edited.write_text(edited.read_text().replace("VERSION = 1", "VERSION = 2222"))
    own = own.model_copy(update={"factory": "my_edited_nets:build"})
    write_as(edited, build_model(kept.data, width, own), width, dropout=0.1)
    load(kept.file, "my_edited_nets:build")
    assert module.VERSION == 2222  # not as it was imported before
    edited.write_text("")
    with pytest.raises(UserError, match=r"my_edited_nets:build.*"):
        load(kept.file, "my_edited_nets:build")
    edited.write_text((EXAMPLES / "my_nets.py").read_text())
    with pytest.raises(UserError, match=r"\A.*my_edited_nets:build has changed since the training"):
        load(kept.file, "my_edited_nets:build")


def frame_of(kept):
    """Return the new rows with their types, as pandas reads them."""
    return pd.read_csv(kept.test, dtype={"code": str})


@pytest.mark.parametrize(
    "given",
    [
        pa.Table.from_pandas,  # how other libraries' frames are read is tested in test_api
        lambda frame: frame.to_records(index=False),
        lambda frame: frame.iloc[:, ::-1].assign(more=[{1}, "x", None] * 10),
        lambda frame: frame.drop(columns=["species", "review"]),
    ],
)
def test_frames_of_any_library_and_order_are_predicted_as_their_file(flowers, given):
    model = automata.load(flowers.file)
    expected, rows = model.table(flowers.test), given(frame_of(flowers))
    assert model.predict(rows).tolist() == expected["prediction"].tolist()
    np.testing.assert_array_equal(model.predict_proba(rows), expected.iloc[:, 2:])


def test_probabilities_have_the_index_of_a_pandas_frame(flowers):
    rows = frame_of(flowers)
    model, other = automata.load(flowers.file), rows.set_index(rows.index[::-1] + 7)
    assert model.predict_proba(other).index.tolist() == [*range(36, 6, -1)]
    assert model.predict_proba(dict(rows)).index.tolist() == [*range(30)]


def test_a_frame_has_the_numbers_and_dates_of_a_file_with_decimal_commas(tmp_path):
    days = pd.date_range("2020-01-31", periods=60)
    frame = pd.DataFrame({"weight": RANDOM.integers(1, 9999, 60) / 1000, "day": days})
    file, form = tmp_path / "train.csv", {"decimal": ",", "date_format": "%d.%m.%Y"}
    frame.assign(kind=["u", "v"] * 30).to_csv(file, index=False, sep=";", **form)
    own = {"kind": "tabular", "path": str(file), "target": "kind"}
    preparation = Preparation.model_validate({"own": own})
    keep(prepare("mine", preparation, tmp_path), preparation, tmp_path / "model.safetensors")
    model = automata.load(tmp_path / "model.safetensors")
    of_database = frame.assign(weight=frame["weight"].map(str).map(Decimal), day=days.date)
    for rows in (frame, of_database):
        same, expected = model.predict_proba(rows), model.predict_proba(file)
        pd.testing.assert_frame_equal(same, expected, check_exact=True)


@pytest.mark.parametrize("given", [list, pd.Series, np.array, pa.array, None])
def test_texts_are_predicted_as_their_file(tmp_path, given):
    kept = Kept("text", tmp_path)
    frame, model = frame_of(kept), automata.load(kept.file)
    rows = given(frame["review"]) if given else frame
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(kept.test))
    for rows in ("a lovely film " * 50, Path("missing.csv")):
        with pytest.raises(UserError, match=r"no such file; a single text goes in a list$"):
            model.predict(rows)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"height": [1], "code": ["01"]}, "rows: no column soil, which the model needs; it has he"),
        ({"height": [], "code": [], "soil": []}, "rows: there are no rows"),
        (
            {"height": [1, 2], "code": [1, 2], "soil": [1, "x"]},
            "rows: dict; .*; valid: a path, a frame",
        ),
        (np.zeros((2, 3)), "rows: no column height, code, soil, .*; it has x0, x1, x2"),
        (np.zeros((2, 3, 3), np.uint8), "rows: ndarray; Must pass 2-d input.*; valid: a path"),
        (None, "rows: NoneType; .*; valid: a path"),
        ("no_such.csv", "no_such.csv: not a readable .csv file: .*No such file"),
    ],
)
def test_rows_in_memory_that_do_not_fit_are_refused_in_one_line(flowers, rows, problem):
    with pytest.raises(UserError, match=rf"\A{problem}.*\Z"):
        automata.load(flowers.file).predict(rows)


def test_an_unknown_path_of_a_model_is_refused_in_one_line(tmp_path):
    with pytest.raises(UserError, match=rf"\A{tmp_path}/none: no such file or folder\Z"):
        automata.load(f"{tmp_path}/none")
    (tmp_path / "best.yaml").write_text("best: {}")
    with pytest.raises(UserError, match=r"best\.yaml: not a model: name its folder, or its model"):
        automata.load(f"{tmp_path}/best.yaml")


def test_images_that_are_no_bytes_are_refused_in_one_line(tmp_path):
    model = automata.load(Kept("image", tmp_path).file)
    with pytest.raises(UserError, match=r"\Arows: `images` must be uint8.* found float64 .*\Z"):
        model.predict(np.zeros((2, 8, 8)))


@pytest.mark.slow
def test_predictions_start_no_library_of_training_and_leave_random_numbers_alone(flowers):
    code = f"""
import sys, torch, pandas, automata
before = torch.get_rng_state()
automata.load({str(flowers.file)!r}).predict(pandas.read_csv({str(flowers.test)!r}))
assert torch.equal(torch.get_rng_state(), before)
print({{"ray", "snakemake", "codecarbon"}} & {{*sys.modules}})
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
