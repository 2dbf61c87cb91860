"""One data set in all searches and schedulers of the experiment."""

from __future__ import annotations

from matplotlib.figure import Figure

from automata import names
from automata.analysis.quantities import RATIOS
from automata.analysis.study import Panel, Study
from automata.errors import UserError
from automata.figures.grid import COLUMNS, Row, grid_figure


def dataset_figure(tables: Study, dataset: str, ratio: str) -> Figure:
    """Return the panels of `dataset` with `ratio` on x, in the order of the paper.

    There is one for each search and scheduler of the experiment, four in a row. Raises UserError
    for a data set that the experiment does not have.
    """
    known = sorted(set(tables.runs["dataset"]))
    if dataset not in known:
        raise UserError(f"dataset '{dataset}' is not one of {', '.join(known)}")
    run = set(zip(tables.runs["search"], tables.runs["scheduler"], strict=True))
    panels = [
        Panel(dataset, search, scheduler)
        for scheduler in names.SCHEDULERS
        for search in names.SEARCHES
        if (search, scheduler) in run
    ]
    rows = [panels[i : i + COLUMNS] for i in range(0, len(panels), COLUMNS)]
    return grid_figure(tables, [Row(row, RATIOS[ratio]) for row in rows])


def tradeoff(tables: Study, dataset: str) -> Figure:
    """Return the speedups of `dataset`."""
    return dataset_figure(tables, dataset, "speedup")


def energy(tables: Study, dataset: str) -> Figure:
    """Return the energy ratios of `dataset`."""
    return dataset_figure(tables, dataset, "energy_ratio")


def co2_measured(tables: Study, dataset: str) -> Figure:
    """Return the CO2 ratios of `dataset`, from measured energy."""
    return dataset_figure(tables, dataset, "co2_measured_ratio")


def co2_time(tables: Study, dataset: str) -> Figure:
    """Return the CO2 ratios of `dataset`, from time."""
    return dataset_figure(tables, dataset, "co2_time_ratio")
