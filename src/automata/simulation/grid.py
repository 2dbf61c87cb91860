"""The jobs of learning curves, their records and paths, and the searches to simulate."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from automata.config.base import Count, Section, Share
from automata.config.experiment import DatasetName, Experiment, Seed, SelectorName
from automata.config.job import Settings, settings_of
from automata.config.protocol import OF_SUBSETS, Protocol
from automata.config.sections import LearningCurves, SchedulerSettings
from automata.config.sources import files_read
from automata.config.spaces import Domain
from automata.errors import UserError
from automata.files import fingerprint
from automata.loading import load
from automata.records.base import Recorded
from automata.records.paths import number
from automata.records.progress import Progress
from automata.records.record import read_as
from automata.registry import CONTROLS, SCHEDULERS, Kind

POOL_SEED = 0
"""Seed of the random search that proposes the configurations of a pool."""


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
    """SHA-256 of the user's own files, by role."""


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


class Simulated(Section):
    """The random searches to simulate on the learning curves of a data set."""

    kind: Kind
    """The kind of data."""
    pool: Count
    """Number of configurations that have curves."""
    configurations: Count
    """Trials of a search."""
    epochs: Count
    """T."""
    schedulers: list[str]
    scheduler: SchedulerSettings
    space: dict[str, Domain]


def simulated_searches(part: Experiment, curves: LearningCurves, dataset: str) -> Simulated:
    """Return the searches of a part to simulate on the curves of a data set."""
    random = part.protocol_of(dataset).under("random")
    known = [name for name in part.schedulers if name in SCHEDULERS]
    return Simulated(
        kind=part.kind(dataset),
        pool=curves.pool,
        configurations=random.configurations,
        epochs=random.epochs,
        schedulers=[name for name in known if not SCHEDULERS[name].all_data],
        scheduler=part.scheduler,
        space=random.search_space,
    )


def curves_jobs(experiment: Experiment, files: dict[str, dict[str, str]]) -> dict[str, CurvesJob]:
    """Return the jobs of an experiment, by the paths of their records in the folder of curves.

    `files` has the SHA-256 of the user's own files, by data set and role.
    """
    controls = {name for name, control in CONTROLS.items() if not control.searches}
    pairs = product(experiment.datasets, [it for it in experiment.selectors if it not in controls])
    jobs = (job for pair in pairs for job in _jobs(experiment, *pair, files))
    return {path_of(job): job for job in jobs} if experiment.learning_curves else {}


def _jobs(
    experiment: Experiment, dataset: str, selector: str, files: dict[str, dict[str, str]]
) -> Iterator[CurvesJob]:
    curves = experiment.learning_curves or LearningCurves()
    # Settings that affect a search but no training have their simplest values.
    search_only = {**OF_SUBSETS, "configurations": 1, "metric": "accuracy", "break_ties": False}
    settings = settings_of(experiment, dataset, "random", "none", selector)
    settings = settings.model_copy(update={"scheduler": SchedulerSettings()})
    epochs = rungs(settings.protocol, experiment.scheduler)
    fractions, exponents = [1.0], [0.0]
    if selector not in CONTROLS:
        fractions = experiment.fractions
        exponents += curves.horizon_exponents.get(selector, ())
    firsts = range(0, curves.pool, curves.part)
    for fraction, exponent, seed, first in product(fractions, exponents, curves.seeds, firsts):
        changes = search_only | {"horizon_exponent": exponent}
        protocol = settings.protocol.model_copy(update=changes)
        yield CurvesJob(
            dataset=dataset,
            selector=selector,
            fraction=fraction,
            seed=seed,
            settings=settings.model_copy(update={"protocol": protocol}),
            epochs=epochs,
            pool_seed=POOL_SEED,
            configurations=list(range(first, min(first + curves.part, curves.pool))),
            files=files_read(files[dataset], "random", "none", selector),
        )


def rungs(protocol: Protocol, settings: SchedulerSettings) -> list[int]:
    """Return the rungs of all schedulers, in epochs."""
    n, epochs = protocol.configurations, protocol.epochs
    schedulers = [load(SCHEDULERS, name)(n, epochs, settings) for name in SCHEDULERS]
    return sorted({rung for it in schedulers for trial in range(n) for rung in it.rungs(trial)})


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
    """Its name if it had read no files of the user's own."""
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
    """Return the name of the training of `job` if it had read no files of the user's own."""
    return training_of(job.model_copy(update={"files": {}}))


def read_origins(path: Path) -> dict[str, Any]:
    """Return the origins of published curves, by the paths of their records; raises UserError."""
    try:
        content: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UserError(f"{path}: not the origins of published curves: {error}") from error
    return content
