"""What is made of records: the tables, figures and pages of an experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import product
from pathlib import Path

from automata import allocation
from automata.grid import Grid
from automata.names import METHODS
from automata.registry import SCHEDULERS, SEARCHES
from automata.views import BEST, OF_DATASET, TABLES, Plan, figures


class Outputs:
    """The records of a grid, and the files that are made of them."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.folder = f"results/{grid.shared.experiment}"
        self.best = f"{self.folder}/{Path(BEST.name).name}"
        self.page = f"{self.folder}/index.html"
        self.tables = [f"{self.folder}/tables/{name}" for name in TABLES]
        self.collected = [path for path in self.tables if not TABLES[Path(path).name].make]
        """Tables that are made of records."""
        self.tabulated = [path for path in self.tables if path not in self.collected] + [self.best]
        """What is made of those."""

    @property
    def records(self) -> list[str]:
        """The records of all runs, or the folder of those that were published."""
        return [f"{self.folder}/records"] if self._grid.archives else self._grid.records

    @property
    def existing(self) -> list[str]:
        """The records that are there, or one that is missing."""
        there = [path for path in self.records if Path(path).exists()]
        return there or self.records[:1]

    def news(self, elsewhere: bool) -> list[str]:
        """Return lines to read before any job runs here, or `elsewhere`: how many runs there are.

        A GPU that is asked for and is not here is told, too.
        """
        if self._grid.archives:
            return [f"records from {', '.join(self._grid.archives)}"]
        runs = Counter(place.dataset for place in self._grid.runs)
        lines = [f"{dataset}: {count} runs" for dataset, count in runs.items()]
        wanted = any(part.compute.device == "cuda" for part in self._grid.parts)
        if wanted and not elsewhere and allocation.gpus_of_host() == 0:
            lines.append("compute.device: cuda: NVML knows no GPU on this machine")
        return lines

    def end(self, targets: Iterable[str]) -> str:
        """Return the line on what to read when these `targets` are made, if it is among them."""
        if {"all"}.isdisjoint(targets or {"all"}):
            return ""
        line = f"The best hyper-parameters: {self.best}; how good they are: {self.page}"
        if self._grid.kept and len(self._grid.datasets) == 1:
            command = f"automata predict {self.folder} NEWROWS --output predictions.csv"
            line += f"; predictions: {command}"
        return line

    def _plan(self) -> Plan:
        """Return the selectors of each panel; what archives hold is known when they are read."""
        if self._grid.archives:
            panels = product(self._grid.datasets, SEARCHES, SCHEDULERS)
            return dict.fromkeys(panels, METHODS)
        plan: dict[tuple[str, str, str], set[str]] = {}
        for place in self._grid.runs:
            panel = place.dataset, place.search, place.scheduler
            plan.setdefault(panel, set()).add(place.selector)
        return plan

    @cached_property
    def drawn(self) -> list[str]:
        """The names of the figures that would show something."""
        of_datasets = (f"{name}/{it}" for name, it in product(OF_DATASET, self._grid.datasets))
        return [*figures(self._plan()), *of_datasets]

    @property
    def figures(self) -> list[str]:
        """The figures, as pixels."""
        return [f"{self.folder}/figures/{name}.png" for name in self.drawn]

    @property
    def published(self) -> list[str]:
        """What is published besides the records.

        Some tables hold much of what the records do, and PDFs show what PNGs do: all are made again
        from the records in a minute.
        """
        kept_back = tuple(name for name, table in TABLES.items() if not table.published)
        tables = [path for path in self.tables if not path.endswith(kept_back)]
        return [*tables, *self.figures, self.best, self.page]
