"""Every figure by name. The standard library alone: the workflow reads this to plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from automata.errors import UserError
from automata.registry import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from automata.analysis.experiment import Tables

FIGURES = {
    "performance-summary": "automata.figures.summary:performance_summary",
    "framework": "automata.figures.framework:framework",
    "main": "automata.figures.paper:main",
    "text": "automata.figures.paper:text",
    "image": "automata.figures.paper:image",
    "tabular": "automata.figures.paper:tabular",
    "energy-co2": "automata.figures.paper:energy_co2",
}
"""Figures of a whole experiment: a function of its `Tables`, as "module:function"."""

DATASET_FIGURES = {
    "tradeoff": "automata.figures.dataset:tradeoff",
    "energy": "automata.figures.dataset:energy",
    "co2-measured": "automata.figures.dataset:co2_measured",
    "co2-time": "automata.figures.dataset:co2_time",
}
"""Figures of one data set: a function of the `Tables` and its name, as "module:function"."""


def draw(name: str, tables: Tables) -> Figure:
    """Return the figure `name` of an experiment; raises UserError for another name."""
    figure: Figure = load(FIGURES, _known(name, FIGURES))(tables)
    return figure


def draw_dataset(name: str, tables: Tables, dataset: str) -> Figure:
    """Return the figure `name` of a data set; raises UserError for another name or data set."""
    figure: Figure = load(DATASET_FIGURES, _known(name, DATASET_FIGURES))(tables, dataset)
    return figure


def _known(name: str, figures: dict[str, str]) -> str:
    if name not in figures:
        raise UserError(f"figure '{name}' is not one of {', '.join(figures)}")
    return name
