"""`automata.tune` runs the same job as the workflow."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

import automata
from automata.config.files import DEFAULTS, read_experiments
from automata.config.job import Run
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.errors import UserError
from automata.prediction.predict import predict
from automata.records import read_record
from automata.registry import SCHEDULERS
from automata.runs import job_of
from automata.tuning.job import run

EXAMPLE = Path(__file__).parents[3] / "docs/examples/wine.py"
SMALL: dict[str, Any] = {
    "configurations": 3,
    "epochs": 4,
    "fraction": 0.5,
    "settings": {"metering": {"exclusive": False}},
}

pytestmark = pytest.mark.usefixtures("without_ray")


@pytest.fixture(scope="module")
def iris() -> pd.DataFrame:
    data = load_iris(as_frame=True)
    return data.data.assign(species=data.target_names[data.target])


def test_it_is_the_job_of_the_pipeline(tmp_path: Path) -> None:
    found = automata.tune("dna", scheduler="asha", **SMALL)
    change = {
        "datasets": ["dna"],
        "protocol": {"tabular": {"configurations": 3, "epochs": 4}},
        **SMALL["settings"],
    }
    (experiment,) = read_experiments([DEFAULTS], change)
    cell = Run(
        dataset="dna", search="random", scheduler="asha", selector="rs2", fraction=0.5, seed=0
    )
    job = job_of(experiment, cell, {})
    write_dataset(prepare("dna", job.settings.data, tmp_path), tmp_path / "dna.safetensors")
    expected, _ = run(job, tmp_path / "dna.safetensors", tmp_path / "work")
    assert found.record.job == job
    assert found.configuration == expected.best.configuration
    assert found.record.test == expected.test
    scores = [trial.score for trial in expected.tuning.trials]
    assert found.trials["score"].tolist() == scores
    assert found.wall_seconds > 0


def test_frames_and_arrays_are_the_same_data(iris: pd.DataFrame) -> None:
    frame = automata.tune(iris, "species", **SMALL)
    inputs = iris.drop(columns="species").to_numpy()
    arrays = automata.tune((inputs, iris["species"].to_numpy()), **SMALL)
    assert frame.record.test == arrays.record.test
    assert frame.record.test.accuracy > 0.5


def test_saved_model_predicts(iris: pd.DataFrame, tmp_path: Path) -> None:
    found = automata.tune(iris, "species", metric="log_loss", class_weights="balanced", **SMALL)
    found.save(tmp_path / "kept")
    iris.to_csv(tmp_path / "new.csv", index=False)
    right = predict(tmp_path / "kept", tmp_path / "new.csv")["prediction"] == iris["species"]
    assert right.mean() > 0.5
    record = read_record(tmp_path / "kept/record.json")
    assert record.job.settings.protocol.metric == "log_loss"
    assert record.best.score == pytest.approx(np.exp(-record.best.progress.evaluations[-1].loss))


def test_images_are_arrays_too() -> None:
    digits = load_digits()
    images = (digits.images[:60] * 15).astype(np.uint8)
    space = {"learning_rate": {"choice": [0.01]}}
    small = {**SMALL, "configurations": 1, "epochs": 1, "search_space": space}
    found = automata.tune((images, digits.target[:60] % 2), **small)
    assert found.dataset.kind == "image"
    assert found.dataset.train.inputs.shape[1:] == (3, 8, 8)


def test_methods_of_ones_own_are_found(iris: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE.parent))
    settings = SMALL["settings"] | {"own_selectors": {"highest-loss": "own_methods:HighestLoss"}}
    small = SMALL | {"settings": settings}
    found = automata.tune(iris, "species", selector="highest-loss", **small)
    assert found.record.job.settings.own == {"selector": "own_methods:HighestLoss"}


def test_settings_of_the_protocol_reach_it_and_arguments_win(iris: pd.DataFrame) -> None:
    asked = {"protocol": {"tabular": {"reselect_every": 3, "epochs": 9}}}
    found = automata.tune(iris, "species", **SMALL | {"settings": SMALL["settings"] | asked})
    protocol = found.record.job.settings.protocol
    assert (protocol.reselect_every, protocol.epochs) == (3, SMALL["epochs"])


@pytest.mark.parametrize(("selector", "fraction"), [("untuned", 0), ("full-again", 1)])
def test_controls_take_a_fraction_of_their_own(
    iris: pd.DataFrame, selector: str, fraction: float
) -> None:
    small = {key: value for key, value in SMALL.items() if key != "fraction"}
    found = automata.tune(iris, "species", selector=selector, **small)
    assert found.record.job.run.fraction == fraction


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_scheduler_is_documented(scheduler: str) -> None:
    assert f"`{scheduler}`" in str(automata.tune.__doc__)


def test_errors_can_be_caught_by_the_name_beside_tune() -> None:
    with pytest.raises(automata.UserError, match="target: missing"):
        automata.tune(pd.DataFrame({"a": [1]}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "target: missing"),
        ({"target": "colour"}, "colour"),
        ({"target": "species", "selector": "best"}, "selector"),
        (
            {"target": "species", "metric": "auc"},
            r"^tune: protocol\.\S+: [^;]*; valid: [^;]*$",
        ),
        ({"target": "species", "settings": {"searches": ["tpe"]}}, "settings.searches: .* search"),
        ({"target": "species", "settings": {"own_datasets": {}}}, "own_datasets: .* own instead"),
        ({"target": "species", "settings": {"protocol": 5}}, "settings.protocol: 5 .*tabular"),
    ],
)
def test_arguments_that_cannot_be_used_are_one_line(
    iris: pd.DataFrame, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        automata.tune(iris, **{**SMALL, **change})
    assert "\n" not in str(caught.value)


def test_durations_are_seconds(iris: pd.DataFrame, caplog: pytest.LogCaptureFixture) -> None:
    lengths = iris["petal length (cm)"]
    frame = iris.assign(**{"petal length (cm)": pd.to_timedelta(lengths, unit="s")})
    with caplog.at_level("INFO", logger="automata"):
        found = automata.tune(frame, "species", **SMALL)
    assert found.record.test == automata.tune(iris, "species", **SMALL).record.test
    assert "column 'petal length (cm)': durations become seconds" in caplog.text


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, "x"] * 75}, "^tune: data: .* column a .*: give each column a name of its own"),
        (
            {"sepal width (cm)": [f"flower {i}" for i in range(150)]},
            r"^own: data: column 'sepal width \(cm\)': it names rows.* drop leaves it out",
        ),
    ],
)
def test_columns_that_cannot_be_used_are_named_with_the_argument(
    iris: pd.DataFrame, columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        automata.tune(iris.assign(**columns), "species", **SMALL)
    assert "parquet" not in str(caught.value)
    assert "own_datasets" not in str(caught.value)


def test_two_columns_of_one_name_are_one_line(iris: pd.DataFrame) -> None:
    frame = pd.concat([iris, iris[["species"]]], axis=1)
    with pytest.raises(UserError, match=r"Duplicate column names found: .*'species', 'species'"):
        automata.tune(frame, "species", **SMALL)


def test_example_of_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "learning_rate" in capsys.readouterr().out
    assert (tmp_path / "wine/model.safetensors").exists()
