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
from automata.config.sections import Simulated
from automata.curves.grid import (
    Published,
    curves_jobs,
    published_trainings,
    training_of,
    without_files,
)
from automata.curves.record import CurvesJob
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
"""What the parts of an experiment have in common: they share a folder, and one table has them all.

So that one set of assumptions is behind its CO2, and one rule says which runs compare.
"""

CURVES = Path("results/curves")
"""Where the records of learning curves lie."""

CONTENTS = Path("results/data/contents.json")
"""Where is remembered what is in the user's own files: they are read again when they change."""


def cells(experiment: Experiment) -> Iterator[Run]:
    """Yield the runs of an experiment.

    Controls take no subset, the others each fraction that is listed; schedulers for all data have
    controls alone. `untuned` is cheap and says something in large numbers only, so that it can have
    seeds of its own.
    """
    axes = experiment.datasets, experiment.searches, experiment.schedulers, experiment.selectors
    for dataset, search, scheduler, selector in product(*axes):
        if not goes_together(scheduler, selector):
            continue
        control = CONTROLS.get(selector)
        own_seeds = experiment.untuned_seeds if selector == "untuned" else None
        for fraction in experiment.fractions if control is None else [control.fraction]:
            for seed in own_seeds or experiment.seeds:
                yield Run(
                    dataset=dataset,
                    search=search,
                    scheduler=scheduler,
                    selector=selector,
                    fraction=fraction,
                    seed=seed,
                )


def alternatives(values: Iterable[str]) -> str:
    """Return the regular expression of these values, in a group: of none it is no constraint."""
    return f"(?:{'|'.join(map(re.escape, sorted(set(values))))})"


class Grid:
    """The union of the grids of experiments, which are parts of one."""

    def __init__(self, parts: Sequence[Experiment], search_path: Sequence[str]) -> None:
        """Raise UserError where parts do not go together, or files of the user's are no good.

        Modules of own models are looked for on `search_path`.
        """
        for key in SHARED:
            values = [attrgetter(key)(part) for part in parts]
            if any(value != values[0] for value in values):
                raise UserError(f"{key}: must be the same in all parts")
        self.parts = parts
        self.shared = parts[0]
        """For what all parts have in common."""
        self.archives = self.shared.archives
        """Published records, from which all is made again: no run is started then."""
        self._of_dataset = {dataset: part for part in parts for dataset in part.datasets}
        self.datasets = list(self._of_dataset)
        self._check_files()
        memory = Contents(CONTENTS)
        self._contents = {
            dataset: {} if self.archives else contents_of(part, dataset, memory, search_path)
            for dataset, part in self._of_dataset.items()
        }
        self.job = cache(self._job)
        self.place = cache(self._place)

    def _check_files(self) -> None:
        """Raise UserError if files or folders are not there, or cannot be used, as files show."""
        for path in self.archives:
            if not Path(path).is_file():
                raise UserError(f"archives: {path}: no such file")
        for folder in self.published_curves:
            if not Path(folder).is_dir():
                raise UserError(f"learning_curves.recorded: {folder}: no such folder")
        for dataset, part in ({} if self.archives else self._of_dataset).items():
            if not part.trains:
                continue  # what was recorded elsewhere needs no files here
            for key, problem in problems_of_files(part, dataset):
                raise UserError(f"{key}: {problem}")

    def experiment_of(self, dataset: str) -> Experiment:
        """Return the experiment that a data set belongs to."""
        return self._of_dataset[dataset]

    @cached_property
    def runs(self) -> list[Place]:
        """The places of all runs; there are none if records come from archives."""
        return [
            self.place(run.dataset, run.search, run.scheduler, run.selector)._replace(
                fraction=number(run.fraction), seed=str(run.seed)
            )
            for part in ([] if self.archives else self.parts)
            for run in cells(part)
        ]

    @property
    def records(self) -> list[str]:
        """The records of all runs."""
        return [f"results/runs/{place.stem}/{RECORD}" for place in self.runs]

    @property
    def kept(self) -> list[Place]:
        """The places of runs that leave a trained model beside their record."""
        return [place for place in self.runs if self._keeps(place)]

    @property
    def models(self) -> list[str]:
        """The models of these runs."""
        return [f"results/runs/{place.stem}/{MODEL}" for place in self.kept]

    def _keeps(self, place: Place) -> bool:
        experiment = self.experiment_of(place.dataset)
        own = place.dataset in experiment.own_datasets
        control = CONTROLS.get(place.selector)
        real = control is None or place.selector == "full"
        return real and experiment.models.keep in ("all", *["own"] * own)

    @cached_property
    def curves(self) -> dict[str, CurvesJob]:
        """All jobs of learning curves, by the paths of their records."""
        return {
            path: job
            for part in ([] if self.archives else self.parts)
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
        if self.experiment_of(job.dataset).trains:
            return [training_of(job)] * (training_of(job) in self._published)
        name = without_files(job)
        return [key for key, found in self._published.items() if found.without_files == name]

    @cached_property
    def published_curves(self) -> list[str]:
        """The folders of published learning curves."""
        asked = (part.learning_curves for part in self.parts)
        return list(dict.fromkeys(it.recorded for it in asked if it and it.recorded))

    @property
    def real_runs(self) -> list[str]:
        """The folders of tables of real runs, which simulated ones are held against."""
        asked = (part.learning_curves for part in self.parts)
        return list(dict.fromkeys(folder for it in asked if it for folder in it.real))

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
        found = {}
        for dataset, part in self._of_dataset.items():
            if part.learning_curves is not None:
                protocol = part.protocol_of(dataset)
                drawn = protocol.under("random")
                found[dataset] = Simulated(
                    pool=part.learning_curves.pool,
                    pool_seed=part.learning_curves.pool_seed,
                    configurations=drawn.configurations,
                    epochs=drawn.epochs,
                    searches=[
                        name
                        for name in part.searches
                        if name in SEARCHES
                        and protocol.under(name).search_space == drawn.search_space
                    ],
                    schedulers=[
                        name
                        for name in part.schedulers
                        if name in SCHEDULERS and name not in ALL_DATA
                    ],
                    search=part.search,
                    scheduler=part.scheduler,
                    space=drawn.search_space,
                )
        return found

    @property
    def simulated_schedulers(self) -> list[str]:
        """The schedulers under which searches are simulated."""
        return list(
            dict.fromkeys(it for asked in self.simulated.values() for it in asked.schedulers)
        )

    def encoding(self, dataset: str) -> str:
        """Return the path of what says how rows of a data set are encoded."""
        return self.prepared(dataset).removesuffix(".safetensors") + ".encoding.json"

    def constraint(self, part: str) -> str:
        """Return the regular expression of a part of the places of runs."""
        return alternatives(getattr(place, part) for place in self.runs)

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

    def _place(self, dataset: str, search: str, scheduler: str, selector: str) -> Place:
        """Return the place of a run of such a cell, whatever its fraction and seed."""
        return place_of(self.job(dataset, search, scheduler, selector))

    def own_files(self, dataset: str) -> list[Path]:
        """Return the user's own files and folders that a data set is made from."""
        paths = data_files(self.experiment_of(dataset).preparation(dataset))
        return [Path(path) for path in paths.values()]

    def preparation(self, dataset: str) -> str:
        """Return the settings that decide what is in a prepared file, as JSON."""
        stated = self.experiment_of(dataset).preparation(dataset).stated()
        return json.dumps(stated, sort_keys=True)

    @property
    def names_code(self) -> bool:
        """Whether a run imports a module of the user's own."""
        return any(is_code(role) for files in self._contents.values() for role in files)

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
