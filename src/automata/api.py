"""`automata.tune`: one tuning job from Python, with the same record as in the workflow.

The job runs in a process of its own, because Ray, threads and CUDA change a whole process.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from automata.config.data import VECTORS
from automata.config.files import DEFAULTS, Config, combine, read_experiments
from automata.config.job import AXES, contents_of, first_run
from automata.config.protocol import OwnModel
from automata.datasets.catalog import DATASETS
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, write_dataset
from automata.errors import KEPT, KILLED, OWN_LINE, UserError
from automata.files import write_text
from automata.metering.measurement import complete_sum
from automata.models.classifier import Classifier
from automata.prediction.saved import keep_model, read_model
from automata.records import Record, read_record, sealed, write_record
from automata.registry import CONTROLS, OWN
from automata.runs import MODEL, RECORD, job_of

logger = logging.getLogger(__name__)

NAME = "data"
"""Name of a user's own data set in the record."""

FRACTION = 0.1
"""Size of the subsets of a selector that is given without one."""

FRAME, IMAGES = "data.parquet", "data.npz"
"""Files to which a user's frame and images are written."""

ARGUMENTS = {
    "datasets": "data",
    "searches": "search",
    "schedulers": "scheduler",
    "selectors": "selector",
    "fractions": "fraction",
    "seeds": "seed",
    "own_datasets": "own",
}
"""Keys of the configuration that `tune` sets, and the arguments that give their values."""


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
        search: `random` or `tpe`.
        scheduler: `hyperband`, `asha`, `sha`, `none`, or with `selector="full"` also `one-epoch`.
        selector: the method that selects the subsets, or a control: `full` uses all rows,
            `full-again` repeats `full`, and `untuned` tunes nothing.
        fraction: the size of a subset, as a share of the training rows, by default 0.1; without a
            `selector` of `rs2`. Controls ignore it.
        configurations: the number of trials.
        epochs: epochs of a trial that is not stopped early, and of the final training.
        metric: the metric that ranks the trials.
        class_weights: `none` or `balanced`.
        seed: decides configurations, initial weights, subsets and the order of the rows.
        minutes: the time that the largest suitable search may take here.
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
    if selector is not None and selector not in CONTROLS:
        fraction = fraction or FRACTION
    methods = zip(AXES, (search, scheduler, selector, fraction), strict=True)
    protocol = {
        "model": model,
        "search_space": search_space,
        "configurations": configurations,
        "epochs": epochs,
        "metric": metric,
        "class_weights": class_weights,
    }
    with tempfile.TemporaryDirectory(prefix="automata-") as temporary:
        work = Path(folder or temporary)
        work.mkdir(parents=True, exist_ok=True)
        try:
            name, source = _source(data, target, text, work)
            kind = source["kind"] if source else DATASETS[name].kind
            base: Config = {"datasets": [name]}
            if source:
                base["own_datasets"] = {name: {**source, **(own or {})}}
                base |= {"data": {"vectors": VECTORS}} if kind == "text" else {}
            asked: Config = {key: [value] for key, value in methods if value is not None}
            asked["seeds"] = [seed]
            asked["protocol"] = {kind: {k: v for k, v in protocol.items() if v is not None}}
            asked = combine(_checked(settings or {}, kind), asked)
            return _tuned(name, work, base, asked, minutes)
        except UserError as error:  # name the argument, not its file or key
            message = str(error).replace(f"own_datasets.{NAME}", "own")
            message = message.replace(str(work / FRAME), "data").replace(str(work / IMAGES), "data")
            raise UserError(message) from error


def _tuned(name: str, work: Path, base: Config, asked: Config, minutes: float) -> Tuned:
    """Return the finished job on the data set `name`, whose keys are in `base`."""
    (experiment,) = read_experiments([DEFAULTS], combine(base, asked), "tune")
    model, downloads = experiment.protocol_of(name).model, experiment.data
    factory = model.factory if isinstance(model, OwnModel) else None
    methods = [target for key in OWN.values() for target in getattr(experiment, key).values()]
    for target in filter(None, [factory, *methods]):
        module, _, function = target.partition(":")
        if module == "__main__":
            problem = "is defined in this session, but the job has a process of its own"
            raise UserError(f"tune: {target}: {problem}: write it to mine.py, name mine:{function}")
    cache = Path(downloads.cache)
    prepared = prepare(name, experiment.preparation(name), cache, downloads.mirror, {})
    for note in prepared.metadata.get("read", []):
        logger.info("%s", note)
    file, encoding, plan = work / f"{name}.safetensors", work / "encoding.json", work / "plan.json"
    write_dataset(prepared, file)
    write_text(encoding, sealed(prepared.encoding))
    config = json.dumps({"base": base, "changes": asked})
    run_command("recommend", file, "--config", config, "--hours", minutes / 60, "--output", plan)
    found = json.loads(plan.read_text())
    keys = combine(combine(base, found["keys"]), asked)
    (experiment,) = read_experiments([DEFAULTS], keys, "tune")
    contents = contents_of(experiment, name, work / "contents.json", sys.path)
    job = job_of(experiment, first_run(experiment), contents)
    protocol, slots = job.settings.protocol, job.settings.compute.concurrent_trials
    size = f"{protocol.configurations} configurations, {protocol.epochs} epochs, {slots} at once"
    said = f"{size}: {found['cost']}", found["reason"], found["advice"]
    sys.stdout.write("".join(f"{line}\n" for line in said if line))
    outputs = work / RECORD, work / MODEL
    if not (all(map(Path.exists, outputs)) and read_record(work / RECORD).job == job):
        arguments = "--job", job.model_dump_json(), "--work", work / "job", "--output", *outputs
        run_command("tune", file, encoding, *arguments)
    with torch.random.fork_rng(devices=[]):  # a new model draws its first weights
        trained, _ = read_model(work / MODEL, factory)
    return Tuned(read_record(work / RECORD), trained, prepared)


def run_command(*arguments: object) -> None:
    """Run a command of `automata` in a process that imports what this one can.

    Raises UserError with the error line of the command. Ctrl-C ends the command too.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AUTOMATA_")}
    environment["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
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
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    if process.returncode:
        reasons = [OWN_LINE.sub("", line) for line in lines if OWN_LINE.match(line)]
        failure = UserError([f"{KILLED}; {KEPT}", *reasons][-1])
        failure.add_note("\n".join(lines))
        raise failure


def _checked(settings: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return `settings`; raise UserError for arguments of `tune` and for a wrong section."""
    for key in settings.keys() & ARGUMENTS.keys():
        raise UserError(f"tune: settings.{key}: give the argument {ARGUMENTS[key]} instead")
    protocol = settings.get("protocol", {})
    if not isinstance(protocol, dict) or not isinstance(protocol.get(kind, {}), dict):
        problem = f"{json.dumps(protocol)} is not valid"
        raise UserError(f'tune: settings.protocol: {problem}; valid: {{"{kind}": {{...}}}}')
    return dict(settings)


def _source(
    data: Any, target: str | None, text: str | None, work: Path
) -> tuple[str, dict[str, Any]]:
    """Return the name of the data set, and its entry in `own_datasets` if it is the user's."""
    if isinstance(data, str) and data in DATASETS:
        return data, {}
    if not isinstance(data, (str, Path)):
        try:
            data, target = _written(data, target, work)
        except (ArithmeticError, ImportError, RuntimeError, TypeError, ValueError) as error:
            problem = "; ".join([type(data).__name__, *map(str, error.args)])
            valid = "a path, a name, a frame or dict of columns with one name and type each, or a "
            valid += "pair: inputs, a dense array or frame, and labels of shape (n,), not one-hot"
            raise UserError(f"tune: data: {problem}; valid: {valid}") from error
    if Path(data).is_dir() or Path(data).suffix == ".npz":
        return NAME, {"kind": "image", "path": str(data)}
    if target is None:
        raise UserError("tune: target: missing; the column of the classes")
    kind = {"kind": "text", "text": text} if text is not None else {"kind": "tabular"}
    return NAME, {**kind, "path": str(data), "target": target}


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
