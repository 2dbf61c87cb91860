"""`automata.tune` runs the same job as the workflow."""

from __future__ import annotations

import io
import json
import os
import random
import re
import runpy
import signal
import sys
import time
from _thread import interrupt_main
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pytest
import ray
import torch
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import automata
from automata import api
from automata.api import _source
from automata.cli import _parser, main
from automata.config.base import parsed
from automata.config.files import DEFAULTS, read_experiments
from automata.config.job import Job, first_run
from automata.datasets.prepared import write_dataset
from automata.errors import UserError
from automata.experiment import probe, recommended, request
from automata.experiment.new import new
from automata.experiment.recommended import ASHA, PATIENCE
from automata.experiment.sizes import Epoch
from automata.files import write_text
from automata.records.record import read_record
from automata.tuning.job import ModelFiles, complete_job, run
from automata.tuning.log import LogHeader, SearchLog
from support.searching import make_job

SETTINGS: dict[str, Any] = {"metering": {"exclusive": False}}
SMALL: dict[str, Any] = {"configurations": 3, "epochs": 4, "settings": SETTINGS}
HALF: dict[str, Any] = {**SMALL, "fraction": 0.5}


@pytest.fixture
def here(without_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands in this process, without Ray."""

    def run_command(*arguments: object) -> None:
        options = vars(_parser().parse_args([*map(str, arguments)]))
        if options.pop("name") == "recommend":
            request.recommend(options["folder"])
        else:
            job, files = parsed(Job, options["job"]), (options["output"][1], options["data"][1])
            where = options["data"][0], options["work"], options["output"][0]
            complete_job(job, *where, files=ModelFiles(*files))

    monkeypatch.setattr(api, "run_command", run_command)
    monkeypatch.setattr(probe, "PROBED", 1)
    monkeypatch.setattr(recommended, "watts_per_thread", lambda: 5.0)


in_process = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def iris() -> pd.DataFrame:
    data = load_iris(as_frame=True)
    return data.data.assign(species=data.target_names[data.target])


@in_process
def test_it_is_a_job_of_the_workflow(tmp_path: Path) -> None:
    settings = SETTINGS | {"protocol": {"tabular": {"reselect_every": 3, "epochs": 9}}}
    asked = HALF | {"metric": "log_loss", "class_weights": "balanced", "settings": settings}
    found = automata.tune("dna", scheduler="asha", **asked)
    job, protocol = found.record.job, found.record.job.settings.protocol
    assert (job.run.scheduler, job.run.selector, job.run.fraction) == ("asha", "rs2", 0.5)
    assert (protocol.configurations, protocol.patience) == (3, PATIENCE)
    assert (protocol.reselect_every, protocol.epochs) == (3, 4)  # arguments win over settings
    assert (protocol.metric, protocol.class_weights) == ("log_loss", "balanced")
    best = found.record.best
    assert best.score == pytest.approx(np.exp(-best.progress.evaluations[-1].loss))
    accuracy = f"test accuracy {found.record.test.accuracy:.4f}"
    assert repr(found) == f"<Tuned of dna: mlp, classes 0, 1, 2, {accuracy}>"
    write_dataset(found.dataset, tmp_path / "dna.safetensors")
    expected, _ = run(job, tmp_path / "dna.safetensors", tmp_path / "work")
    assert found.configuration == expected.best.configuration
    assert found.record.test == expected.test
    scores = [trial.score for trial in expected.tuning.trials]
    assert found.trials["score"].tolist() == scores
    assert found.wall_seconds > 0


@in_process
def test_without_a_method_it_does_what_new_writes(
    iris: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recommended, "probed", lambda data, job: [Epoch(0.5, 0.005)])
    monkeypatch.setattr(recommended, "cpus", lambda: 1)

    def recommend_only(command: str, folder: Path, *_: object) -> None:
        if command == "recommend":
            request.recommend(folder)

    monkeypatch.setattr(api, "run_command", recommend_only)
    frame = iris.assign(number=range(150))
    frame.to_csv("iris.csv", index=False)
    new(Path("iris.csv"), "species", None, None, hours=0.001)
    (experiment,) = read_experiments([DEFAULTS, Path("iris.yaml")])
    with pytest.raises(automata.UserError, match="model"):  # there is none
        automata.tune(frame, "species", minutes=0.06, folder=tmp_path / "tuned")
    (planned,) = read_experiments([], json.loads(Path("tuned/plan.json").read_text())["config"])
    assert planned.protocol_of("data") == experiment.protocol_of("iris")
    update = {"dataset": "iris"}
    assert first_run(planned).model_copy(update=update) == first_run(experiment)
    said = capsys.readouterr().out
    assert "number: left out: " in said
    assert f"\nmethod: {ASHA}, by predicted times: " in said


def test_an_edited_test_file_makes_a_new_plan(
    iris: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []

    def plan_nothing(command: str, folder: Path) -> None:
        commands.append(command)
        write_text(folder / "plan.json", '{"lines": []}')

    monkeypatch.setattr(api, "run_command", plan_nothing)
    test = tmp_path / "test.csv"
    for rows in (30, 30, 31):
        iris.tail(rows).to_csv(test, index=False)
        with pytest.raises(KeyError, match="config"):  # the plan has none
            automata.tune(iris, "species", folder=tmp_path / "kept", own={"test": test})
    assert commands == ["recommend"] * 2


@pytest.mark.slow
@pytest.mark.usefixtures("session_ray")
def test_the_process_of_the_caller_stays_as_it_was(iris: pd.DataFrame) -> None:
    value, small = ray.put("mine"), torch.tensor(1e-40)

    def state() -> list[Any]:
        generators = torch.get_rng_state().tolist(), random.getstate()
        handlers = [signal.getsignal(it) for it in (signal.SIGINT, signal.SIGTERM)]
        held = ray.get(value), torch.get_num_threads(), (small * 1).item()
        return [dict(os.environ), *held, *generators, *handlers]

    before = state()
    assert automata.tune(iris, "species", **SMALL).record.test.accuracy > 0
    assert state() == before


def test_the_error_of_a_job_is_one_of_the_caller(tmp_path: Path) -> None:
    paths = "--work", tmp_path / "job", "--output", tmp_path / "record.json"
    with pytest.raises(automata.UserError) as error:
        api.run_command("tune", tmp_path / "none", "--job", make_job().model_dump_json(), *paths)
    line, (output,) = str(error.value), error.value.__notes__
    assert line.startswith(f"{tmp_path}/none: ")
    assert output.endswith(f"automata tune: error: {line}")


@pytest.mark.slow
def test_ctrl_c_ends_the_job_and_the_same_call_resumes_it(
    iris: pd.DataFrame, tmp_path: Path
) -> None:
    settings = SETTINGS | {"protocol": {"tabular": {"patience": None}}}  # else it takes a second
    asked = {"configurations": 1, "epochs": 2000, "scheduler": "asha", "settings": settings}
    family: list[psutil.Process] = []

    def interrupt() -> None:
        log = tmp_path / "job/search/log.jsonl"
        while not (log.exists() and b'"reported"' in log.read_bytes()):
            time.sleep(0.1)
        children = psutil.Process().children()
        (job,) = [child for child in children if str(tmp_path / "job") in child.cmdline()]
        family.extend([job, *job.children(recursive=True)])
        interrupt_main()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            automata.tune(iris, "species", folder=tmp_path, **asked)
    finally:
        signal.signal(signal.SIGINT, before)
    assert psutil.wait_procs(family, 60)[1] == []
    found = automata.tune(iris, "species", folder=tmp_path, **asked)
    assert found.record.resumed
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "run_command", None)  # a finished result is there
        assert automata.tune(iris, "species", folder=tmp_path, **asked).record == found.record
        with pytest.raises(UserError, match="result of other arguments; name another `folder`"):
            automata.tune(iris, "species", folder=tmp_path, **{**asked, "seed": 1})


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        {"model": {"factory": "__main__:net"}},
        {"settings": {"own_selectors": {"mine": "__main__:net"}}, "selector": "mine"},
    ],
)
def test_code_of_the_session_itself_is_refused(iris: pd.DataFrame, keys: dict[str, Any]) -> None:
    with pytest.raises(automata.UserError, match=r"__main__:net: is defined in .* name mine:net$"):
        automata.tune(iris, "species", **keys)


RANDOM = np.random.default_rng(0)
WORDS = ["lovely", "dull", "film", "it's, in short,"]
TEXTS = [" ".join(RANDOM.choice(WORDS, number)) for number in RANDOM.integers(1, 9, 60)]
VECTORS = {"data": {"vectors": {"source": None, "dimension": 5}}}
GREY = RANDOM.integers(0, 256, (60, 8, 8)).astype(np.uint8)
MIXED = {
    "height": np.where(np.arange(60) % 7, RANDOM.normal(100, 30, 60), np.nan),
    "soil": RANDOM.choice(["sand", "clay", "it's"], 60),
    "day": pd.Timestamp("2020-01-31") + pd.to_timedelta(RANDOM.integers(0, 999, 60), "D"),
    "wet": RANDOM.choice([True, False], 60),
    "code": RANDOM.choice(["01", "02", "10"], 60),
    "kind": RANDOM.permutation([0, 1, 2] * 20),
}
GIVEN: dict[str, dict[str, Any]] = {
    "table": {"data": pd.DataFrame(MIXED), "target": "kind"},
    "truth": {"data": pd.DataFrame(MIXED).drop(columns="kind"), "target": "wet"},
    "text": {
        "data": pd.DataFrame({"review": TEXTS, "kind": ["good", "bad"] * 30}),
        "target": "kind",
        "text": "review",
        "settings": SETTINGS | VECTORS,
    },
    "image": {"data": (GREY, np.arange(60) % 2)},
}


@in_process
@pytest.mark.parametrize("name", GIVEN)
def test_all_ways_to_predict_agree_to_the_last_digit(name: str, tmp_path: Path) -> None:
    given = {**HALF, "configurations": 1, "epochs": 1, "minutes": 0.01, **GIVEN[name]}
    space = {"learning_rate": {"choice": [0.01]}} if name == "image" else None
    found = automata.tune(**given, search_space=space)
    found.save(tmp_path)
    assert read_record(tmp_path / "record.json") == found.record
    rows, file = given["data"], tmp_path / "new.csv"
    if name == "image":
        rows, file = rows[0], tmp_path / "new.npz"
        np.savez(file, images=rows)
    else:
        rows.to_csv(file, index=False)
    command = ["predict", str(tmp_path), str(file), "--output", str(tmp_path / "said.csv")]
    main(command)
    said = pd.read_csv(tmp_path / "said.csv", dtype=str, keep_default_na=False)
    for model in (found, automata.load(tmp_path)):
        assert model.predict(rows).tolist() == said["prediction"].tolist()
        shares = model.predict_proba(rows)
        assert [f"p({name})" for name in shares] == [*said][2:]
        assert shares.map(repr).to_numpy().tolist() == said.iloc[:, 2:].to_numpy().tolist()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_the_progress_until_the_job_ends(
    is_terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr(sys, "stderr", screen)
    SearchLog(tmp_path / "search/log.jsonl").append(
        LogHeader(job=make_job(), data_sha256="", environment={})
    )
    with api._progress(tmp_path):
        while is_terminal and "so far" not in screen.getvalue():
            time.sleep(0.1)
    shown = r"\rstarting, \d:\d\d:\d\d so far\x1b\[K.*\r\x1b\[K" if is_terminal else ""
    assert re.fullmatch(shown, screen.getvalue(), re.DOTALL)


ROWS = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}, index=[2, 0, 1])
KINDS = pd.Series(["u", "v", "u"], index=ROWS.index, name="kind")
TABLE, NUMBERS = ROWS.assign(kind=KINDS), torch.tensor([[1, 4], [2, 5], [3, 6]])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        *((data, "a b kind") for data in (pa.table(TABLE), dict(TABLE), (ROWS, KINDS))),
        ((ROWS, TABLE[["kind"]]), "a b kind"),
        ((pa.table(ROWS), [*KINDS]), "a b class"),
        ((ROWS.to_numpy().tolist(), KINDS.to_numpy()[:, None]), "x0 x1 class"),
        ((NUMBERS, [*NUMBERS[:, 0]]), "x0 x1 class"),
        ({"a": [1, 2], "kind": [0]}, "dict; All arrays must be of the same length"),
        ({"a": KINDS[:2], "kind": KINDS}, "dict; columns of different lengths or indexes"),
        ((TABLE, KINDS), "tuple; Duplicate column names"),
        ((ROWS, KINDS.sort_index()), "tuple; one index in two orders"),
        *(((NUMBERS, it), "tuple; inputs of shape .*, labels") for it in ([0, 1], np.eye(3))),
        *((it, ";") for it in (None, (csr_matrix(NUMBERS), KINDS), ((NUMBERS, KINDS), KINDS))),
    ],
)
def test_tables_of_any_library_keep_their_names(data: Any, expected: str, tmp_path: Path) -> None:
    target = None if isinstance(data, tuple) else "kind"
    if ";" in expected:
        with pytest.raises(automata.UserError, match=f"^tune: data: .*{expected}.*; valid: a path"):
            _source(data, target, tmp_path)
    else:
        source = _source(data, target, tmp_path)
        found = pd.read_parquet(source["path"])
        assert (" ".join(found), found.iloc[:, 0].tolist()) == (expected, [1, 2, 3])
        assert source["target"] == found.columns[-1]


@in_process
def test_a_dirty_table_is_read_as_own_says(tmp_path: Path) -> None:
    rows = "".join(f"{number % 9},{'süß' if number % 2 else 'herb'}\n" for number in range(120))
    (tmp_path / "wine.csv").write_bytes(f"a,taste\n{rows}1,\n".encode("cp1252"))
    own = {"encoding": "cp1252", "skip_rows": True}
    numbers = {"configurations": np.int64(3), "epochs": np.int64(4), "seed": np.int64(7)}
    found = automata.tune(tmp_path / "wine.csv", " taste ", own=own, **(HALF | numbers))
    assert found.record.job.run.seed == 7
    assert found.record.data.class_names == ["herb", "süß"]


SPECIES = {"target": "species"}


FLOWERS = pd.DataFrame({"a": [*range(60)] * 2, "species": ["x", "y"] * 60})
DARK = np.zeros((60, 8, 8)), [0, 1] * 30


@in_process
@pytest.mark.parametrize(
    ("data", "change", "message"),
    [
        (FLOWERS, {}, "target: missing"),
        (FLOWERS, {"target": "colour"}, "colour"),
        (FLOWERS, SPECIES | {"metric": "auc"}, r"^tune: protocol\.\S+: .*; valid: "),
        (FLOWERS.assign(a=[1, "x"] * 60), SPECIES, "^tune: data: .* column a .*; valid: .* one"),
        (FLOWERS, SPECIES | {"own": {"drop": ["b"]}}, r"^own\.drop: .*'b'|^own: data: .*b"),
        (DARK, {}, r"^own: data: `images` must"),
        (FLOWERS, SPECIES | {"minutes": None}, r"^minutes: null is not valid; valid: number > 0"),
        (FLOWERS, SPECIES | {"folder": __file__}, r": File exists$"),
        (FLOWERS, SPECIES | {"folder": Path(__file__).parent}, "has other files; name a new or em"),
    ],
)
def test_arguments_and_columns_that_cannot_be_used_are_one_line(
    data: Any, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(automata.UserError, match=message) as caught:
        automata.tune(data, **{**HALF, **change})
    assert "\n" not in str(caught.value)
    assert "parquet" not in str(caught.value)


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the examples of the documentation, whose modules can be imported."""
    folder = Path(__file__).parents[3] / "docs/examples"
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.mark.slow
@in_process
def test_the_example_of_the_documentation_runs(
    examples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(examples / "wine.py"), run_name="__main__")
    assert "learning_rate" in capsys.readouterr().out
    assert (tmp_path / "wine/model.safetensors").exists()


@in_process
@pytest.mark.usefixtures("examples")
def test_the_example_of_own_methods_tunes_on_real_data() -> None:
    own = {
        "own_searches": {"mine": "own_methods:Optuna"},
        "own_schedulers": {"mine": "own_methods:MedianStopping"},
        "own_selectors": {"mine": "own_methods:HighestLoss"},
        "protocol": {"tabular": {"reselect_every": 2}},
    }
    mine = {"search": "mine", "scheduler": "mine", "selector": "mine", "settings": SETTINGS | own}
    record = automata.tune("dna", **mine, configurations=8, epochs=8).record
    trained = [trial.progress for trial in record.tuning.trials]
    assert len(trained) == 8
    assert all(it.gradient_selections for it in trained if it.epochs > 2)
    assert record.test.accuracy > 0.8  # the largest class has 0.53 of the rows
