"""Made-up records of a whole experiment, to time work on many records; nothing is measured.

A record agrees with its row in `benchmarks.synthetic`. It has the settings of the configuration,
and as many trials, rungs and epochs as a real record.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from automata.config.experiment import Experiment
from automata.config.job import Job, Run, Settings, settings_of
from automata.metering.measurement import Channel, Measurement
from automata.provenance import PACKAGES, numerics, provenance
from automata.records import (
    Data,
    FinalTraining,
    Record,
    Segment,
    Test,
    Trial,
    Tuning,
    write_record,
)
from automata.runs import RECORD, place_of
from automata.training.progress import Evaluation, Progress, Seconds
from automata.tuning.schedulers import Asha, Bracket, hyperband_brackets
from benchmarks.grids import Grid, paper
from benchmarks.synthetic import synthetic_runs

Row = dict[str, Any]

SHARED = "not measured: made up by benchmarks.records"
PROVENANCE = {
    **provenance("full"),
    **numerics(),
    "git": None,
    "packages": {**dict.fromkeys(PACKAGES), "torch": "2.13.0+cpu", "ray": "2.60.0"},
    "host": "made-up",
    "cpu_count": 2,
    "device": "cpu",
    "gpus": [],
    "own_model_sha256": None,
}


def write_records(folder: Path, grid: Grid) -> int:
    """Write the records of `grid` below `folder`, as runs do; return their number."""
    experiments = paper()
    runs = synthetic_runs(datasets=grid.datasets, repeats=grid.seeds).to_dict("records")
    for row in runs:
        record = made_up_record(row, settings_of_run(experiments, row))
        write_record(record, folder / "results/runs" / place_of(record.job).stem / RECORD)
    return len(runs)


def settings_of_run(experiments: list[Experiment], row: Row) -> Settings:
    """Return the settings of the run of a row in the configuration."""
    experiment = next(one for one in experiments if row["dataset"] in one.datasets)
    named = {key: row[key] for key in ("dataset", "search", "scheduler", "selector")}
    return settings_of(experiment, **named)


def made_up_record(row: Row, settings: Settings) -> Record:
    """Return a record that agrees with `row`."""
    run = Run(**{key: row[key] for key in Run.model_fields})
    random = np.random.default_rng([run.seed, len(run.dataset), int(1000 * run.fraction)])
    drawn = np.random.default_rng([run.seed, len(run.dataset)])
    trials = list(_trials(row, settings, random, drawn))
    final = None
    if run.trains_finally:
        started = row["started_at"] + row["tuning_seconds"]
        progress = _training(random, row["epochs"], row["train_rows"], row["final_seconds"])
        window = _window(row, row["final_seconds"], started)
        final = FinalTraining(segments=[_segment(window)], progress=progress)
    return Record(
        job=Job(run=run, settings=settings),
        data=Data(
            sha256=row["data_sha256"],
            classes=6,
            counts={"train": row["train_rows"], "validation": 1331, "test": 2000},
            source=SHARED,
        ),
        tuning=Tuning(
            segments=[
                _segment(
                    _window(row, row["tuning_seconds"], row["started_at"]), row["setup_seconds"]
                )
            ],
            trials=trials,
            best=max(range(len(trials)), key=lambda index: trials[index].score),
        ),
        final=final,
        test=Test(accuracy=row["test_accuracy"], loss=row["test_loss"], rows=2000),
        resumed=False,
        peak_disk_bytes=1_000_000,
        lock_wait_seconds=0.0,
        provenance=PROVENANCE,
    )


def _segment(measurement: Measurement, setup: float = 0.0) -> Segment:
    return Segment(host=PROVENANCE["host"], setup_seconds=setup, measurement=measurement)


def _window(row: Mapping[str, Any], seconds: float, started: float) -> Measurement:
    """Return a measurement like a real one."""
    joules = 4.08 * seconds
    return Measurement(
        started_at=started,
        wall_seconds=seconds,
        cpu_seconds=1.02 * seconds,
        host_busy_cpu_seconds=1.06 * seconds,
        host_cores=2,
        exclusive=True,
        channels=[
            Channel(
                device="cpu",
                domain="package",
                method=row["energy_method"],
                source=row["energy_source"],
                joules=joules,
            )
        ],
        notes=[SHARED],
    )


def _trials(
    row: Row, settings: Settings, random: np.random.Generator, drawn: np.random.Generator
) -> Iterator[Trial]:
    """Yield the trials of a search, stopped as Hyperband or ASHA would stop them."""
    protocol, start = settings.protocol, row["started_at"]
    epochs, index = protocol.epochs, 0
    brackets = _brackets(row["scheduler"], settings)
    trained = sum(bracket.epochs for bracket in brackets)
    second = row["tuning_seconds"] / trained
    elapsed = 0.0
    for bracket in brackets:
        quality = row["best_validation_accuracy"] - 0.1 + drawn.normal(0, 0.04, bracket.trials)
        order = np.argsort(-quality)
        reached = np.empty(bracket.trials, dtype=int)
        reached[order] = [_rungs_reached(bracket, place) for place in range(bracket.trials)]
        for score, count in zip(quality, reached, strict=True):
            rungs = bracket.rungs[:count]
            spent = rungs[-1] * second
            samples = int(row["fraction"] * row["train_rows"])
            progress = _training(random, rungs[-1], samples, spent)
            gains = 0.08 * (1 - np.exp(-3 * np.array(rungs) / epochs))
            noise = random.normal(0, 0.004 / math.sqrt(row["fraction"]), count)
            progress.evaluations = [
                Evaluation(
                    epoch=rung,
                    accuracy=float(value),
                    loss=float(1 - value),
                    finished_at=start + elapsed + rung * second,
                )
                for rung, value in zip(rungs, np.clip(score + gains + noise, 0, 1), strict=True)
            ]
            elapsed += spent
            yield Trial(
                index=index,
                configuration={
                    name: _value(*domain.draw, drawn)
                    for name, domain in protocol.search_space.items()
                },
                rungs=bracket.rungs,
                status="completed" if count == len(bracket.rungs) else "stopped",
                progress=progress,
            )
            index += 1


def _brackets(scheduler: str, settings: Settings) -> list[Bracket]:
    """Return the brackets of a search; for ASHA, one whose rungs keep their usual share."""
    protocol = settings.protocol
    if scheduler == "hyperband":
        eta = settings.scheduler.hyperband.reduction_factor
        return hyperband_brackets(protocol.configurations, protocol.epochs, eta)
    rungs = Asha(protocol.configurations, protocol.epochs, settings.scheduler).rungs(0)
    shares = [settings.scheduler.asha.reduction_factor**place for place in range(1, len(rungs))]
    survivors = [math.ceil(protocol.configurations / share) for share in shares]
    return [Bracket(protocol.configurations, rungs, survivors)]


def _rungs_reached(bracket: Bracket, place: int) -> int:
    """Return how many rungs the trial with rank `place` in its bracket reaches."""
    return 1 + sum(place < survivors for survivors in bracket.survivors)


def _training(random: np.random.Generator, epochs: int, samples: int, seconds: float) -> Progress:
    """Return the progress of a training run of `epochs` on `samples`."""
    falling = np.exp(-np.arange(epochs) / epochs) + random.normal(0, 0.01, epochs)
    return Progress(
        epochs=epochs,
        steps=epochs * math.ceil(samples / 32),
        samples=epochs * samples,
        subset_samples=samples,
        subset_epochs=epochs,
        selected_samples=epochs * samples,
        draws=epochs // 10,
        gradient_selections=epochs // 10,
        training_loss=[float(loss) for loss in falling],
        seconds=Seconds(
            training=0.85 * seconds, selection=0.1 * seconds, evaluation=0.04 * seconds
        ),
    )


def _value(draw: str, values: list[Any], random: np.random.Generator) -> Any:
    """Return a random value of a hyper-parameter."""
    if draw == "choice":
        return values[random.integers(len(values))]
    return float(random.uniform(values[0], values[1]))
