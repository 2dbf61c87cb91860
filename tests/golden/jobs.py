"""Small jobs whose records jobs.jsonl stores; `cd tests && python -m golden.jobs` adds new ones."""

import json
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from automata.config.job import Job
from automata.datasets.prepared import SPLITS, write_dataset
from automata.models.classifier import Classifier
from automata.records.record import Record
from automata.tuning import job as job_module
from automata.tuning.job import run
from golden.runs import DATA
from golden.store import add
from support.searching import make_job, train_here

STORED = Path(__file__).with_name("jobs.jsonl")

SPACE: dict[str, Any] = {
    "learning_rate": {"loguniform": [0.003, 0.3]},
    "optimizer": {"choice": ["adam", "sgd"]},
    "schedule": {"choice": ["none", "cosine"]},
    "hidden1": {"choice": [8, 12]},
    "hidden2": {"choice": [8, 12]},
    "batch_size": {"choice": [16, 32]},
}
RS2, FULL = {"selector": "rs2"}, {"selector": "full"}
SCREENS = {"horizon_exponent": [0, 0.5], "screen_metric": "log_loss", "finalists": 3}
HEDGE = {**SCREENS, "finalist_rungs": {0.1: 3, 0.3333: 2}}
SIX = {"configurations": 9, "finalists": 6, "finalist_rungs": {0.1: 4, 0.25: 2, 0.5: 1}}
HASTY = {**SPACE, "learning_rate": {"loguniform": [0.05, 3.0]}}
SLOW = {**SPACE, "learning_rate": {"loguniform": [0.001, 0.05]}}
TIES = {"search_space": SLOW, "finalists": 5, "finalist_rungs": {0.12: 3, 0.5: 2}}
LATER = {"optimizer": {"choice": ["sgd"]}, "learning_rate": {"loguniform": [100.0, 1e6]}}
ALWAYS = {"optimizer": {"choice": ["sgd"]}, "learning_rate": {"loguniform": [1e4, 1e6]}}

JOBS: dict[str, Job] = {
    "full": make_job(run=FULL),
    "full with patience": make_job(run=FULL, patience=2),
    "one finalist": make_job(),
    "two screens": make_job(run=RS2, **HEDGE),
    "six finalists": make_job(run=RS2, **SIX),
    "ties": make_job(run={**RS2, "seed": 4}, **TIES),
    "broken ties": make_job(run={**RS2, "seed": 4}, break_ties=True, **TIES),
    "patience": make_job(run=RS2, patience=1, search_space=HASTY, **SIX),
    "one finalist with patience": make_job(patience=1, search_space=HASTY),
    "a finalist diverges": make_job(run=RS2, finalists=4, search_space={**SPACE, **LATER}),
    "all finalists diverge": make_job(run=RS2, finalists=4, search_space={**SPACE, **ALWAYS}),
    "tpe": make_job(run={"search": "tpe", **RS2}, finalists=2),
    "asha": make_job(run={"scheduler": "asha", **RS2}, finalists=3),
    "untuned": make_job(run={"selector": "untuned"}),
    "two trials at once": make_job(2, run=RS2, **HEDGE),
}

LEFT_OUT = {"finished_at", "seconds", "provenance", "lock_wait_seconds"}
LEFT_OUT |= {"slots", "answers", "class_names"}
"""Times and hosts; fields that are newer than these records."""


def data_of(folder: Path) -> Path:
    """Write the table that all jobs train on, and return its path."""
    dataset = DATA["mlp"](torch.Generator().manual_seed(1))
    counts = {name: len(getattr(dataset, name)) for name in SPLITS}
    about = {**dataset.metadata, "counts": counts, "source": "made", "class_names": ["a", "b", "c"]}
    path = folder / "table.safetensors"
    write_dataset(replace(dataset, metadata=about), path)
    return path


def outcome(record: Record, model: Classifier) -> dict[str, Any]:
    """Return a record without times and hosts, and the norms of the model's weights."""
    norms = [float(weight.double().norm()) for weight in model.state_dict().values()]
    return {**_timeless(json.loads(record.model_dump_json())), "norms": norms}


def _timeless(value: Any) -> Any:
    if isinstance(value, list):
        return [_timeless(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _timeless(part) for key, part in value.items() if key not in LEFT_OUT}
    return {**kept, "segments": len(value["segments"])} if "segments" in value else kept


def done(name: str, folder: Path) -> dict[str, Any]:
    """Return the outcome of a job."""
    with patch.object(job_module, "train_in_ray", train_here):
        return outcome(*run(JOBS[name], data_of(folder), folder / "work"))


def computed(name: str) -> dict[str, Any]:
    """Return the outcome of a job in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return done(name, Path(folder))


if __name__ == "__main__":
    add(STORED, {name: partial(computed, name) for name in JOBS}, sys.argv[1:])
