"""What is made of records: the tables, figures and pages of an experiment."""

from __future__ import annotations

from itertools import product

from automata.config.grid import Grid
from automata.names import METHODS
from automata.tuning import SCHEDULERS, SEARCHES
from automata.views import OF_DATASET, TABLES, Plan, figures


class Outputs:
    """The files that are made of the records of a grid."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

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

    def figures(self, experiment: str) -> list[str]:
        """Return the figures of an experiment, as pixels: those that would show something."""
        folder = f"results/{experiment}/figures"
        names = product(OF_DATASET, self._grid.datasets)
        return [f"{folder}/{name}.png" for name in figures(self._plan())] + [
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
