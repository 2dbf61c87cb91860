"""The figures on what the paper does not show, by name."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from automata.analysis.experiment import Tables
from automata.figures.anytime import anytime_figure
from automata.figures.ceiling import ceiling_figure
from automata.figures.pareto import pareto_figure
from automata.figures.rank_agreement import rank_agreement_figure
from automata.figures.resampling import resampling_figure
from automata.figures.time_split import time_split_figure

STUDIES: dict[str, Callable[[Tables], Figure]] = {
    "pareto": pareto_figure,
    "rank-agreement": rank_agreement_figure,
    "resampling": resampling_figure,
    "ceiling": ceiling_figure,
}
"""Of a whole experiment."""

OF_DATASET: dict[str, Callable[[Tables, str], Figure]] = {
    "anytime": anytime_figure,
    "time-split": time_split_figure,
}
"""Of one data set of it."""
