"""The jobs of learning curves, and the paths of their records."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from automata.config.experiment import Experiment
from automata.config.inputs import files_read
from automata.config.job import settings_of
from automata.config.protocol import Protocol
from automata.config.sections import LearningCurves, SchedulerSettings
from automata.errors import UserError
from automata.files import fingerprint
from automata.registry import CONTROLS, SCHEDULERS, load
from automata.runs import number
from automata.simulation.record import POOL_SEED, CurvesJob

OF_SEARCHES = {"configurations": 1, "finalists": 1, "metric": "accuracy"}
"""Keys of a protocol that only searches read, with values that mean least."""


def curves_jobs(experiment: Experiment, files: dict[str, dict[str, str]]) -> dict[str, CurvesJob]:
    """Return the jobs of an experiment, by the paths of their records in the folder of curves.

    `files` are the hashes of the user's own files, by data set and role.
    """
    curves = experiment.learning_curves
    if curves is None:
        return {}
    jobs = (
        job
        for dataset, selector in product(experiment.datasets, experiment.selectors)
        for job in _jobs(experiment, curves, dataset, selector, files[dataset])
    )
    return {path_of(job): job for job in jobs}


def _jobs(
    experiment: Experiment,
    curves: LearningCurves,
    dataset: str,
    selector: str,
    files: dict[str, str],
) -> Iterator[CurvesJob]:
    control = CONTROLS.get(selector)
    if control is not None and not control.searches:
        return
    # Settings of searches and schedulers do not affect a training.
    settings = settings_of(experiment, dataset, "random", "none", selector)
    settings = settings.model_copy(update={"scheduler": SchedulerSettings()})
    protocol = settings.protocol
    epochs = rungs(protocol, experiment.scheduler)
    fractions, ways = [1.0], [(0.0, 0.0)]
    if control is None:
        fractions = experiment.fractions
        ways += [(kappa, 0.0) for kappa in curves.warm_starts.get(selector, ())]
        ways += [(0.0, beta) for beta in curves.horizon_exponents.get(selector, ())]
    for fraction, (warm_start, exponent) in product(fractions, ways):
        training = protocol.model_copy(update={**OF_SEARCHES, "horizon_exponent": exponent})
        for seed, first in product(curves.seeds, range(0, curves.pool, curves.part)):
            yield CurvesJob(
                dataset=dataset,
                selector=selector,
                fraction=fraction,
                seed=seed,
                warm_start=warm_start,
                settings=settings.model_copy(update={"protocol": training}),
                epochs=epochs,
                pool_seed=POOL_SEED,
                configurations=list(range(first, min(first + curves.part, curves.pool))),
                files=files_read(files, "random", "none", selector),
            )


def rungs(protocol: Protocol, settings: SchedulerSettings) -> list[int]:
    """Return the rungs of all schedulers, in epochs.

    They include 1, T/4, T/2 and T, the rungs of `one-epoch`.
    """
    n, epochs = protocol.configurations, protocol.epochs
    schedulers = [load(SCHEDULERS, name)(n, epochs, settings) for name in SCHEDULERS]
    return sorted({rung for it in schedulers for trial in range(n) for rung in it.rungs(trial)})


def path_of(job: CurvesJob) -> str:
    """Return the path of the record of `job`."""
    return f"{training_of(job)}/{job.configurations[0]}-{job.configurations[-1]}.json"


def training_of(job: CurvesJob) -> str:
    """Return the name of the training of `job`.

    It depends on all that the job reads, except for configurations and metering.
    """
    way = f"{job.selector}-{number(job.fraction)}"
    if job.warm_start:
        way += f"-warm-{number(job.warm_start)}"
    if exponent := job.settings.protocol.horizon_exponent:
        way += f"-horizon-{number(exponent)}"
    rest = job.model_dump(
        mode="json", exclude={"seed": True, "configurations": True, "settings": {"metering"}}
    )
    return f"{job.dataset}/{way}-{fingerprint(rest)}/seed-{job.seed}"


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
