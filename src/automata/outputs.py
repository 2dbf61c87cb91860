"""What is made of records: the tables, figures and pages of an experiment."""

from __future__ import annotations

import json
from functools import cached_property
from itertools import product
from pathlib import Path

from automata.config.experiment import SO_FAR
from automata.config.grid import Grid
from automata.files import fingerprint
from automata.names import METHODS
from automata.runs import Place, labels, records_below
from automata.tuning import SCHEDULERS, SEARCHES
from automata.views import OF_DATASET, TABLES, Plan, figures


class Outputs:
    """The files that are made of the records of a grid, and of all records that there are."""

    def __init__(self, grid: Grid, folder: Path = Path("results/runs")) -> None:
        self._grid = grid
        self._folder = folder

    @cached_property
    def found(self) -> dict[str, Place]:
        """The records of all runs there are, of this or any other configuration, by their paths."""
        return {str(path): place for path, place in records_below(self._folder).items()}

    @cached_property
    def labels(self) -> dict[str, str | None]:
        """What tables of all records call the data set of each; see `automata.runs.labels`."""
        names = labels(self.found.values(), self._grid.configured())
        return {path: names[place] for path, place in self.found.items()}

    def other_labels(self) -> str:
        """Return the labels that are not just the name of the data set, as JSON."""
        other = {
            path: name for path, name in self.labels.items() if name != self.found[path].dataset
        }
        return json.dumps(other, sort_keys=True)

    def version(self) -> str:
        """Return what changes with any record: what is made of all of them is then made again."""
        return fingerprint({path: Path(path).stat().st_mtime_ns for path in self.found})

    def datasets(self, experiment: str) -> list[str]:
        """Return the data sets that an experiment has figures of, other protocols included."""
        if experiment == SO_FAR:
            return list(dict.fromkeys(filter(None, self.labels.values())))
        return self._grid.datasets

    def _plan(self, experiment: str) -> Plan:
        """Return the selectors of each panel; what archives hold is known when they are read."""
        if experiment != SO_FAR and self._grid.archives:
            panels = product(self._grid.datasets, SEARCHES, SCHEDULERS)
            return dict.fromkeys(panels, METHODS)
        plan: dict[tuple[str, str, str], set[str]] = {}
        for place in self.found.values() if experiment == SO_FAR else self._grid.runs:
            panel = place.dataset, place.search, place.scheduler
            plan.setdefault(panel, set()).add(place.selector)
        return plan

    def figures(self, experiment: str) -> list[str]:
        """Return the figures of an experiment, as pixels: those that would show something."""
        folder = f"results/{experiment}/figures"
        names = product(OF_DATASET, self.datasets(experiment))
        return [f"{folder}/{name}.png" for name in figures(self._plan(experiment))] + [
            f"{folder}/{name}/{dataset}.png" for name, dataset in names
        ]

    def tables(self, experiment: str) -> list[str]:
        """Return the tables of an experiment."""
        return [f"results/{experiment}/tables/{name}" for name in TABLES]

    def answers(self, experiment: str) -> list[str]:
        """Return what a user reads first: the best hyper-parameters, and the page."""
        return [f"results/{experiment}/{name}" for name in ("best.yaml", "index.html")]

    def published(self, experiment: str) -> list[str]:
        """Return what is published of an experiment besides its records.

        Some tables hold much of what the records do, and PDFs show what PNGs do: all are made again
        from the records in a minute.
        """
        kept_back = tuple(name for name, table in TABLES.items() if not table.published)
        tables = [path for path in self.tables(experiment) if not path.endswith(kept_back)]
        return [*tables, *self.figures(experiment), *self.answers(experiment)]
