"""One tuning job from Python, without Snakemake: the same job, with the same record."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automata.config.base import parsed
from automata.config.files import DEFAULTS, combine, read_experiments
from automata.config.inputs import Contents, contents_of
from automata.config.job import Run
from automata.datasets.catalog import DATASETS
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, write_dataset
from automata.errors import UserError
from automata.models.classifier import Classifier
from automata.records import Record, complete_sum, write_record
from automata.registry import CONTROLS
from automata.runs import MODEL, RECORD, job_of
from automata.tuning.job import keep_model, run

NAME = "data"
"""What a user's own data are called in the record."""

FRAME = "data.parquet"
"""The file that a user's frame is written to."""

PROTOCOL = ("model", "search_space", "configurations", "epochs", "metric", "class_weights")
"""Arguments of `tune` that are keys of the protocol."""

ARGUMENTS = {
    "datasets": "data",
    "searches": "search",
    "schedulers": "scheduler",
    "selectors": "selector",
    "fractions": "fraction",
    "seeds": "seed",
    "own_datasets": "own",
}
"""Keys of the configuration that an argument of `tune` decides."""


@dataclass(frozen=True)
class Tuned:
    """A finished job."""

    record: Record
    """All that is known of it."""
    model: Classifier
    """The trained model, on the CPU, in evaluation mode."""
    dataset: Dataset
    """What it was trained on."""

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
        """Of the search and of the training of the best configuration."""
        return sum(phase.wall_seconds for phase in self.record.phases)

    @property
    def energy_joules(self) -> float | None:
        """Of the same; None where nothing can be measured or estimated."""
        return complete_sum([phase.energy_joules for phase in self.record.phases])

    def save(self, folder: str | Path) -> None:
        """Write `record.json` and `model.safetensors`, for `automata predict`, to a folder."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_record(self.record, folder / RECORD)
        keep_model(folder / MODEL, self.record, self.dataset, self.dataset.encoding, self.model)


def tune(
    data: str | Path | pd.DataFrame | tuple[Any, Any],
    target: str | None = None,
    *,
    text: str | None = None,
    model: str | Mapping[str, Any] | None = None,
    search_space: Mapping[str, Any] | None = None,
    search: str = "random",
    scheduler: str = "hyperband",
    selector: str = "rs2",
    fraction: float = 0.1,
    configurations: int | None = None,
    epochs: int | None = None,
    metric: str | None = None,
    class_weights: str | None = None,
    seed: int = 0,
    own: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
) -> Tuned:
    """Tune hyper-parameters on subsets of the data, and train the best configuration on all.

    What is None is as in config/config.yaml, for the kind of the data.

    Args:
        data: a DataFrame; a pair (inputs, labels) of arrays, (n, features) numbers or
            (n, height, width[, 3]) uint8 images; the path of a table, or of a folder of images;
            or the name of a data set that the project knows.
        target: column of the classes, of a DataFrame or table.
        text: column of the texts, if they are what is classified.
        model: name, or `{"factory": "module:function", ...}`.
        search_space: hyper-parameter -> domain, as in `protocol.*.search_space`.
        search: `random` or `tpe`.
        scheduler: `hyperband`, `asha`, `sha`, `none`, or with `selector="full"` also `one-epoch`.
        selector: what chooses the subsets; `full`: none. The controls `full-again` and `untuned`
            repeat `full` and tune nothing.
        fraction: size of a subset, as a share of the training rows. `full` and the controls ignore
            it.
        configurations: trials.
        epochs: T, of a trial that is never stopped and of the last training.
        metric: what trials are compared by.
        class_weights: `none` or `balanced`.
        seed: fixes configurations, weights, subsets and order.
        own: further keys of `own_datasets`, such as `{"fill": {"numbers": "median"}}`.
        settings: further keys of the configuration, by section; the arguments above win.
        folder: for unfinished work: a call that is interrupted goes on from there. None: a
            temporary one.

    Returns:
        Configuration, model, trials, time and energy.

    Raises:
        UserError: in one line, for arguments and data that cannot be used.
    """
    given = locals()
    with ExitStack() as stack:
        if folder is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="automata-"))
        work = Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        try:
            name, described = _described(data, target, text, work)
            return _tuned(given, name, described, work)
        except UserError as error:  # it names what is written here: say the arguments
            said = str(error).replace(str(work / FRAME), "data")
            raise UserError(said.replace(f"own_datasets.{NAME}", "own")) from error


def _tuned(given: Mapping[str, Any], name: str, described: dict[str, Any], work: Path) -> Tuned:
    """Run the job of a call with the arguments `given`."""
    kind = described["kind"] if described else DATASETS[name].kind
    further = json.loads(json.dumps(given["settings"] or {}))
    for key in further.keys() & ARGUMENTS.keys():
        raise UserError(f"tune: settings.{key}: give the argument {ARGUMENTS[key]} instead")
    protocol = further.get("protocol", {})
    if not isinstance(protocol, dict) or not isinstance(protocol.get(kind, {}), dict):
        said = f"{json.dumps(protocol)} is not valid"
        raise UserError(f'tune: settings.protocol: {said}; valid: {{"{kind}": {{...}}}}')
    change: dict[str, Any] = {
        "datasets": [name],
        "own_datasets": {name: {**described, **(given["own"] or {})}} if described else {},
        "protocol": {kind: {key: given[key] for key in PROTOCOL if given[key] is not None}},
        "searches": [given["search"]],
        "schedulers": [given["scheduler"]],
        "selectors": [given["selector"]],
    }
    (experiment,) = read_experiments([DEFAULTS], combine(further, change))
    cell = {key: given[key] for key in ("search", "scheduler", "selector", "fraction", "seed")}
    if given["selector"] in CONTROLS:
        cell["fraction"] = CONTROLS[given["selector"]].fraction
    chosen = parsed(lambda: Run(dataset=name, **cell))
    contents = contents_of(experiment, name, Contents(work / "contents.json"), sys.path)
    job = job_of(experiment, chosen, contents)
    settings = experiment.data
    prepared = prepare(name, job.settings.data, Path(settings.cache), settings.mirror, {})
    file = work / f"{name}.safetensors"
    write_dataset(prepared, file)
    record, model = run(job, file, work / "job")
    return Tuned(record, model.cpu().eval(), prepared)


def _described(
    data: str | Path | pd.DataFrame | tuple[Any, Any],
    target: str | None,
    text: str | None,
    work: Path,
) -> tuple[str, dict[str, Any]]:
    """Return the name of the data set, and what `own_datasets` says of it; nothing if known."""
    if isinstance(data, str) and data in DATASETS:
        return data, {}
    if isinstance(data, tuple):
        inputs, labels = (np.asarray(part) for part in data)
        if inputs.ndim != 2:
            np.savez(work / "data.npz", images=inputs, labels=labels)
            return NAME, {"kind": "image", "path": str(work / "data.npz")}
        target = "class"
        data = pd.DataFrame(inputs, columns=[f"x{i}" for i in range(inputs.shape[1])])
        data[target] = labels
    if isinstance(data, pd.DataFrame):
        file = work / FRAME
        try:
            data.rename(columns=str).to_parquet(file, index=False)
        except (NotImplementedError, TypeError, ValueError) as error:  # by pandas and pyarrow
            said = "; ".join(map(str, error.args))
            remedy = "give each column a name of its own, and values of one type"
            raise UserError(f"tune: data: {said}: {remedy}") from error
        data = file
    if Path(data).is_dir() or Path(data).suffix == ".npz":
        return NAME, {"kind": "image", "path": str(data)}
    if target is None:
        raise UserError("tune: target: missing; the column of the classes")
    kind = {"kind": "text", "text": text} if text is not None else {"kind": "tabular"}
    return NAME, {**kind, "path": str(data), "target": target}
