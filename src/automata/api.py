"""`automata.tune`: one tuning job from Python, with the same record as in the workflow.

The job runs in a process of its own, because Ray, threads and CUDA change a whole process.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from automata.config.files import read_experiments
from automata.config.job import AXES, contents_of, first_run
from automata.config.protocol import OwnModel
from automata.datasets.catalog import DATASETS
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import KEPT, OWN_LINE, UserError, error_line
from automata.files import content_of, write_text
from automata.metering.measurement import complete_sum
from automata.models.classifier import Classifier
from automata.prediction.saved import keep_model, read_encoding, read_model
from automata.records import Record, read_record, write_record
from automata.registry import CONTROLS
from automata.runs import MODEL, RECORD, job_of

logger = logging.getLogger(__name__)

NAME = "data"
"""Name of a user's own data set in the record."""

FRACTION = 0.1
"""Size of the subsets of a selector that is given without one."""

FRAME, IMAGES = "data.parquet", "data.npz"
"""Files to which a user's frame and images are written."""


@dataclass(frozen=True)
class Tuned:
    """A finished job."""

    record: Record
    """Everything that was measured."""
    model: Classifier
    """The trained model, on the CPU, in evaluation mode."""
    dataset: Dataset
    """The data on which it was trained."""

    @property
    def configuration(self) -> dict[str, Any]:
        """The best hyper-parameters."""
        return self.record.best.configuration

    @property
    def trials(self) -> pd.DataFrame:
        """A row per trial: hyper-parameters, status, epochs and validation score."""
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
        """Energy of both; None if it can be neither measured nor estimated."""
        return complete_sum([phase.energy_joules for phase in self.record.phases])

    def save(self, folder: str | Path) -> None:
        """Write `record.json` and `model.safetensors`, for `automata predict`, to a folder."""
        folder = Path(folder)
        write_record(self.record, folder / RECORD)
        keep_model(folder / MODEL, self.record, self.dataset, self.dataset.encoding, self.model)


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
    """Tune hyper-parameters as `automata new` would write it, in a process of its own.

    A probe of some epochs decides method and size; it prints them first, with the expected time.
    Arguments that are not None override single keys.

    Args:
        data: a DataFrame of any library; a dict of columns; a pair (inputs, labels), the inputs a
            DataFrame, (n, features) numbers or (n, height, width[, 3]) uint8 images; the path of
            a table or of a folder of images; or the name of a data set of the project.
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
        folder: a folder for unfinished work, from which an interrupted call resumes, and for the
            result. None: a temporary one.

    Returns:
        The best configuration, the model, the trials, time and energy.

    Raises:
        UserError: in one line, for arguments or data that cannot be used, and if the job fails.
    """
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
        "minutes": minutes,
    }
    with tempfile.TemporaryDirectory(prefix="automata-") as temporary:
        work = Path(folder or temporary)
        work.mkdir(parents=True, exist_ok=True)
        try:
            request |= _source(data, target, work)
            return _tuned(json.dumps(request, default=str), work)
        except UserError as error:  # name the argument, not its file or key
            message = str(error).replace(f"own_datasets.{NAME}", "own")
            message = message.replace(str(work / FRAME), "data").replace(str(work / IMAGES), "data")
            if folder is None:
                message = message.replace(KEPT, "`folder` would keep finished work")
            raise UserError(message) from error


def _tuned(request: str, work: Path) -> Tuned:
    """Return the finished job that a `request` leads to; `work` may have the plan, or all."""
    plan, asked = work / "plan.json", work / "request.json"
    if not (plan.exists() and asked.read_text() == request):
        plan.unlink(missing_ok=True)
        write_text(asked, request)
        run_command("recommend", work)
    found = json.loads(plan.read_text())
    sys.stdout.write("".join(f"{line}\n" for line in found["lines"]))
    (experiment,) = read_experiments([], found["config"], "tune")
    run = first_run(experiment)
    contents = contents_of(experiment, run.dataset, work / "contents.json", sys.path)
    job, outputs = job_of(experiment, run, contents), (work / RECORD, work / MODEL)
    data, encoding = work / "data.safetensors", work / "encoding.json"
    if not (all(map(Path.exists, outputs)) and read_record(work / RECORD).job == job):
        arguments = "--job", job.model_dump_json(), "--work", work / "job", "--output", *outputs
        run_command("tune", data, encoding, *arguments)
    model = job.settings.protocol.model
    factory = model.factory if isinstance(model, OwnModel) else None
    with torch.random.fork_rng(devices=[]):  # a new model draws its first weights
        trained, _ = read_model(work / MODEL, factory)
    dataset = replace(read_dataset(data), encoding=read_encoding(encoding))
    return Tuned(read_record(work / RECORD), trained, dataset)


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


def _source(data: Any, target: str | None, work: Path) -> dict[str, Any]:
    """Return name, path, target and digest of the data; a data set of the project has no path."""
    if isinstance(data, str) and data in DATASETS:
        return {"name": data, "path": None}
    if not isinstance(data, (str, Path)):
        try:
            data, target = _written(data, target, work)
        except (ArithmeticError, ImportError, RuntimeError, TypeError, ValueError) as error:
            problem = "; ".join([type(data).__name__, *map(str, error.args)])
            valid = "a path, a name, a frame or dict of columns with one name and type each, or a "
            valid += "pair: inputs, a dense array or frame, and labels of shape (n,), not one-hot"
            raise UserError(f"tune: data: {problem}; valid: {valid}") from error
    digest = content_of(Path(data)) if Path(data).exists() else None
    return {"name": NAME, "path": str(data), "target": target, "sha256": digest}


def _written(data: Any, target: str | None, work: Path) -> tuple[Path, str | None]:
    """Write rows to a file in `work`; return the file, and the column of the classes."""
    if isinstance(data, tuple):
        inputs, labels = map(_converted, data)
        if inputs.ndim < 2 or labels.shape not in [(len(inputs),), (len(inputs), 1)]:
            raise ValueError(f"inputs of shape {inputs.shape}, labels of shape {labels.shape}")
        orders = [[*part.index] for part in data if isinstance(part, (pd.DataFrame, pd.Series))]
        if len(orders) == 2 and orders[0] != orders[1] and {*orders[0]} == {*orders[1]}:
            raise ValueError("one index in two orders: take labels.loc[inputs.index]")
        if inputs.ndim > 2:
            np.savez(work / IMAGES, images=inputs, labels=[*np.ravel(labels)], allow_pickle=False)
            return work / IMAGES, None
        if isinstance(inputs, np.ndarray):  # in which numbers beside texts are texts
            inputs = pd.DataFrame(data[0] if inputs.dtype.kind == "U" else inputs).add_prefix("x")
        name = pd.DataFrame(labels).columns[0] or "class"  # pandas names 0 what has no name
        target = target or str(name)
        column = pd.Series(np.ravel(labels), name=target)
        data = pd.concat([inputs.reset_index(drop=True), column], axis=1)
    pd.DataFrame(_converted(data)).rename(columns=str).to_parquet(work / FRAME, index=False)
    return work / FRAME, target


def _converted(data: Any) -> Any:
    """Return frames, series and dicts of columns in pandas, and anything else as an array."""
    if isinstance(data, (pd.DataFrame, pd.Series)):
        return data
    if isinstance(data, Mapping):
        frame = pd.DataFrame(dict(data))
        if len(frame) != min(map(len, data.values())):  # pandas joins series by their indexes
            raise ValueError("columns of different lengths or indexes")
        return frame
    if hasattr(data, "to_pandas"):
        return data.to_pandas()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__"):
        return pd.api.interchange.from_dataframe(data)
    if hasattr(data, "columns"):
        raise TypeError(f"convert {type(data).__name__} to pandas")  # an array has no names
    return np.asanyarray(data)
