"""The record of the learning curves of some configurations."""

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
    """Configurations to train in one way, and to score at some epochs."""

    dataset: DatasetName
    selector: SelectorName
    fraction: Share
    seed: Seed
    warm_start: float = 0.0
    """0, but for some of the published curves."""
    settings: Settings
    epochs: list[Count]
    """The epochs after which a training is scored; it ends with the last."""
    pool_seed: Seed
    """Seed of the random search that proposes the configurations."""
    configurations: list[int]
    """Numbers of the configurations in its order, from 0."""
    files: dict[str, str] = {}
    """SHA-256 of each file of the user's own, by role."""


class Point(Recorded):
    """The cost of a training up to one of its evaluations; the scores are in its progress."""

    samples: int
    training_seconds: float
    selection_seconds: float
    evaluation_seconds: float


class Curve(Recorded):
    """One configuration trained to its end."""

    index: int
    configuration: dict[str, Any]
    points: list[Point]
    """One for each evaluation; none after a divergence."""
    progress: Progress
    test_accuracy: float | None
    """Accuracy at the end; None for trainings on subsets."""
    test_balanced_accuracy: float | None
    segment: int
    """Number of the process that trained it, among those that made the record."""


class Curves(Recorded):
    """The record of one job."""

    job: CurvesJob
    data_sha256: str
    curves: list[Curve]
    segments: list[Measurement]
    """A measurement for each process, up to the end of its last training."""
    provenance: dict[str, Any]


def read_curves(path: Path) -> Curves:
    """Return the record at `path`; raises UserError, which names the file."""
    return read_as(Curves, path, "delete it to train again")
