"""What is kept of the learning curves of some configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from automata.config.base import Count, Section, Share
from automata.config.experiment import DatasetName, Seed, SelectorName
from automata.config.job import Settings
from automata.files import Recorded
from automata.metering.measurement import Measurement
from automata.records import read_as
from automata.training.progress import Progress

POOL_SEED = 0
"""Seed of the random search that proposes the configurations of a pool."""


class CurvesJob(Section):
    """Some configurations, trained in one way, and scored along the way."""

    dataset: DatasetName
    selector: SelectorName
    fraction: Share
    seed: Seed
    warm_start: float
    settings: Settings
    epochs: list[Count]
    """After which a configuration is scored; it is trained until the last."""
    pool_seed: Seed
    """Of the random search that proposes the configurations."""
    configurations: list[int]
    """Their numbers in its order, from 0."""
    files: dict[str, str] = {}
    """SHA-256 of each file of the user's own, by its role."""


class Point(Recorded):
    """What a training had taken by one of its evaluations, which is in its progress."""

    samples: int
    training_seconds: float
    selection_seconds: float
    evaluation_seconds: float


class Curve(Recorded):
    """One configuration trained to its end."""

    index: int
    configuration: dict[str, Any]
    points: list[Point]
    """One for each evaluation; a training that diverged has none after that."""
    progress: Progress
    test_accuracy: float | None
    """At the end; of trainings on all data alone."""
    test_balanced_accuracy: float | None
    segment: int
    """Which of the processes that made the record trained it."""


class Curves(Recorded):
    """The record of one job."""

    job: CurvesJob
    data_sha256: str
    curves: list[Curve]
    segments: list[Measurement]
    """Of each process up to the end of its last training."""
    provenance: dict[str, Any]


def read_curves(path: Path) -> Curves:
    """Return the record at `path`; UserError, which names the file, for any other file."""
    return read_as(Curves, path, "delete it to train again")
