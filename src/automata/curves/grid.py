"""Which learning curves are recorded, and where their records lie."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from automata.config.experiment import Experiment
from automata.config.inputs import files_read
from automata.config.job import settings_of
from automata.config.protocol import Protocol
from automata.config.sections import LearningCurves, SchedulerSettings
from automata.curves.record import POOL_SEED, CurvesJob
from automata.errors import UserError
from automata.files import fingerprint
from automata.registry import CONTROLS, SCHEDULERS, load
from automata.runs import number

OF_SEARCHES = {"configurations": 1, "finalists": 1, "metric": "accuracy"}
"""What a protocol says of searches alone, at its least: it does not reach a training."""


def curves_jobs(experiment: Experiment, files: dict[str, dict[str, str]]) -> dict[str, CurvesJob]:
    """Return the jobs of an experiment by the paths of their records, below the folder of all.

    `files` are the contents of the user's own files, by data set and role.
    """
    asked = experiment.learning_curves
    if asked is None:
        return {}
    jobs = (
        job
        for dataset, selector in product(experiment.datasets, experiment.selectors)
        for job in _jobs(experiment, asked, dataset, selector, files[dataset])
    )
    return {path_of(job): job for job in jobs}


def _jobs(
    experiment: Experiment,
    asked: LearningCurves,
    dataset: str,
    selector: str,
    files: dict[str, str],
) -> Iterator[CurvesJob]:
    control = CONTROLS.get(selector)
    if control is not None and not control.searches:
        return
    # What an experiment says of searches and schedulers does not reach a training.
    settings = settings_of(experiment, dataset, "random", "none", selector)
    settings = settings.model_copy(update={"scheduler": SchedulerSettings()})
    protocol = settings.protocol
    epochs = rungs(protocol, experiment.scheduler)
    others = [
        *((kappa, 0.0) for kappa in asked.warm_starts.get(selector, ())),
        *((0.0, beta) for beta in asked.horizon_exponents.get(selector, ())),
    ]
    if control is None:
        ways = list(product(experiment.fractions, [(0.0, 0.0), *others]))
    else:
        ways = [(1.0, (0.0, 0.0))]
    for fraction, (warm_start, exponent) in ways:
        trained = protocol.model_copy(update={**OF_SEARCHES, "horizon_exponent": exponent})
        for seed, first in product(asked.seeds, range(0, asked.pool, asked.part)):
            yield CurvesJob(
                dataset=dataset,
                selector=selector,
                fraction=fraction,
                seed=seed,
                warm_start=warm_start,
                settings=settings.model_copy(update={"protocol": trained}),
                epochs=epochs,
                pool_seed=POOL_SEED,
                configurations=list(range(first, min(first + asked.part, asked.pool))),
                files=files_read(files, "random", "none", selector),
            )


def rungs(protocol: Protocol, settings: SchedulerSettings) -> list[int]:
    """Return the epochs at which any scheduler looks at a trial.

    1, T/4, T/2 and T are among them, which are the rungs of `one-epoch`.
    """
    n, epochs = protocol.configurations, protocol.epochs
    schedulers = [load(SCHEDULERS, name)(n, epochs, settings) for name in SCHEDULERS]
    return sorted({rung for it in schedulers for trial in range(n) for rung in it.rungs(trial)})


def path_of(job: CurvesJob) -> str:
    """Return where the record of `job` lies."""
    return f"{training_of(job)}/{job.configurations[0]}-{job.configurations[-1]}.json"


def training_of(job: CurvesJob) -> str:
    """Return what names the way in which `job` trains.

    All that it reads is in it but configurations, and how they are measured.
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
    """A training of which there are published curves."""

    without_files: str
    """What would name it, had it read no files of the user's own."""
    configurations: set[int]


def published_trainings(folder: Path) -> dict[str, Published]:
    """Return of which trainings there are published curves, by their names; reads no table."""
    found: dict[str, Published] = {}
    for path in sorted(folder.glob("*.json")):
        for record, origin in read_origins(path).items():
            job = CurvesJob.model_validate(origin["job"])
            training = record.rpartition("/")[0]
            known = found.setdefault(training, Published(without_files(job), set()))
            known.configurations.update(job.configurations)
    return found


def without_files(job: CurvesJob) -> str:
    """Return what would name the training of `job`, had it read no files of the user's own."""
    return training_of(job.model_copy(update={"files": {}}))


def read_origins(path: Path) -> dict[str, Any]:
    """Return by path what is published of records besides their curves; raises UserError."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not the origins of published curves: {error}") from error
    return content
