"""The grid: which cells are run, and where what they read and write lies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

from automata.config.experiment import Experiment
from automata.config.inputs import Contents, contents_of, data_files, is_code, problems_of_files
from automata.config.job import Job, Run, goes_together
from automata.config.sections import LearningCurves, Simulated
from automata.curves.grid import (
    Published,
    curves_jobs,
    published_trainings,
    training_of,
    without_files,
)
from automata.curves.record import POOL_SEED, CurvesJob
from automata.errors import UserError
from automata.files import fingerprint
from automata.registry import ALL_DATA, CONTROLS, SCHEDULERS, SEARCHES
from automata.runs import MODEL, RECORD, Place, job_of, number, place_of
from automata.versions import READER

SHARED = (
    "data.cache",
    "data.mirror",
    "models.rows",
    "ray.address",
    "archives",
    "experiment",
    "carbon",
    "comparison",
)
"""What the parts of an experiment have in common: they share a folder and its tables."""

CURVES = Path("results/curves")
"""Where the records of learning curves lie."""

CONTENTS = Path("results/data/contents.json")
"""What is in the user's own files, so that they are read again only when they change."""


def alternatives(values: Iterable[str]) -> str:
    """Return the regular expression of these values, in a group: of none it is no constraint."""
    return f"(?:{'|'.join(map(re.escape, sorted(set(values))))})"


class Grid:
    """The union of the grids of experiments, which are parts of one."""

    def __init__(self, parts: Sequence[Experiment], search_path: Sequence[str]) -> None:
        """Raise UserError where parts do not go together, or own files or modules are not there."""
        self.parts = parts
        self.shared = parts[0]
        """For what all parts have in common."""
        for key in SHARED:
            values = [attrgetter(key)(part) for part in parts]
            if any(value != values[0] for value in values):
                raise UserError(f"{key}: must be the same in all parts")
        self.archives = self.shared.archives
        """Published records, from which all is made again: no run is started then."""
        self._running = [] if self.archives else parts
        self._of_dataset = {dataset: part for part in parts for dataset in part.datasets}
        self.datasets = list(self._of_dataset)
        asked = [part.learning_curves for part in parts if part.learning_curves]
        self.published_curves = _each(it.recorded for it in asked if it.recorded)
        """The folders of published learning curves."""
        self.real_runs = _each(folder for it in asked for folder in it.real)
        """The folders of tables of real runs, which simulated ones are held against."""
        self._check_files()
        memory = Contents(CONTENTS)
        self._contents = {
            dataset: {} if self.archives else contents_of(part, dataset, memory, search_path)
            for dataset, part in self._of_dataset.items()
        }
        self.names_code = any(is_code(role) for files in self._contents.values() for role in files)
        """Whether a run imports a module of the user's own."""
        self.job = cache(self._job)

    def _check_files(self) -> None:
        """Raise UserError if files or folders are not there, or cannot be used, as files show."""
        for path in self.archives:
            if not Path(path).is_file():
                raise UserError(f"archives: {path}: no such file")
        for folder in self.published_curves:
            if not Path(folder).is_dir():
                raise UserError(f"learning_curves.recorded: {folder}: no such folder")
        for dataset, part in self._of_dataset.items():
            if part.trains and not self.archives:
                for key, problem in problems_of_files(part, dataset):
                    raise UserError(f"{key}: {problem}")

    def experiment_of(self, dataset: str) -> Experiment:
        """Return the experiment that a data set belongs to."""
        return self._of_dataset[dataset]

    @cached_property
    def runs(self) -> list[Place]:
        """The places of all runs; there are none if records come from archives."""
        return [place for part in self._running for place in self._runs_of(part)]

    def _runs_of(self, part: Experiment) -> Iterator[Place]:
        """Yield the places of the runs of a part.

        Controls take no subset, the others each fraction that is listed. `untuned` is cheap and
        says something in large numbers only, so that it can have seeds of its own.
        """
        for cell in product(part.datasets, part.searches, part.schedulers, part.selectors):
            _, _, scheduler, selector = cell
            if goes_together(scheduler, selector):
                control = CONTROLS.get(selector)
                fractions = part.fractions if control is None else [control.fraction]
                seeds = (selector == "untuned" and part.untuned_seeds) or part.seeds
                place = place_of(self.job(*cell))
                for fraction, seed in product(fractions, seeds):
                    yield place._replace(fraction=number(fraction), seed=str(seed))

    @property
    def records(self) -> list[str]:
        """The records of all runs."""
        return [f"results/runs/{place.stem}/{RECORD}" for place in self.runs]

    @cached_property
    def kept(self) -> list[Place]:
        """The places of runs that leave a trained model beside their record."""
        return [
            place
            for place in self.runs
            if (part := self.experiment_of(place.dataset)).models.keep == "all"
            or (part.models.keep == "own" and place.dataset in part.own_datasets)
            if place.selector == "full" or place.selector not in CONTROLS
        ]

    @property
    def models(self) -> list[str]:
        """The models of these runs."""
        return [f"results/runs/{place.stem}/{MODEL}" for place in self.kept]

    def constraint(self, part: str) -> str:
        """Return the regular expression of a part of the places of runs."""
        return alternatives(getattr(place, part) for place in self.runs)

    def job_text(self, *, fraction: str, seed: str, **cell: str) -> str:
        """Return the job of a run as JSON, by the wildcards of its path."""
        names = ("dataset", "search", "scheduler", "selector")
        job = self.job(*(cell[name] for name in names)).model_dump(mode="json")
        job["run"] |= {"fraction": float(fraction), "seed": int(seed)}
        return json.dumps(job, sort_keys=True)

    def _job(self, dataset: str, search: str, scheduler: str, selector: str) -> Job:
        """Return what all jobs of a cell read, whatever their fraction and seed."""
        run = Run(
            dataset=dataset,
            search=search,
            scheduler=scheduler,
            selector=selector,
            fraction=CONTROLS[selector].fraction if selector in CONTROLS else 1.0,
            seed=0,
        )
        return job_of(self.experiment_of(dataset), run, self._contents[dataset])

    def own_files(self, dataset: str) -> list[Path]:
        """Return the user's own files and folders that a data set is made from."""
        paths = data_files(self.experiment_of(dataset).preparation(dataset))
        return [Path(path) for path in paths.values()]

    def preparation(self, dataset: str) -> str:
        """Return the settings that decide what is in a prepared file, as JSON."""
        stated = self.experiment_of(dataset).preparation(dataset).stated()
        return json.dumps(stated, sort_keys=True)

    def data_contents(self, dataset: str) -> dict[str, str]:
        """Return what is in the user's own files that a prepared file is made from, by role."""
        return {role: it for role, it in self._contents[dataset].items() if not is_code(role)}

    def version(self, dataset: str) -> str:
        """Return what tells apart prepared files of a data set: other settings, other content."""
        read: dict[str, Any] = self.experiment_of(dataset).preparation(dataset).stated()
        if contents := self.data_contents(dataset):
            read |= {"files": contents, "reader": READER}
        return f"-{fingerprint(read)}" if read else ""

    def prepared(self, dataset: str) -> str:
        """Return the path of the prepared file of a data set."""
        return f"results/data/{dataset}{self.version(dataset)}.safetensors"

    def encoding(self, dataset: str) -> str:
        """Return the path of what says how rows of a data set are encoded."""
        return f"results/data/{dataset}{self.version(dataset)}.encoding.json"

    @cached_property
    def curves(self) -> dict[str, CurvesJob]:
        """All jobs of learning curves, by the paths of their records."""
        return {
            path: job
            for part in self._running
            for path, job in curves_jobs(part, self._contents).items()
        }

    @cached_property
    def recorded_curves(self) -> list[str]:
        """The records of learning curves that are read: to be made, or there; else published."""
        found = []
        for path, job in self.curves.items():
            missing = set(job.configurations)
            for training in self._published_trainings(job):
                missing -= self._published[training].configurations
            trains = self.experiment_of(job.dataset).trains
            if missing and (trains or CURVES.joinpath(path).is_file()):
                found.append(path)
        return found

    @property
    def trainings_of_curves(self) -> list[str]:
        """The published trainings that are read."""
        found = {name for job in self.curves.values() for name in self._published_trainings(job)}
        return sorted(found)

    def _published_trainings(self, job: CurvesJob) -> list[str]:
        """Return the published trainings that are those of `job`.

        Where nothing is trained, files of the user's own may be others, or missing.
        """
        trains = self.experiment_of(job.dataset).trains
        name = training_of(job) if trains else without_files(job)
        published = self._published.items()
        return [key for key, it in published if name == (key if trains else it.without_files)]

    @cached_property
    def _published(self) -> dict[str, Published]:
        """The published learning curves."""
        found: dict[str, Published] = {}
        for folder in self.published_curves:
            found |= published_trainings(Path(folder))
        return found

    @property
    def simulated(self) -> dict[str, Simulated]:
        """The searches that are simulated on the learning curves of each data set."""
        return {
            dataset: _simulated(part, part.learning_curves, dataset)
            for dataset, part in self._of_dataset.items()
            if part.learning_curves is not None
        }

    @property
    def simulated_schedulers(self) -> list[str]:
        """The schedulers under which searches are simulated."""
        return _each(name for asked in self.simulated.values() for name in asked.schedulers)


def _simulated(part: Experiment, curves: LearningCurves, dataset: str) -> Simulated:
    """Return what is simulated on a data set: searches of ours that draw what was recorded."""
    protocol = part.protocol_of(dataset)
    drawn = protocol.under("random")
    alike = [name for name in part.searches if name in SEARCHES]
    return Simulated(
        pool=curves.pool,
        pool_seed=POOL_SEED,
        configurations=drawn.configurations,
        epochs=drawn.epochs,
        searches=[it for it in alike if protocol.under(it).search_space == drawn.search_space],
        schedulers=[it for it in part.schedulers if it in SCHEDULERS and it not in ALL_DATA],
        search=part.search,
        scheduler=part.scheduler,
        space=drawn.search_space,
    )


def _each(values: Iterable[str]) -> list[str]:
    """Return each of these values once."""
    return list(dict.fromkeys(values))
