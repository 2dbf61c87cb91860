"""What is made of records: the tables, figures and pages of an experiment."""

from __future__ import annotations

from itertools import product

from automata.grid import Grid
from automata.names import METHODS
from automata.registry import SCHEDULERS, SEARCHES
from automata.views import OF_DATASET, TABLES, Plan, figures


class Outputs:
    """The files that are made of the records of a grid."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._folder = f"results/{grid.shared.experiment}"

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

    @property
    def figures(self) -> list[str]:
        """The figures, as pixels: those that would show something."""
        names = product(OF_DATASET, self._grid.datasets)
        return [f"{self._folder}/figures/{name}.png" for name in figures(self._plan())] + [
            f"{self._folder}/figures/{name}/{dataset}.png" for name, dataset in names
        ]

    @property
    def tables(self) -> list[str]:
        """The tables."""
        return [f"{self._folder}/tables/{name}" for name in TABLES]

    @property
    def answers(self) -> list[str]:
        """What a user reads first: the best hyper-parameters, and the page."""
        return [f"{self._folder}/{name}" for name in ("best.yaml", "index.html")]

    @property
    def published(self) -> list[str]:
        """What is published besides the records.

        Some tables hold much of what the records do, and PDFs show what PNGs do: all are made again
        from the records in a minute.
        """
        kept_back = tuple(name for name, table in TABLES.items() if not table.published)
        tables = [path for path in self.tables if not path.endswith(kept_back)]
        return [*tables, *self.figures, *self.answers]
