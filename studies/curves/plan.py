"""The plan of a study: the jobs that train a pool completely, and the searches to simulate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from automata.config.base import Axis, Configurations, Count, NonNegative, Section, Share, parsed
from automata.config.experiment import Experiment
from automata.config.files import DEFAULTS, read, read_experiments
from automata.config.job import Job, Run
from automata.config.protocol import OF_SUBSETS, Protocol
from automata.config.sections import SchedulerSettings
from automata.config.spaces import Domain
from automata.errors import UserError
from automata.experiment.grid import Grid
from automata.loading import load
from automata.records.paths import job_of
from automata.registry import CONTROLS, SCHEDULERS, Kind
from studies.curves.jobs import (
    CurvesJob,
    Published,
    path_of,
    published_trainings,
    training_of,
)

PUBLISHED = Path("results/reference/curves")
"""Folder of the published learning curves."""

POOL_SEED = 0
"""Seed of the random search that proposes the configurations of a pool."""


class StudyFile(Section):
    """The content of a study's file."""

    experiment: dict[str, Any]
    """Keys of an experiment of the package; `parts` are relative to the file."""
    pool: Configurations = 64
    """Number of configurations: the first that random search proposes."""
    part: Count = 64
    """Number of configurations that one job trains."""
    seeds: Axis[NonNegative]
    """Seeds of weights, subsets and order; each configuration is trained once for each."""
    horizon_exponents: dict[str, Axis[Share]] = {}
    """Further trainings with these horizon exponents (beta), by selector."""
    real: list[Path] = []
    """Folders with tables of real runs, to compare simulated searches with."""


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


class Simulation(Section):
    """The searches to simulate, and what they read in addition to new records."""

    trainings: list[str]
    """The published trainings to read."""
    searches: dict[str, Simulated]
    """The searches to simulate on the curves of each data set."""
    real: list[Path]
    """Folders with tables of real runs, to compare simulated searches with."""


class Plan:
    """The study in a file. With `train`, jobs record the curves that are not published."""

    def __init__(self, file: Path, train: bool = False, search_path: Sequence[str] = ()) -> None:
        """Raise UserError, in one line, for the first error in `file`."""
        self.study = parsed(StudyFile, read(file), f"{file}: ")
        self.parts = read_experiments([DEFAULTS], self.study.experiment, str(file))
        self.name = self.parts[0].experiment
        """Folder in `results/`."""
        self.grid = Grid(self.parts, search_path) if train else None
        """The experiment's files, which are there if something is trained."""
        for selector in self.study.horizon_exponents:
            if not all(selector in part.selectors for part in self.parts):
                problem = f"{selector} is not a selector of each part"
                raise UserError(f"{file}: horizon_exponents: {problem}")
        for part in self.parts:
            for name in part.datasets:
                least = part.protocol_of(name).under("random").configurations
                if self.study.pool < least:
                    problem = f"fewer than the {least} configurations of a search on {name}"
                    raise UserError(f"{file}: pool: {self.study.pool} is {problem}")

    @cached_property
    def jobs(self) -> dict[str, CurvesJob]:
        """All jobs, by the paths of their records."""
        return {path_of(job): job for part in self.parts for job in self._jobs(part)}

    @property
    def missing(self) -> dict[str, CurvesJob]:
        """The jobs to run: those with curves that are not published; none without `train`."""
        if self.grid is None:
            return {}
        known = {name: training.configurations for name, training in self._published.items()}
        return {
            path: job
            for path, job in self.jobs.items()
            if not known.get(training_of(job), set()).issuperset(job.configurations)
        }

    @cached_property
    def simulation(self) -> Simulation:
        """The searches to simulate."""
        trainings = sorted({name for job in self.jobs.values() for name in self._known(job)})
        searches = {
            dataset: simulated_searches(part, self.study.pool, dataset)
            for part in self.parts
            for dataset in part.datasets
        }
        return Simulation(trainings=trainings, searches=searches, real=self.study.real)

    @property
    def figures(self) -> list[str]:
        """The names of the figures."""
        kinds = ["regret", "horizon"] if self.study.horizon_exponents else ["regret"]
        searches = self.simulation.searches.values()
        schedulers = dict.fromkeys(name for it in searches for name in it.schedulers)
        return [f"{kind}-{name}" for name in schedulers for kind in kinds]

    @cached_property
    def _published(self) -> dict[str, Published]:
        return published_trainings(PUBLISHED)

    def _known(self, job: CurvesJob) -> list[str]:
        """Return the names of the published trainings that equal the training of `job`."""
        own = training_of(job)
        if self.grid:
            return [own] if own in self._published else []
        # Nothing is trained, so own files need not be there, and the job names none.
        return [name for name, it in self._published.items() if it.without_files == own]

    def _jobs(self, part: Experiment) -> Iterator[CurvesJob]:
        for dataset, selector in product(part.datasets, part.selectors):
            if selector not in CONTROLS or CONTROLS[selector].searches:
                yield from curves_jobs(self.study, part, self._job(part, dataset, selector))

    def _job(self, part: Experiment, dataset: str, selector: str) -> Job:
        """Return a job of the package with the settings and files of trials of a search."""
        methods = {"search": "random", "scheduler": "none", "selector": selector}
        if self.grid:
            return self.grid.job(dataset, *methods.values())
        return job_of(part, Run(dataset=dataset, **methods, fraction=1.0, seed=0), {})


def curves_jobs(study: StudyFile, part: Experiment, job: Job) -> Iterator[CurvesJob]:
    """Yield the jobs that train the pool as trials of `job`, under each fraction and seed."""
    # Settings that affect a search but no training have their simplest values.
    search_only = {**OF_SUBSETS, "configurations": 1, "metric": "accuracy", "break_ties": False}
    settings = job.settings.model_copy(update={"scheduler": SchedulerSettings()})
    epochs = rungs(settings.protocol, part.scheduler)
    selector = job.run.selector
    fractions, exponents = [1.0], [0.0]
    if selector not in CONTROLS:
        fractions = part.fractions
        exponents += study.horizon_exponents.get(selector, ())
    firsts = range(0, study.pool, study.part)
    for fraction, exponent, seed, first in product(fractions, exponents, study.seeds, firsts):
        changes = search_only | {"horizon_exponent": exponent}
        protocol = settings.protocol.model_copy(update=changes)
        yield CurvesJob(
            dataset=job.run.dataset,
            selector=selector,
            fraction=fraction,
            seed=seed,
            settings=settings.model_copy(update={"protocol": protocol}),
            epochs=epochs,
            pool_seed=POOL_SEED,
            configurations=list(range(first, min(first + study.part, study.pool))),
            files=job.files,
        )


def simulated_searches(part: Experiment, pool: int, dataset: str) -> Simulated:
    """Return the searches of a part to simulate on the curves of a data set."""
    random = part.protocol_of(dataset).under("random")
    known = [name for name in part.schedulers if name in SCHEDULERS]
    return Simulated(
        kind=part.kind(dataset),
        pool=pool,
        configurations=random.configurations,
        epochs=random.epochs,
        schedulers=[name for name in known if not SCHEDULERS[name].all_data],
        scheduler=part.scheduler,
        space=random.search_space,
    )


def rungs(protocol: Protocol, settings: SchedulerSettings) -> list[int]:
    """Return the rungs of all schedulers, in epochs."""
    n, epochs = protocol.configurations, protocol.epochs
    schedulers = [load(SCHEDULERS, name)(n, epochs, settings) for name in SCHEDULERS]
    return sorted({rung for it in schedulers for trial in range(n) for rung in it.rungs(trial)})
