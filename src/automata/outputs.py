"""The files that are made from an experiment's records: tables, figures, page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import product
from pathlib import Path

from automata.grid import Grid
from automata.names import DATASETS, METHODS
from automata.registry import SCHEDULERS, SEARCHES
from automata.views import CLAIMS, TABLES, figures


class Outputs:
    """The records of a grid, and the files that are made from them."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.folder = f"results/{grid.shared.experiment}"
        self.best = f"{self.folder}/best.yaml"
        self.page = f"{self.folder}/index.html"
        self.claims = not DATASETS.keys().isdisjoint(grid.datasets)
        """Whether the paper's claims are checked: a data set of the experiment is the paper's."""
        made = [name for name in TABLES if self.claims or name not in CLAIMS]
        self.tables = [f"{self.folder}/tables/{name}" for name in made]
        self.collected = [path for path in self.tables if not TABLES[Path(path).name].make]
        """Tables that `automata collect` makes from the records."""
        self.tabulated = [path for path in self.tables if path not in self.collected] + [self.best]
        """Files that `automata tabulate` makes from those tables."""

    @property
    def records(self) -> list[str]:
        """The records of all runs, or the folder of published records."""
        return [f"{self.folder}/records"] if self._grid.archives else self._grid.records

    @property
    def existing(self) -> list[str]:
        """The records that exist; if none does, the first path, for the error message."""
        existing = [path for path in self.records if Path(path).exists()]
        return existing or self.records[:1]

    def news(self) -> list[str]:
        """Return lines to print before the jobs start: the archives, or the numbers of runs."""
        if self._grid.archives:
            return [f"records from {', '.join(self._grid.archives)}"]
        runs = Counter(place.dataset for place in self._grid.runs)
        return [f"{dataset}: {count} runs" for dataset, count in runs.items()]

    def configfiles(self, given: Iterable[Path]) -> str:
        """Return the configuration files that make the runs again, one per line."""
        published = [
            f"config/reference/{Path(path).parent.name}.yaml" for path in self._grid.archives
        ]
        return "\n".join(published or map(str, given))

    def end(self) -> str:
        """Return the line that names the results of a finished experiment."""
        line = f"The best hyper-parameters: {self.best}; how good they are: {self.page}"
        if self._grid.kept and len(self._grid.datasets) == 1:
            command = f"automata predict {self.folder} NEWROWS --output predictions.csv"
            line += f"; predictions: {command}"
        return line

    @cached_property
    def drawn(self) -> list[str]:
        """The names of the figures that have something to show."""
        if self._grid.archives:  # archives are not read here, and may have any run
            panels = product(self._grid.datasets, SEARCHES, SCHEDULERS)
            return figures(dict.fromkeys(panels, METHODS))
        plan: dict[tuple[str, str, str], set[str]] = {}
        for place in self._grid.runs:
            panel = place.dataset, place.search, place.scheduler
            plan.setdefault(panel, set()).add(place.selector)
        return figures(plan)

    @property
    def figures(self) -> list[str]:
        """The figures as PNG files."""
        return [f"{self.folder}/figures/{name}.png" for name in self.drawn]

    @property
    def published(self) -> list[str]:
        """The files to publish beside the records; all others can be made from the records."""
        tables = [path for path in self.tables if TABLES[Path(path).name].published]
        return [*tables, *self.figures, self.best, self.page]
