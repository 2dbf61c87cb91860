"""Every figure by name. The standard library alone: the workflow reads this to plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from automata.errors import UserError
from automata.registry import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from automata.analysis.study import Study

PAPER = {
    "performance-summary": "automata.figures.summary:performance_summary",
    "framework": "automata.figures.framework:framework",
    "main": "automata.figures.paper:main",
    "text": "automata.figures.paper:text",
    "image": "automata.figures.paper:image",
    "tabular": "automata.figures.paper:tabular",
    "energy-co2": "automata.figures.paper:energy_co2",
}
"""The paper's figures: name -> "module:function", a function of the `Study`."""

DATASETS = {
    "performance-summary": ("sst2", "glue-sst2", "cifar10", "cifar100", "connect4"),
    "main": ("sst5", "trec6", "cifar10", "cifar100", "connect4"),
    "text": ("sst2", "glue-sst2", "sst5", "trec6"),
    "image": ("cifar10", "cifar100", "svhn"),
    "tabular": ("dna", "satimage", "letter", "connect4"),
    "energy-co2": ("cifar100", "svhn"),
}
"""Data sets of the paper's figures, a row each. The framework needs none."""

STUDIES = {
    "pareto": "automata.figures.pareto:pareto_figure",
    "resampling": "automata.figures.resampling:resampling_figure",
    "rank-agreement": "automata.figures.rank_agreement:rank_agreement_figure",
    "ceiling": "automata.figures.ceiling:ceiling_figure",
}
"""What the paper does not show, in the same way."""

OF_DATASET = {
    "tradeoff": "automata.figures.dataset:tradeoff",
    "energy": "automata.figures.dataset:energy",
    "co2-measured": "automata.figures.dataset:co2_measured",
    "co2-time": "automata.figures.dataset:co2_time",
    "anytime": "automata.figures.anytime:anytime_figure",
    "time-split": "automata.figures.time_split:time_split_figure",
}
"""Figures of one data set: functions of the `Study` and its name."""


def draw(name: str, tables: Study) -> Figure:
    """Return the figure `name` of an experiment; raises UserError for another name."""
    figures = PAPER | STUDIES
    figure: Figure = load(figures, _known(name, figures))(tables)
    return figure


def draw_dataset(name: str, tables: Study, dataset: str) -> Figure:
    """Return the figure `name` of a data set; raises UserError for another name or data set."""
    figure: Figure = load(OF_DATASET, _known(name, OF_DATASET))(tables, dataset)
    return figure


def _known(name: str, figures: dict[str, str]) -> str:
    if name not in figures:
        raise UserError(f"figure '{name}' is not one of {', '.join(figures)}")
    return name
