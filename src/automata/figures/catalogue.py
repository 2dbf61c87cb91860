"""Every figure by name, and what it needs. The standard library alone: the workflow plans by it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import product
from typing import TYPE_CHECKING, Any

from automata.errors import UserError
from automata.names import AUTOMATA, CONTRASTS, CONTROLS, SELECTORS
from automata.registry import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from automata.analysis.study import Study
    from automata.runs import Place

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

COLUMNS = (("random", "hyperband"), ("tpe", "hyperband"), ("random", "asha"), ("tpe", "asha"))
"""Search and scheduler of their columns."""

STUDIES = {
    "selector-comparison": "automata.figures.selector_comparison:selector_comparison",
    "pareto": "automata.figures.pareto:pareto_figure",
    "rank-agreement": "automata.figures.rank_agreement:rank_agreement_figure",
    "ceiling": "automata.figures.ceiling:ceiling_figure",
}
"""What the paper does not show, in the same way."""

OF_DATASET = {
    "tradeoff": "automata.figures.grid:tradeoff",
    "energy": "automata.figures.grid:energy",
    "anytime": "automata.figures.anytime:anytime_figure",
    "time-split": "automata.figures.time_split:time_split_figure",
}
"""Figures of one data set: functions of the `Study` and its name."""


def shows(name: str, runs: Collection[Place]) -> bool:
    """Say whether the figure `name` would show any of `runs`, those of a grid.

    For a figure of one data set they are those of it. Speedups and errors need FULL beside them.
    """
    if name == "framework":
        return True
    if name == "anytime":
        return any(run.selector != "untuned" for run in runs)
    cells = _beside_full(runs)
    if name == "time-split":
        return bool(cells) or any(run.selector in ("full", "untuned") for run in runs)
    if name == "selector-comparison":
        return any(
            (*panel, baseline, fraction) in cells
            for selector, baseline in CONTRASTS
            for *panel, one, fraction in cells
            if one == selector
        )
    if name in DATASETS:
        drawn = (AUTOMATA,) if name == "performance-summary" else SELECTORS
        places = set(product(DATASETS[name], COLUMNS, drawn))
        cells = {cell for cell in cells if (cell[0], cell[1:3], cell[3]) in places}
    return bool(cells)


def _beside_full(runs: Collection[Place]) -> set[tuple[Any, ...]]:
    """Return data set, search, scheduler, selector and fraction of subsets in panels with FULL."""
    full = {_panel(run) for run in runs if run.selector == "full"}
    return {
        (*_panel(run), run.selector, run.fraction)
        for run in runs
        if run.selector not in CONTROLS and _panel(run) in full
    }


def _panel(run: Place) -> tuple[str, str, str]:
    return run.dataset, run.search, run.scheduler


def draw(name: str, study: Study) -> Figure:
    """Return the figure `name` of an experiment; raises UserError for another name."""
    figures = PAPER | STUDIES
    figure: Figure = load(figures, _known(name, figures))(study)
    return figure


def draw_dataset(name: str, study: Study, dataset: str) -> Figure:
    """Return the figure `name` of a data set; raises UserError for another name or data set."""
    figure: Figure = load(OF_DATASET, _known(name, OF_DATASET))(study, dataset)
    return figure


def _known(name: str, figures: dict[str, str]) -> str:
    if name not in figures:
        raise UserError(f"figure '{name}' is not one of {', '.join(figures)}")
    return name
