"""`python driver.py ORDERS RESULTS`: train what is ordered, with the `automata` that is imported.

Runs with the code of one version, and needs nothing but that: the driver of an older version is
its own. ORDERS is JSON with `trainings`, `jobs` and `timed`, lists of cases (see cases.py);
RESULTS is JSON with `package`, `code` and, under the names of the cases, what came out.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

import automata
from automata.code_versions import code_versions
from automata.config import Job, Preparation
from automata.datasets.prepared import Dataset, Split, read_dataset, write_dataset
from automata.names import METHODS
from automata.records import Record
from automata.seeds import derive
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.training.subsets import subset_plan
from automata.training.threads import limit_threads
from automata.tuning.checkpoints import read_checkpoint, write_checkpoint

Found = dict[str, Any]

NO_NUMBERS = {"seconds", "finished_at"}
"""What differs from run to run."""


def main() -> None:
    orders = json.loads(Path(sys.argv[1]).read_text())
    with tempfile.TemporaryDirectory(prefix="automata-driver-") as name:
        data = _written(Path(name))
        found = {
            "package": automata.__file__,
            "code": code_versions(),
            "selection": {name: code_versions(name)["selection"] for name in METHODS},
            "jobs": {case["name"]: _outcome(_ran(case, data)) for case in orders["jobs"]},
            "timed": {case["name"]: _costs(_ran(case, data)) for case in orders["timed"]},
            "trainings": {case["name"]: _trained(case, data) for case in orders["trainings"]},
        }
    Path(sys.argv[2]).write_text(json.dumps(found))


def _trained(case: Found, data: Path) -> Found:
    """Train from rung to rung, in one run and in runs that go on from the state of the last."""
    return {
        "in one run": _numbers_of(case, data, restored=False),
        "restored": _numbers_of(case, data, restored=True),
    }


def _numbers_of(case: Found, data: Path, restored: bool) -> Found:
    limit_threads(1)
    dataset = read_dataset(data / f"{case['data']}.safetensors")
    job = Job.model_validate(case["job"])

    def build() -> TrainingRun:
        return TrainingRun(
            dataset,
            case["configuration"],
            job.settings.protocol,
            subset_plan(job),
            derive(job.run.seed, job.run.training_stream),
            torch.device("cpu"),
        )

    run, file = build(), data / "state.pt"
    for epoch in case["rungs"]:
        run.train_to(epoch)
        run.evaluate()
        if restored:
            write_checkpoint(file, run.state())
            state = read_checkpoint(file)
            assert state is not None
            run = build()
            run.restore(state)
    scores = evaluate(run.model, dataset.test)
    weights = b"".join(tensor.numpy().tobytes() for tensor in run.model.state_dict().values())
    return {
        "progress": _numbers(run.progress.model_dump()),
        "test": [scores.accuracy, scores.loss],
        "weights": hashlib.sha256(weights).hexdigest(),
    }


def _ran(case: Found, data: Path) -> Record:
    # Trainings alone need no Ray, which takes seconds to import.
    from automata.datasets.prepare import prepare
    from automata.tuning.job import run_job

    with tempfile.TemporaryDirectory(prefix="automata-job-") as work:
        file = data / f"{case['data']}.safetensors"
        if not file.exists():
            write_dataset(prepare(case["data"], Preparation(), data), file)
        return run_job(Job.model_validate(case["job"]), file, Path(work))


def _outcome(record: Record) -> Found:
    """Return all decisions and numbers of a job."""
    final = record.final.progress.model_dump() if record.final else None
    return {
        "trials": _numbers([trial.model_dump() for trial in record.tuning.trials]),
        "best": record.tuning.best,
        "final": _numbers(final),
        "test": [record.test.accuracy, record.test.loss],
    }


def _costs(record: Record) -> Found:
    """Return seconds and joules of both windows, joules by how they were obtained."""
    windows = [record.tuning.measurement, record.final.measurement if record.final else None]
    measured = [window for window in windows if window is not None]
    costs = {
        "wall": sum(window.wall_seconds for window in measured),
        "CPU": sum(window.cpu_seconds or 0 for window in measured),
    }
    methods = {window.energy_method for window in measured}
    if len(methods) == 1 and None not in methods:
        costs[f"{methods.pop()} energy"] = sum(window.energy_joules or 0 for window in measured)
    return costs


def _numbers(value: Any) -> Any:
    """Return `value` without what differs from run to run; NaN as a text, which equals itself."""
    if isinstance(value, dict):
        return {key: _numbers(part) for key, part in value.items() if key not in NO_NUMBERS}
    if isinstance(value, list):
        return [_numbers(part) for part in value]
    return str(value) if value != value or value in (float("inf"), -float("inf")) else value


def _written(folder: Path) -> Path:
    """Write the data sets of the trainings, made up by a generator, to `folder`."""
    for name, make in {"table": _table, "texts": _texts, "images": _images}.items():
        write_dataset(make(torch.Generator().manual_seed(1)), folder / f"{name}.safetensors")
    return folder


def _table(generator: torch.Generator) -> Dataset:
    centres = torch.randn(3, 6, generator=generator)

    def split(rows: int) -> Split:
        labels = torch.randint(3, (rows,), generator=generator)
        return Split(centres[labels] + torch.randn(rows, 6, generator=generator), labels)

    return _dataset("tabular", 3, split, 120)


def _texts(generator: torch.Generator) -> Dataset:
    def split(rows: int) -> Split:
        words = torch.randint(2, 40, (rows, 7), generator=generator, dtype=torch.int32)
        lengths = torch.randint(1, 8, (rows, 1), generator=generator)
        words[torch.arange(7) >= lengths] = 0
        return Split(words, (words[:, 0] % 2).long())

    vectors = torch.randn(40, 5, generator=generator)
    return _dataset("text", 2, split, 80, vectors=vectors)


def _images(generator: torch.Generator) -> Dataset:
    def split(rows: int) -> Split:
        labels = torch.randint(3, (rows,), generator=generator)
        pixels = torch.randint(0, 200, (rows, 3, 8, 8), generator=generator, dtype=torch.uint8)
        return Split(pixels + 20 * labels.to(torch.uint8)[:, None, None, None], labels)

    extras = {"mean": torch.full((3,), 0.5), "scale": torch.full((3,), 0.3)}
    return _dataset("image", 3, split, 40, **extras)


def _dataset(kind: str, classes: int, split: Any, rows: int, **extras: torch.Tensor) -> Dataset:
    parts = (split(rows), split(rows // 3), split(rows // 4))
    made_by = {"preparation": Preparation().model_dump(mode="json"), "flip": True}
    described = {"counts": dict(zip(("train", "validation", "test"), map(len, parts), strict=True))}
    metadata = {"source": "made up", **made_by, **described}
    return Dataset("dna", kind, classes, *parts, metadata=metadata, extras=extras)


if __name__ == "__main__":
    main()
