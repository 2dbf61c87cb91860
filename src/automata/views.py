"""The catalogue of views: every figure and table that is made of an experiment, by name.

A view is a name, a function, and what readers must know. Rules, page, report and commands take
them from here: a new figure is a function and an entry. Nothing is drawn or read by importing this:
the workflow plans with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from automata.analysis.quantities import QUANTITIES
from automata.errors import UserError
from automata.names import AUTOMATA, CONTROLS, DATASETS
from automata.registry import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from automata.analysis.study import Study


@dataclass(frozen=True)
class Plan:
    """What an experiment runs, of each axis of its grid, as far as its configuration tells."""

    datasets: Collection[str]
    selectors: Collection[str]

    @property
    def subsets(self) -> set[str]:
        """The selectors that take subsets."""
        return set(self.selectors) - set(CONTROLS)


@dataclass(frozen=True)
class View:
    """A figure."""

    name: str
    title: str
    make: str
    """"module:function" of the `Study`, and for a figure of a data set of its name."""
    caption: str
    needs: Callable[[Plan], bool] = lambda _: True
    """Says of a plan whether the figure would have anything to show."""
    datasets: tuple[str, ...] = ()
    """Data sets of a figure of the paper, a row each."""


def _compares(plan: Plan) -> bool:
    return "full" in plan.selectors and len(plan.selectors) > 1


def _has(*selectors: str) -> Callable[[Plan], bool]:
    return lambda plan: set(selectors) <= set(plan.selectors)


PAPER = {
    view.name: view
    for view in (
        View(
            "performance-summary",
            "Performance summary",
            "automata.figures.summary:performance_summary",
            "AUTOMATA at a glance (the paper's Figure 1): speedup over FULL, relative test error "
            "and tuning time. A point is one search and subset size, the mean over its seeds.",
            _has("full", AUTOMATA),
            ("sst2", "glue-sst2", "cifar10", "cifar100", "connect4"),
        ),
        View(
            "framework",
            "How AUTOMATA works",
            "automata.figures.framework:framework",
            "The framework (the paper's Figure 2): a search proposes configurations, each is "
            "trained on subsets chosen by its own gradients, a scheduler stops poor ones early, "
            "and the best is trained once more on all data.",
            _has(AUTOMATA),
            tuple(DATASETS),
        ),
        View(
            "main",
            "Trade-offs: the paper's main figure",
            "automata.figures.paper:main",
            f"Speedup over FULL against relative test error, in the layout of the paper's Figure "
            f"3. Speedup: {QUANTITIES['speedup'].definition} Relative test error: "
            f"{QUANTITIES['relative_test_error'].definition}",
            _compares,
            ("sst5", "trec6", "cifar10", "cifar100", "connect4"),
        ),
        View(
            "text",
            "Trade-offs: text",
            "automata.figures.paper:text",
            "Speedup over FULL against relative test error on the text data sets, in the layout "
            "of the paper's appendix.",
            _compares,
            ("sst2", "glue-sst2", "sst5", "trec6"),
        ),
        View(
            "image",
            "Trade-offs: images",
            "automata.figures.paper:image",
            "Speedup over FULL against relative test error on the image data sets, in the layout "
            "of the paper's appendix.",
            _compares,
            ("cifar10", "cifar100", "svhn"),
        ),
        View(
            "tabular",
            "Trade-offs: tables",
            "automata.figures.paper:tabular",
            "Speedup over FULL against relative test error on the tabular data sets, in the "
            "layout of the paper's appendix.",
            _compares,
            ("dna", "satimage", "letter", "connect4"),
        ),
        View(
            "energy-co2",
            "Energy and CO2",
            "automata.figures.paper:energy_co2",
            "Energy ratio on CIFAR100 and CO2 ratio on SVHN against relative test error, in the "
            "layout of the paper's appendix. As in the paper CO2 comes from time, so its ratio is "
            "the speedup: no independent evidence.",
            _compares,
            ("cifar100", "svhn"),
        ),
    )
}
"""The paper's figures: functions of the study."""

STUDIES = {
    view.name: view
    for view in (
        View(
            "resampling",
            "Gradients or re-sampling",
            "automata.figures.resampling:resampling_figure",
            "Differences between selectors, in pairs of runs that are alike in all else: what "
            "drawing new subsets adds to a fixed one, and what gradients add to that.",
            lambda plan: "full" in plan.selectors and len(plan.subsets) > 1,
        ),
        View(
            "pareto",
            "Pareto fronts",
            "automata.figures.pareto:pareto_figure",
            "How often each selector is on the Pareto front of speedup and relative test error, "
            "and the area that it dominates. FULL takes part as one point.",
            lambda plan: "full" in plan.selectors and bool(plan.subsets),
        ),
        View(
            "rank-agreement",
            "Agreement of ranks with FULL",
            "automata.figures.rank_agreement:rank_agreement_figure",
            "Kendall's tau between the validation accuracies that a subset method and FULL give "
            "to the same configurations, by the epoch of the evaluation. FULL's repeat is the "
            "noise ceiling.",
            lambda plan: "full" in plan.selectors and bool(plan.subsets),
        ),
        View(
            "ceiling",
            "Speedup and its ceiling",
            "automata.figures.ceiling:ceiling_figure",
            f"Measured speedup against its ceiling: {QUANTITIES['ceiling'].definition} A point is "
            "one combination, the mean over its seeds.",
            lambda plan: "full" in plan.selectors and bool(plan.subsets),
        ),
    )
}
"""What the paper does not show: functions of the study."""

OF_DATASET = {
    view.name: view
    for view in (
        View(
            "tradeoff",
            "Trade-off",
            "automata.figures.dataset:tradeoff",
            "Speedup over FULL against relative test error, a panel per search and scheduler. "
            "Smaller subsets lie further right; the bottom right corner is the best.",
        ),
        View(
            "energy",
            "Trade-off of energy",
            "automata.figures.dataset:energy",
            f"Energy ratio against relative test error. {QUANTITIES['energy_ratio'].definition} "
            "The note in the figure says whether energy was read from counters or estimated from "
            "CPU time. Runs without an energy that compares with FULL's are left out.",
        ),
        View(
            "anytime",
            "Best configuration found over time",
            "automata.figures.anytime:anytime_figure",
            "The best validation accuracy found so far against the time and the energy of the "
            "search. A subset method's scores are of models trained on subsets; the final "
            "training comes on top.",
        ),
        View(
            "time-split",
            "Where the time goes",
            "automata.figures.time_split:time_split_figure",
            "Where the seconds of a run go: training, selection, evaluation and orchestration of "
            "the search, and the final training.",
        ),
    )
}
"""Figures of one data set: functions of the study and its name."""


def figures(plan: Plan) -> list[str]:
    """Return the figures of an experiment that would show something, in the order of the page."""
    return [
        view.name
        for view in (PAPER | STUDIES).values()
        if view.needs(plan) and (not view.datasets or set(view.datasets) & set(plan.datasets))
    ]


def draw(name: str, study: Study) -> Figure:
    """Return the figure `name` of an experiment; raises UserError for another name."""
    figure: Figure = _made(PAPER | STUDIES, name, study)
    return figure


def draw_dataset(name: str, study: Study, dataset: str) -> Figure:
    """Return the figure `name` of a data set; raises UserError for another name or data set."""
    known = sorted(set(study.runs["dataset"]))
    if dataset not in known:
        raise UserError(f"dataset '{dataset}' is not one of {', '.join(known)}")
    figure: Figure = _made(OF_DATASET, name, study, dataset)
    return figure


def _made(views: dict[str, View], name: str, *arguments: Any) -> Any:
    if name not in views:
        raise UserError(f"figure '{name}' is not one of {', '.join(views)}")
    return load({name: views[name].make}, name)(*arguments)
