"""`automata.tune`: one tuning job from Python, with the same record as in the workflow.

The job runs in a process of its own, because Ray, threads and CUDA change a whole process.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from threading import Event
from typing import Any

import pandas as pd

from automata.catalog import DATASETS
from automata.config.base import invalid
from automata.config.files import read_experiments
from automata.config.job import AXES, first_run
from automata.config.sources import contents_of
from automata.datasets.own.frames import FRAME, IMAGES, write_labelled
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import (
    KEPT,
    OWN_LINE,
    UserError,
    error_line,
    known_reason,
    printable,
    refusing,
)
from automata.experiment.status import progress_of
from automata.files import content_of, write_text
from automata.prediction.predict import Predictor
from automata.prediction.saved import read_model, write_model
from automata.records.measurement import joules
from automata.records.paths import MODEL, RECORD, job_of
from automata.records.record import Record, read_record, write_record
from automata.registry import CONTROLS

logger = logging.getLogger(__name__)

NAME = "data"
"""Name of a user's own data set in the record."""

REQUEST = "request.json"
"""File of a folder by which `tune` knows it as its own."""

FRACTION = 0.1
"""Size of the subsets of a selector that is given without one."""


@dataclass(frozen=True, repr=False)
class Tuned(Predictor):
    """A finished job, and its trained model."""

    record: Record
    """Everything that was measured."""
    dataset: Dataset
    """The data on which the model was trained."""

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, test accuracy {self.record.test.accuracy:.4f}>"

    @property
    def configuration(self) -> dict[str, Any]:
        """The best hyper-parameters."""
        return self.record.best.configuration

    @property
    def trials(self) -> pd.DataFrame:
        """A row per trial: hyper-parameters, status, epochs and validation score.

        A higher score is better: for `mcc` and `log_loss` it is a function of the metric.
        """
        return pd.DataFrame(
            {
                **trial.configuration,
                "status": trial.status,
                "epochs": trial.progress.epochs,
                "score": trial.score,
            }
            for trial in self.record.tuning.trials
        )

    @property
    def wall_seconds(self) -> float:
        """Wall time of the search and of the final training."""
        return sum(phase.wall_seconds for phase in self.record.phases)

    @property
    def energy_joules(self) -> float | None:
        """Energy of both; None if it is not known, or was obtained in two ways."""
        return joules(self.record.phases)

    def save(self, folder: str | Path) -> None:
        """Write `record.json` and `model.safetensors`, for `automata predict`, to a folder."""
        folder = Path(folder)
        write_record(self.record, folder / RECORD)
        write_model(folder / MODEL, self.model, self.saved)


def tune(
    data: Any,
    target: str | None = None,
    *,
    text: str | None = None,
    model: str | Mapping[str, Any] | None = None,
    search_space: Mapping[str, Any] | None = None,
    search: str | None = None,
    scheduler: str | None = None,
    selector: str | None = None,
    fraction: float | None = None,
    configurations: int | None = None,
    epochs: int | None = None,
    metric: str | None = None,
    class_weights: str | None = None,
    seed: int = 0,
    minutes: float = 5.0,
    own: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
) -> Tuned:
    """Tune hyper-parameters by a search such as `automata new` writes, in a process of its own.

    A probe of some epochs decides method and size, which are printed first, with the expected time.
    Arguments that are not None override single keys.

    Args:
        data: a DataFrame, of pandas or with `to_pandas`; a dict of columns; a pair (inputs,
            labels), the inputs a DataFrame, (n, features) numbers or (n, height, width[, 3]) uint8
            images; the path of a table or of a folder of images; or the name of a data set of the
            project.
        target: the column of the classes, in a DataFrame or table.
        text: the column of the texts, if texts are to be classified.
        model: a name, or `{"factory": "module:function", ...}`, of a module in a file.
        search_space: domains by hyper-parameter, as in `protocol.*.search_space`. They change the
            default ones, and None removes one; with another `model` they replace them.
        search: `random` or `tpe`; a method that you name is not compared with others.
        scheduler: `hyperband`, `asha`, `sha`, `none`, or with `selector="full"` also `one-epoch`.
        selector: the method that selects the subsets, or a control such as `full`, all rows.
        fraction: the size of a subset, as a share of the training rows. If only one of the two is
            given, the selector is `rs2`, the fraction 0.1.
        configurations: the number of trials.
        epochs: the most epochs of a training.
        metric: the metric that ranks the trials.
        class_weights: `none` or `balanced`.
        seed: decides configurations, initial weights, subsets and the order of the rows.
        minutes: the time that the largest suitable search may take here; the smallest takes longer
            if it must, which is printed first.
        own: further keys of `own_datasets`, such as `{"drop": ["id"]}`.
        settings: further keys of the configuration, by section; the arguments above win.
        folder: a folder, first new or empty, for unfinished work, from which an interrupted call
            resumes, and for the result, which a call with other arguments does not replace. None: a
            temporary one.

    Returns:
        The best configuration, the model, the trials, time and energy.

    Raises:
        UserError: in one line, for arguments or data that cannot be used, and if the job fails.
    """
    if not isinstance(minutes, Real) or not minutes > 0:
        raise UserError(f"minutes: {invalid(minutes, 'number > 0')}")
    if fraction is not None and selector is None:
        selector = "rs2"
    if selector is not None and selector not in CONTROLS and fraction is None:
        fraction = FRACTION
    methods = zip(AXES, (search, scheduler, selector, fraction), strict=True)
    asked = {key: [value] for key, value in methods if value is not None}
    protocol = {
        "model": model,
        "search_space": search_space,
        "configurations": configurations,
        "epochs": epochs,
        "metric": metric,
        "class_weights": class_weights,
    }
    request: dict[str, Any] = {
        "text": text,
        "own": own or {},
        "protocol": {key: value for key, value in protocol.items() if value is not None},
        "settings": {**(settings or {}), **asked, "seeds": [seed]},
        "minutes": float(minutes),
    }
    with tempfile.TemporaryDirectory(prefix="automata-") as temporary:
        work = Path(folder or temporary)
        try:
            work.mkdir(parents=True, exist_ok=True)
            others = any(not path.name.startswith(".") for path in work.iterdir())
            if others and not (work / REQUEST).exists():
                raise UserError(f"{work}: has other files; name a new or empty `folder`")
            (work / REQUEST).touch()
            request |= _source(data, target, work)
            request["sha256"] = {str(path): content_of(path) for path in _files(request)}
            return _tuned(json.dumps(request, default=_plain), work)
        except (UserError, OSError) as error:  # name the argument, not its file or key
            message = (known_reason(error) or str(error)).replace(f"own_datasets.{NAME}", "own")
            message = message.replace(str(work / FRAME), "data").replace(str(work / IMAGES), "data")
            message = re.sub(r"automata new --[\w-]+", "in own", message)
            if folder is None:
                message = message.replace(KEPT, "`folder` would keep finished work")
            raise UserError(message) from error


def _tuned(request: str, work: Path) -> Tuned:
    """Return the finished job that a `request` leads to; `work` may have the plan, or all."""
    plan, asked = work / "plan.json", work / REQUEST
    if not (plan.exists() and asked.read_text() == request):
        if (work / RECORD).exists():
            raise UserError(f"{work}: has the result of other arguments; name another `folder`")
        plan.unlink(missing_ok=True)
        write_text(asked, request)
        with _progress(work / "plan"):  # which has no log: it is starting
            run_command("recommend", work)
    found = json.loads(plan.read_text())
    sys.stdout.write("".join(f"{printable(line)}\n" for line in found["lines"]))
    (experiment,) = read_experiments([], found["config"], "tune")
    run = first_run(experiment)
    contents = contents_of(experiment, run.dataset, work / "contents.json", sys.path)
    job, outputs = job_of(experiment, run, contents), (work / RECORD, work / MODEL)
    data, encoding = work / "data.safetensors", work / "encoding.json"
    if not (all(map(Path.exists, outputs)) and read_record(work / RECORD).job == job):
        arguments = "--job", job.model_dump_json(), "--work", work / "job", "--output", *outputs
        with _progress(work / "job"):
            run_command("tune", data, encoding, *arguments)
    factory = getattr(job.settings.protocol.model, "factory", None)
    trained = read_model(work / MODEL, factory)
    return Tuned(*trained, read_record(work / RECORD), read_dataset(data))


@contextmanager
def _progress(job: Path) -> Iterator[None]:
    """Show on a terminal what `automata status` says of a job's folder, while the body runs."""
    ended, began = Event(), time.time()

    def show() -> None:
        while not ended.wait(2.0):
            with suppress(OSError):  # the job has ended and removes its files
                line = progress_of(job, began, time.time())
                width = shutil.get_terminal_size().columns - 1
                sys.stderr.write(f"\r{line:.{width}}\033[K")
        sys.stderr.write("\r\033[K")

    with ThreadPoolExecutor(1) as pool:
        if sys.stderr.isatty():
            pool.submit(show)
        try:
            yield
        finally:
            ended.set()


def run_command(*arguments: object) -> None:
    """Run a command of `automata` in a process that imports what this one can.

    Raises UserError with the error line of the command. Ctrl-C ends the command too.
    """
    others = ("AUTOMATA_", "RAY_", "TUNE_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(others)}
    paths = [path or str(Path.cwd()) for path in sys.path if isinstance(path, str)]
    environment |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "automata", *map(str, arguments)]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    pipes |= {"stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    lines: list[str] = []
    with subprocess.Popen(command, env=environment, **pipes) as process:
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                logger.info("%s", lines[-1])
        except BaseException:
            process.terminate()  # as Ctrl-C does
            process.communicate()
            raise
    if process.returncode:
        failure = UserError(OWN_LINE.sub("", error_line(lines)))
        failure.add_note("\n".join(lines))
        raise failure


def _plain(value: Any) -> Any:
    """Return a value for JSON: NumPy's and pandas's as those of Python, others as texts."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _files(request: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the user's files and folders: with changed ones the job needs another plan."""
    vectors = request["settings"].get("data")
    for key in ("vectors", "source"):
        vectors = vectors.get(key) if isinstance(vectors, Mapping) else None
    named = [request["path"], *map(request["own"].get, ("test", "validation")), vectors]
    yield from (Path(it) for it in named if isinstance(it, str | Path) and Path(it).exists())


def _source(data: Any, target: str | None, work: Path) -> dict[str, Any]:
    """Return name, path and target of the data; a data set of the project has no path."""
    if isinstance(data, str) and data in DATASETS:
        return {"name": data, "path": None}
    if not isinstance(data, (str, Path)):
        valid = "a path, a name, a frame or dict of columns with one name and type each, or a "
        valid += "pair: inputs, a dense array or frame, and labels of shape (n,), not one-hot"
        with refusing("tune: data", data, valid):
            data, target = write_labelled(data, target, work)
    return {"name": NAME, "path": str(data), "target": target}
