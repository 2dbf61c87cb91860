"""Records made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from automata.config.job import Job, Run, Settings
from automata.config.protocol import Protocol
from automata.config.spaces import Domain
from automata.metering.measurement import Channel, Measurement
from automata.records import (
    Data,
    FinalTraining,
    Record,
    Segment,
    Test,
    Trial,
    Tuning,
)
from automata.training.progress import Evaluation, Progress, Seconds

MakeRecord = Callable[..., Record]


def _protocol() -> Protocol:
    return Protocol(
        model="mlp",
        configurations=2,
        epochs=8,
        reselect_every=2,
        search_space={
            "learning_rate": Domain(uniform=(0.001, 0.01)),
            "optimizer": Domain(choice=["adam"]),
            "schedule": Domain(choice=["none"]),
            "hidden1": Domain(choice=[150]),
            "hidden2": Domain(choice=[150]),
            "batch_size": Domain(choice=[16]),
        },
    )


def _segment(
    wall: float,
    cpu: float,
    joules: float | None,
    method: Any,
    source: str,
    exclusive: bool,
    setup: float = 0.0,
) -> Segment:
    measurement = Measurement(
        started_at=1_700_000_000.25,
        wall_seconds=wall,
        cpu_seconds=cpu,
        host_busy_cpu_seconds=2 * cpu,
        exclusive=exclusive,
        channels=[
            Channel(device="cpu", domain="package_0", method=method, source=source, joules=joules)
        ],
        notes=["a note"],
        peak_memory_bytes=1_000_000,
    )
    return Segment(host="here", setup_seconds=setup, measurement=measurement)


def _trial(index: int, epochs: int, accuracy: float, failure: str | None = None) -> Trial:
    """A trial on 100 of 1000 rows: 7 steps, 2 selections per 4 epochs, 3 s in all per epoch."""
    return Trial(
        index=index,
        configuration={"learning_rate": 0.1 + 0.2, "optimizer": "adam", "batch_size": 16},
        rungs=[2, 8],
        status="completed",
        progress=Progress(
            epochs=epochs,
            steps=7 * epochs,
            samples=100 * epochs,
            subset_samples=100,
            subset_epochs=epochs,
            selected_samples=(100 if failure else 90) * epochs,
            draws=epochs // 2,
            gradient_selections=epochs // 2,
            random_fill=1,
            training_loss=[1 / 3] * epochs,
            evaluations=[Evaluation(epoch=epochs, accuracy=accuracy, loss=0.7, finished_at=1.5)],
            seconds=Seconds(
                training=2.0 * epochs, selection=0.75 * epochs, evaluation=0.25 * epochs
            ),
            failure=failure,
        ),
    )


@pytest.fixture
def make_record() -> MakeRecord:
    """Give a function that builds a record of two trials (8 and 2 epochs) and a final training.

    Tuning takes 40 s, 36 CPU s and 100 J; the final training 20 s, 18 CPU s and 50 J.
    """

    def make(
        *,
        dataset: str = "satimage",
        search: str = "tpe",
        scheduler: str = "hyperband",
        selector: str = "gradmatch",
        fraction: float = 0.1,
        seed: int = 0,
        tuning_joules: float | None = 100.0,
        final_joules: float | None = 50.0,
        tuning_method: str = "measured",
        final_method: str = "measured",
        tuning_source: str = "pyJoules RAPL",
        final_source: str = "pyJoules RAPL",
        final_exclusive: bool = True,
        failure: str | None = None,
        concurrent_trials: int = 1,
        curve: tuple[int, ...] = (),
        measurement: dict[str, int] | None = None,
    ) -> Record:
        settings = Settings(protocol=_protocol()).model_dump()
        settings["compute"] = {
            "device": "cpu",
            "threads_per_trial": 1,
            "concurrent_trials": concurrent_trials,
        }
        run = Run(
            dataset=dataset,
            search=search,
            scheduler=scheduler,
            selector=selector,
            fraction=fraction,
            seed=seed,
        )
        final = FinalTraining(
            segments=[
                _segment(20.0, 18.0, final_joules, final_method, final_source, final_exclusive)
            ],
            progress=Progress(epochs=8, steps=504, samples=8000, failure=failure),
        )
        return Record(
            job=Job(run=run, settings=Settings.model_validate(settings)),
            data=Data(
                sha256="0" * 64,
                classes=6,
                counts={"train": 1000, "validation": 100, "test": 200},
                source="by hand",
            ),
            tuning=Tuning(
                segments=[
                    _segment(40.0, 36.0, tuning_joules, tuning_method, tuning_source, True, 3.0)
                ],
                trials=[
                    _trial(0, 8, accuracy=0.75),
                    _trial(1, 2, accuracy=0.5, failure="training loss nan in epoch 2"),
                ],
                best=0,
            ),
            final=None if selector == "full" else final,
            test=Test(accuracy=0.72, loss=0.9, rows=200),
            resumed=False,
            peak_disk_bytes=3_000_000,
            lock_wait_seconds=1.25,
            provenance={
                "host": "here",
                "device": "cpu",
                "cpu_count": 2,
                "packages": {"torch": "2.13", "ray": "2.60"},
                **({} if measurement is None else {"measurement": measurement}),
                "git": {"commit": "c0ffee", "dirty": False},
                "lock_sha256": "1" * 64,
                "own_model_sha256": None,
                "blas": [{"internal_api": "openblas", "version": "0.3", "num_threads": 1}],
                "torch": {"num_threads": 1, "cuda": None},
                "environment": {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": None},
                "python": "3.11.7",
                "platform": "Linux",
                "cpu": "a CPU",
                "memory_mib": 8192,
                "gpus": [],
            },
        )

    return make
