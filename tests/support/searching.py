"""Small jobs, and their search phase in this process: as in Ray Tune with one slot, without Ray."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from automata.config.job import Job
from automata.records.measurement import Measurement
from automata.records.progress import Progress
from automata.records.record import Record
from automata.registry import CONTROLS
from automata.tuning.context import JobContext
from automata.tuning.job import run
from automata.tuning.live import LivePhase
from automata.tuning.ray_search import worker_config
from automata.tuning.trainable import TuneTrial
from automata.tuning.work import WorkFolder

SPACE: dict[str, Any] = {
    "learning_rate": {"uniform": [0.001, 0.01]},
    "optimizer": {"choice": ["adam", "sgd"]},
    "schedule": {"choice": ["none", "cosine", "step"]},
    "hidden1": {"choice": [20, 30]},
    "hidden2": {"choice": [20, 30]},
    "batch_size": {"choice": [32, 64]},
}


def make_job(slots: int = 1, run: dict[str, Any] | None = None, **protocol: Any) -> Job:
    """Return a job of 5 configurations and 9 epochs, with changes of its run and protocol."""
    names = {"dataset": "dna", "search": "random", "scheduler": "hyperband", **(run or {})}
    selector = names.setdefault("selector", "gradmatch")
    fraction = CONTROLS[selector].fraction if selector in CONTROLS else 0.1
    small = {"model": "mlp", "configurations": 5, "epochs": 9, "reselect_every": 2}
    settings = {
        "protocol": {**small, "search_space": SPACE, **protocol},
        "search": {"tpe": {"startup_configurations": 2}},
        "compute": {"device": "cpu", "concurrent_trials": slots},
        "metering": {"exclusive": False},
    }
    return Job.model_validate(
        {"run": {"fraction": fraction, "seed": 0, **names}, "settings": settings}
    )


def measured(wall: float, start: float = 0.0) -> Measurement:
    """Return the measurement of a window."""
    return Measurement(
        started_at=start,
        wall_seconds=wall,
        cpu_seconds=wall,
        host_busy_cpu_seconds=wall,
        exclusive=True,
        channels=[],
        notes=[],
    )


def run_job(job: Job, data: Path, folder: Path) -> Record:
    """Return the record of a job."""
    return run(job, data, folder)[0]


def train_here(context: JobContext, work: WorkFolder, phases: Iterator[LivePhase]) -> None:
    """Train trials one after the other, each from rung to rung in one worker."""
    worker = object.__new__(TuneTrial)  # without what Ray adds to it
    latest: tuple[LivePhase, int] | None = None
    try:
        for live in phases:
            search = live.search
            while (trial := search.upcoming()) is not None:
                search.start(trial.index)
                config = worker_config(trial, live)
                if latest is None:
                    parts = context.job.model_dump_json(), str(context.data), context.device.type
                    worker.setup(config, *parts)
                elif latest != (live, trial.index):
                    worker.reset_config(config)
                latest = live, trial.index
                live.open()
                while "progress" not in (result := worker.step()):
                    live.saved(trial.index, result["epoch"])
                progress = Progress.model_validate_json(result["progress"])
                live.report(trial.index, progress, result["saved"])
            assert search.finished, "the search neither goes on nor ends"
    finally:
        if latest is not None:
            worker.cleanup()
