"""The grid: its runs, and the paths of the files that they read and write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import product
from operator import attrgetter
from pathlib import Path

from automata.config.experiment import Experiment
from automata.config.job import Job, Run
from automata.config.sources import contents_of, is_code
from automata.errors import UserError
from automata.files import fingerprint
from automata.records.paths import MODEL, RECORD, Place, job_of, number, place_of
from automata.registry import CONTROLS, goes_together

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
"""Keys that must be equal in all parts, because the parts share files and tables."""

CONTENTS = Path("results/data/contents.json")
"""Hashes of the user's own files; only changed files are read again."""

READER = 4
"""Version of the reader of a user's own files. A new version prepares them again."""


def alternatives(values: Iterable[str]) -> str:
    """Return a regular expression that matches any of `values`, as a group that may be empty."""
    return f"(?:{'|'.join(map(re.escape, sorted(set(values))))})"


class Grid:
    """The union of the grids of an experiment's parts."""

    def __init__(self, parts: Sequence[Experiment], search_path: Sequence[str]) -> None:
        """Raise UserError if the parts conflict, or if the user's files or modules are missing."""
        self.shared = parts[0]
        """The part from which the keys in SHARED are read."""
        for key in SHARED:
            values = [attrgetter(key)(part) for part in parts]
            if any(value != values[0] for value in values):
                raise UserError(f"{key}: must be the same in all parts")
        self.archives = self.shared.archives
        """Files of published records. If there are any, no run is started."""
        self._parts_with_runs = [] if self.archives else parts
        self._of_dataset = {dataset: part for part in parts for dataset in part.datasets}
        self.datasets = [*self._of_dataset]
        for path in self.archives:
            if not Path(path).is_file():
                raise UserError(f"archives: {path}: no such file")
        self._contents = {
            dataset: {} if self.archives else contents_of(part, dataset, CONTENTS, search_path)
            for dataset, part in self._of_dataset.items()
        }
        self.names_code = any(is_code(role) for files in self._contents.values() for role in files)
        """Whether a run imports a user's own module."""
        self.job = cache(self._job)

    def experiment_of(self, dataset: str) -> Experiment:
        """Return the part that a data set belongs to."""
        return self._of_dataset[dataset]

    @cached_property
    def runs(self) -> list[Place]:
        """The places of all runs; empty if records come from archives."""
        return [place for part in self._parts_with_runs for place in self._runs_of(part)]

    def _runs_of(self, part: Experiment) -> Iterator[Place]:
        """Yield the places of the runs of a part."""
        for values in product(part.datasets, part.searches, part.schedulers, part.selectors):
            _, _, scheduler, selector = values
            if goes_together(scheduler, selector):
                place = place_of(self.job(*values))
                for fraction, seed in product(*part.sizes_of(selector)):
                    yield place._replace(fraction=number(fraction), seed=str(seed))

    @property
    def records(self) -> list[str]:
        """The paths of the records of all runs."""
        return [f"results/runs/{place.stem}/{RECORD}" for place in self.runs]

    @cached_property
    def kept(self) -> list[Place]:
        """The places of runs that write a trained model beside their record."""
        return [
            place
            for place in self.runs
            if (part := self.experiment_of(place.dataset)).models.keep == "all"
            or (part.models.keep == "own" and place.dataset in part.own_datasets)
            if place.selector == "full" or place.selector not in CONTROLS
        ]

    @property
    def models(self) -> list[str]:
        """The paths of the trained models of `kept` runs."""
        return [f"results/runs/{place.stem}/{MODEL}" for place in self.kept]

    def constraint(self, wildcard: str) -> str:
        """Return the regular expression of a wildcard, from the paths of all runs."""
        return alternatives(getattr(place, wildcard) for place in self.runs)

    def job_text(self, *, fraction: str, seed: str, **wildcards: str) -> str:
        """Return the job of a run as JSON, given the wildcards of its path."""
        names = ("dataset", "search", "scheduler", "selector")
        job = self.job(*(wildcards[name] for name in names)).model_dump(mode="json")
        job["run"] |= {"fraction": float(fraction), "seed": int(seed)}
        return json.dumps(job, sort_keys=True)

    def _job(self, dataset: str, search: str, scheduler: str, selector: str) -> Job:
        """Return the job of these methods, with an arbitrary fraction and seed."""
        run = Run(
            dataset=dataset,
            search=search,
            scheduler=scheduler,
            selector=selector,
            fraction=CONTROLS[selector].fraction if selector in CONTROLS else 1.0,
            seed=0,
        )
        return job_of(self.experiment_of(dataset), run, self._contents[dataset])

    def data_contents(self, dataset: str) -> dict[str, str]:
        """Return the hashes of the user's own files that a data set is made from, by role."""
        files = self._contents[dataset].items()
        return {role: content for role, content in files if not is_code(role)}

    def version(self, dataset: str) -> str:
        """Return the suffix of a prepared file: a fingerprint of its settings and content."""
        inputs = self.experiment_of(dataset).preparation(dataset).stated()
        if contents := self.data_contents(dataset):
            inputs |= {"files": contents, "reader": READER}
        return f"-{fingerprint(inputs)}" if inputs else ""

    def prepared(self, dataset: str) -> str:
        """Return the path of the prepared file of a data set."""
        return f"results/data/{dataset}{self.version(dataset)}.safetensors"

    def encoding(self, dataset: str) -> str:
        """Return the path of the encoding of a data set's rows."""
        return f"results/data/{dataset}{self.version(dataset)}.encoding.json"

    @property
    def baselines(self) -> list[str]:
        """The paths of the scores of simple models, for the user's own data sets with runs."""
        own = (
            it for part in self._parts_with_runs for it in part.datasets if it in part.own_datasets
        )
        return [f"results/data/{it}{self.version(it)}.baselines.json" for it in own]
