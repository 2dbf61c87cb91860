"""What a kept model says of a user's files is what it says of the prepared rows."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from automata.config.data import Preparation
from automata.config.job import Job, Run, Settings
from automata.config.protocol import Protocol
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, read_dataset, write_dataset
from automata.errors import UserError
from automata.files import sha256
from automata.models.build import build_model
from automata.prediction.predict import predict
from automata.prediction.saved import SavedModel, read_model, write_model
from automata.training.evaluation import evaluate

RANDOM = np.random.default_rng(0)
VALUES = {
    "tabular": {"hidden1": 8, "hidden2": 8},
    "text": {"hidden": 8},
    "image": {},
}
MODELS = {"tabular": "mlp", "text": "lstm", "image": "resnet18"}


def table(rows: int, soils: list[str]) -> pd.DataFrame:
    """Numbers with gaps, codes that are no numbers, dates, and categories."""
    frame = pd.DataFrame(
        {
            "height": RANDOM.normal(100, 30, rows),
            "code": RANDOM.choice(["01", "02", "10"], rows),
            "seen": pd.Series(RANDOM.integers(0, 900, rows)).map(
                lambda day: str(np.datetime64("2020-01-01") + day)
            ),
            "soil": RANDOM.choice(soils, rows),
            "species": RANDOM.choice(["setosa", "virginica"], rows),
        }
    )
    frame.loc[::7, "height"] = None
    return frame


def texts(rows: int, words: list[str]) -> pd.DataFrame:
    said = [" ".join(RANDOM.choice(words, RANDOM.integers(1, 9))) for _ in range(rows)]
    return pd.DataFrame({"review": said, "stars": RANDOM.choice([1, 5], rows)})


def images(folder: Path, each: int) -> None:
    """Images of several sizes, some of them transparent."""
    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            shape = (8 + number, 10, 3 + number % 2)
            pixels = RANDOM.integers(0, 256, shape).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")


def own_data(kind: str, folder: Path) -> tuple[dict[str, Any], Path]:
    """Write files of a data set; return its description and its test file."""
    train, test = folder / "train", folder / "test"
    if kind == "image":
        images(train, 20)
        images(test, 5)
        return {"kind": kind, "path": str(train), "test": str(test)}, test
    files = train.with_suffix(".csv"), test.with_suffix(".csv")
    if kind == "text":
        for file, rows, words in zip(
            files, (60, 30), (["good", "bad", "it's"], ["bad", "new", "good!"]), strict=True
        ):
            texts(rows, words).to_csv(file, index=False)
        own = {"text": "review", "target": "stars"}
    else:
        for file, rows, soils in zip(
            files, (60, 30), (["sand", "clay"], ["sand", "clay", "loam"]), strict=True
        ):
            table(rows, soils).to_csv(file, index=False)
        own = {
            "target": "species",
            "fill": {"numbers": "median"},
            "dates": ["seen"],
            "categorical": ["code"],
        }
    return {"kind": kind, "path": str(files[0]), "test": str(files[1]), **own}, files[1]


class Kept:
    """A model with random weights in a file, and the data that it is for."""

    def __init__(self, kind: str, folder: Path) -> None:
        own, self.test = own_data(kind, folder)
        vectors = {"source": None, "dimension": 5} if kind == "text" else None
        preparation = Preparation.model_validate({"own": own, "vectors": vectors})
        prepared = prepare("mine", preparation, folder)
        write_dataset(prepared, folder / "mine.safetensors")
        self.data: Dataset = read_dataset(folder / "mine.safetensors")
        space = {"learning_rate": {"choice": [0.1]}, "batch_size": {"choice": [4]}}
        space |= {name: {"choice": [value]} for name, value in VALUES[kind].items()}
        protocol = Protocol.model_validate(
            {
                "model": MODELS[kind],
                "epochs": 2,
                "configurations": 1,
                "reselect_every": 1,
                "search_space": space,
                "optimizer": "sgd",
            }
        )
        run = Run(
            dataset="mine", search="random", scheduler="asha", selector="rs2", fraction=0.5, seed=0
        )
        self.saved = SavedModel(
            job=Job(run=run, settings=Settings(protocol=protocol, data=preparation)),
            configuration=VALUES[kind],
            kind=kind,
            classes=self.data.metadata["class_names"],
            encoding=json.loads(json.dumps(prepared.encoding)),
            inputs=[*self.data.train.inputs.shape[1:]],
            extras={name: [*extra.shape] for name, extra in self.data.extras.items()},
        )
        torch.manual_seed(0)
        self.model = build_model(self.data, VALUES[kind], MODELS[kind]).eval()
        self.file = folder / "model.safetensors"
        write_model(self.file, self.model, self.saved)


@pytest.fixture(params=["tabular", "text", "image"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    return Kept(request.param, tmp_path)


@pytest.fixture
def flowers(tmp_path: Path) -> Kept:
    return Kept("tabular", tmp_path)


def test_rows_of_a_file_are_what_the_prepared_test_rows_are(kept: Kept) -> None:
    found = predict(kept.file, kept.test)
    test = kept.data.test
    with torch.inference_mode():
        expected = kept.model(test.ready(test.inputs)).double().softmax(dim=1).numpy()
    probabilities = found.filter(like="p(").to_numpy()
    np.testing.assert_allclose(probabilities, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    classes = np.array(kept.data.metadata["class_names"])
    right = (classes[test.labels.numpy()] == found["prediction"].to_numpy()).mean()
    assert right == evaluate(kept.model, test).accuracy


def test_target_is_not_needed_and_the_order_of_columns_does_not_matter(flowers: Kept) -> None:
    rows = pd.read_csv(flowers.test, dtype=str).drop(columns="species")
    rows[rows.columns[::-1]].to_csv(flowers.test.with_name("new.csv"), index=False)
    found = predict(flowers.file, flowers.test.with_name("new.csv"))
    pd.testing.assert_frame_equal(found, predict(flowers.file, flowers.test))


def test_unknown_categories_are_told_in_one_line(
    flowers: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        predict(flowers.file, flowers.test)
    (line,) = [line for line in caplog.messages if "column 'soil'" in line]
    assert line.endswith("without a training row: loam")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.drop(columns=["soil"]), "no column soil, which the model needs"),
        (
            lambda rows: rows.assign(height="tall"),
            "'tall' is no number below 3.4e38",
        ),
        (lambda rows: rows[:0], "there are no rows"),
    ],
)
def test_rows_that_do_not_fit_are_one_line(flowers: Kept, change: Any, said: str) -> None:
    change(pd.read_csv(flowers.test, dtype=str)).to_csv(flowers.test, index=False)
    with pytest.raises(UserError, match=said.replace("(", r"\(")) as caught:
        predict(flowers.file, flowers.test)
    assert "\n" not in str(caught.value)


def test_gaps_where_training_had_none_are_filled_as_configured(tmp_path: Path) -> None:
    own, test = own_data("tabular", tmp_path)
    for file in (Path(own["path"]), test):
        pd.read_csv(file, dtype=str).fillna({"height": "7"}).to_csv(file, index=False)
    encoding = prepare("mine", Preparation.model_validate({"own": own}), tmp_path).encoding
    height = pd.read_csv(own["path"])["height"]
    fill = encoding["columns"][0]["fill"]
    assert height.min() < fill < height.max()


def test_arrays_and_single_images_are_rows_too(tmp_path: Path) -> None:
    kept = Kept("image", tmp_path)
    one = predict(kept.file, kept.test / "cat" / "0.png")
    pixels = np.asarray(Image.open(kept.test / "cat" / "0.png"))
    np.savez(tmp_path / "new.npz", images=pixels[None])
    pd.testing.assert_frame_equal(
        one.drop(columns="row"), predict(kept.file, tmp_path / "new.npz").drop(columns="row")
    )
    assert one["row"].tolist() == ["0.png"]


def experiment(folder: Path, *runs: str) -> Path:
    """Write the best.yaml of an experiment with a data set for each of the `runs`."""
    best = {run: {"record": f"results/runs/{run}/record.json"} for run in runs}
    (folder / "results/mine").mkdir(parents=True, exist_ok=True)
    (folder / "results/mine/best.yaml").write_text(json.dumps({"best": best}))
    return folder / "results/mine"


def test_an_experiment_a_run_and_a_file_are_the_same_model(flowers: Kept, tmp_path: Path) -> None:
    run = tmp_path / "results/runs/a"
    run.mkdir(parents=True)
    flowers.file.rename(run / "model.safetensors")
    found = predict(run / "model.safetensors", flowers.test)
    for place in (run, experiment(tmp_path, "a")):
        pd.testing.assert_frame_equal(predict(place, flowers.test), found)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (["a"], r"runs/a/model\.safetensors: no such model; set models.keep"),
        (["a", "b"], "several data sets, or of none; name a run: .*runs/a, .*runs/b"),
        ([], "several data sets, or of none"),
    ],
)
def test_an_experiment_without_one_best_model_is_one_line(
    runs: list[str], said: str, flowers: Kept, tmp_path: Path
) -> None:
    (tmp_path / "results/runs/a").mkdir(parents=True)
    with pytest.raises(UserError, match=said):
        predict(experiment(tmp_path, *runs), flowers.test)


@pytest.mark.parametrize("content", [b"", b"no model", b"\x80\x04."])
def test_file_that_is_no_model_is_one_line(flowers: Kept, content: bytes) -> None:
    flowers.file.write_bytes(content)
    with pytest.raises(UserError, match="no model of this version") as caught:
        predict(flowers.file, flowers.test)
    assert "\n" not in str(caught.value)


def test_model_with_an_altered_bit_is_one_line(flowers: Kept) -> None:
    content = flowers.file.read_bytes()
    for place in [*range(0, len(content), 23), len(content) - 1]:
        altered = bytes([content[place] ^ (1 << place % 8)])
        flowers.file.write_bytes(content[:place] + altered + content[place + 1 :])
        with pytest.raises(UserError, match=f"^{flowers.file}: ") as caught:
            read_model(flowers.file)
        assert "\n" not in str(caught.value)
    assert "its content does not match its digest: damaged; " in str(caught.value)


def test_training_and_validation_rows_together_are_all_of_both(kept: Kept) -> None:
    both = kept.data.train_with_validation()
    train, validation = kept.data.train, kept.data.validation
    assert len(both) == len(train) + len(validation)
    width = train.inputs.shape[1]
    assert torch.equal(both.inputs[: len(train), :width], train.inputs)
    assert both.labels.tolist() == [*train.labels.tolist(), *validation.labels.tolist()]


NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.head = nn.Linear(inputs, classes)

    def features(self, inputs):
        return inputs

def build(dataset, configuration):
    return Net(dataset.train.inputs.shape[1], dataset.classes)
"""


def of_factory(flowers: Kept, code: Path) -> SavedModel:
    """Let the file say that `code` makes its model, with the right digest, as anybody can."""
    job = flowers.saved.job.model_dump()
    job["settings"]["protocol"]["model"] = {"factory": f"{code.stem}:build"}
    job["files"] = {"model.factory": sha256(code)}
    saved = flowers.saved.model_copy(update={"job": Job.model_validate(job)})
    write_model(flowers.file, build_model(flowers.data, VALUES["tabular"], "mlp"), saved)
    return saved


def test_a_factory_that_only_the_file_names_is_not_imported(
    flowers: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')")
    (tmp_path / "mine.py").write_text(NET)
    monkeypatch.syspath_prepend(str(tmp_path))
    of_factory(flowers, tmp_path / "trap.py")
    with pytest.raises(UserError, match="--factory") as caught:
        predict(flowers.file, flowers.test)
    assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match="made by trap:build: if you"):
        predict(flowers.file, flowers.test, "mine:build")
    assert not (tmp_path / "sprung").exists()


def test_own_model_is_used_with_the_factory_that_the_user_names(
    flowers: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept_net.py").write_text(NET)
    monkeypatch.syspath_prepend(str(tmp_path))
    saved = of_factory(flowers, tmp_path / "kept_net.py")
    model = build_model(flowers.data, {}, saved.job.settings.protocol.model)
    write_model(flowers.file, model, saved)
    assert len(predict(flowers.file, flowers.test, "kept_net:build")) == 30
