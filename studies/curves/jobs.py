"""The jobs of learning curves, their records, and the names of trainings."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from automata.config.base import Count, Section, Share
from automata.config.experiment import DatasetName, Seed, SelectorName
from automata.config.job import Settings
from automata.errors import UserError
from automata.files import fingerprint
from automata.records.base import Recorded
from automata.records.paths import number
from automata.records.progress import Progress
from automata.records.record import read_as


class CurvesJob(Section):
    """A job: it trains some configurations with one selector, and scores them at some epochs."""

    dataset: DatasetName
    selector: SelectorName
    fraction: Share
    seed: Seed
    warm_start: float = 0.0
    """0, except in some published curves."""
    settings: Settings
    epochs: list[Count]
    """The epochs after which a training is scored; the last one ends it."""
    pool_seed: Seed
    """Seed of the random search that proposes the configurations."""
    configurations: list[int]
    """Positions of the configurations among its proposals, from 0."""
    files: dict[str, str] = {}
    """SHA-256 of the files of an own data set or selector, by role."""


class Point(Recorded):
    """The cost of a training up to an epoch; the scores are in its progress."""

    samples: int
    cpu_seconds: float
    """CPU time of the process, with selections and evaluations."""


class Curve(Recorded):
    """One configuration trained to its end."""

    index: int
    configuration: dict[str, Any]
    points: list[Point]
    """One for each epoch of the job; after a divergence, the last one is that of the end."""
    progress: Progress
    test_accuracy: float | None
    """Accuracy at the end; None for trainings on subsets."""


class Curves(Recorded):
    """The record of one job."""

    job: CurvesJob
    data_sha256: str
    curves: list[Curve]
    provenance: dict[str, Any]


def read_curves(path: Path) -> Curves:
    """Return the record at `path`; raises UserError, which names the file."""
    return read_as(Curves, path, "delete it to train again")


def path_of(job: CurvesJob) -> str:
    """Return the path of the record of `job`."""
    return f"{training_of(job)}/{job.configurations[0]}-{job.configurations[-1]}.json"


def training_of(job: CurvesJob) -> str:
    """Return the name of a training; `configurations` and metering of `job` do not affect it."""
    name = f"{job.selector}-{number(job.fraction)}"
    if job.warm_start:
        name += f"-warm-{number(job.warm_start)}"
    (exponent,) = job.settings.protocol.screens
    if exponent:
        name += f"-horizon-{number(exponent)}"
    inputs = job.model_dump(
        mode="json", exclude={"seed": True, "configurations": True, "settings": {"metering"}}
    )
    return f"{job.dataset}/{name}-{fingerprint(inputs)}/seed-{job.seed}"


class Published(NamedTuple):
    """A training with published curves."""

    without_files: str
    """Its name if it had read no own files."""
    configurations: set[int]


def published_trainings(folder: Path) -> dict[str, Published]:
    """Return the trainings that have published curves, by name; reads no table."""
    trainings: dict[str, Published] = {}
    for path in sorted(folder.glob("*.json.gz")):
        for record, origin in read_origins(path).items():
            job = CurvesJob.model_validate(origin["job"])
            name = record.rpartition("/")[0]
            training = trainings.setdefault(name, Published(without_files(job), set()))
            training.configurations.update(job.configurations)
    return trainings


def without_files(job: CurvesJob) -> str:
    """Return the name of the training of `job` if it had read no own files."""
    return training_of(job.model_copy(update={"files": {}}))


def read_origins(path: Path) -> dict[str, Any]:
    """Return the origins of published curves, by the paths of their records; raises UserError."""
    try:
        content: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UserError(f"{path}: not the origins of published curves: {error}") from error
    return content
