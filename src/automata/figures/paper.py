"""The paper's figures of results, panel by panel."""

from __future__ import annotations

from matplotlib.figure import Figure

from automata.analysis.quantities import RATIOS
from automata.analysis.study import Panel, Study
from automata.figures.grid import Row, grid_figure
from automata.views import PAPERS_SCHEDULERS

COLUMNS = [(search, scheduler) for scheduler in PAPERS_SCHEDULERS for search in ("random", "tpe")]
"""Search and scheduler of each column."""


def speedups(study: Study, *datasets: str) -> Figure:
    """Return the speedups of `datasets`, a row of panels each."""
    return grid_figure(study, [_row(dataset) for dataset in datasets])


def energy_co2(study: Study, of_energy: str, of_co2: str) -> Figure:
    """Return the energy ratios of one data set, and the CO2 ratios of another.

    CO2 is computed from time, as in the paper.
    """
    return grid_figure(study, [_row(of_energy, "energy_ratio"), _row(of_co2, "co2_time_ratio")])


def _row(dataset: str, ratio: str = "speedup") -> Row:
    return Row([Panel(dataset, *column) for column in COLUMNS], RATIOS[ratio])
