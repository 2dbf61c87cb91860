"""The paper's figures of results, panel by panel."""

from __future__ import annotations

from matplotlib.figure import Figure

from automata.analysis.quantities import RATIOS
from automata.analysis.study import Panel, Study
from automata.figures.grid import Row, grid_figure
from automata.views import PAPER

COLUMNS = (("random", "hyperband"), ("tpe", "hyperband"), ("random", "asha"), ("tpe", "asha"))
"""Search and scheduler of each column."""


def main(study: Study) -> Figure:
    """Return the results of the main text: panels a to t."""
    return grid_figure(study, [_row(dataset) for dataset in PAPER["main"].datasets])


def text(study: Study) -> Figure:
    """Return the appendix's results on text: panels a to p."""
    return grid_figure(study, [_row(dataset) for dataset in PAPER["text"].datasets])


def image(study: Study) -> Figure:
    """Return the appendix's results on images: panels a to l."""
    return grid_figure(study, [_row(dataset) for dataset in PAPER["image"].datasets])


def tabular(study: Study) -> Figure:
    """Return the appendix's results on tables: panels a to p."""
    return grid_figure(study, [_row(dataset) for dataset in PAPER["tabular"].datasets])


def energy_co2(study: Study) -> Figure:
    """Return energy on CIFAR100 (a to d) and CO2, from time as in the paper, on SVHN (e to h)."""
    of_energy, of_co2 = PAPER["energy-co2"].datasets
    return grid_figure(study, [_row(of_energy, "energy_ratio"), _row(of_co2, "co2_time_ratio")])


def _row(dataset: str, ratio: str = "speedup") -> Row:
    return Row([Panel(dataset, *column) for column in COLUMNS], RATIOS[ratio])
