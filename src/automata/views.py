"""The catalogue of views: every figure and table that is made of an experiment, by name.

A view is a name, a function, what that reads, and what readers must know. Rules, commands and
Snakemake's report take them from here, the page its list of tables: a new figure or table is a
function and an entry.
Nothing is drawn or read by importing this: the workflow plans with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from automata.analysis.quantities import QUANTITIES
from automata.errors import UserError
from automata.names import AUTOMATA, CONTRASTS, CONTROLS
from automata.registry import imported

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from automata.analysis.study import Study


_SEARCH = "automata.analysis.search_studies"


Plan = Mapping[tuple[str, str, str], Collection[str]]
"""What an experiment runs: the selectors of each data set, search and scheduler."""


@dataclass(frozen=True)
class Table:
    """A file in the folder of tables."""

    name: str
    text: str
    """What is in it, in a sentence."""
    make: str = ""
    """"module:function"; empty where `automata collect` writes it, from the records."""
    reads: tuple[str, ...] = ("study",)
    """Arguments of `make`: files of this list, tables of the `Study`, the study, or `carbon`,
    `paper` (its experiments) and `claims`."""
    published: bool = True
    """Whether it goes with the page: what holds much of what the records do stays behind."""


@dataclass(frozen=True)
class View:
    """A figure."""

    name: str
    make: str
    """"module:function" of the `Study`, and for a figure of a data set of its name."""
    caption: str
    needs: Callable[[Set[str]], bool] = lambda _: True
    """Says of the selectors of a panel whether the figure would show something of it."""
    datasets: tuple[str, ...] = ()
    """Data sets of a figure of the paper, a row each."""


TABLES = {
    table.name: table
    for table in (
        Table(
            "overview.md",
            "The results on two screens, over all searches.",
            "automata.analysis.overview:overview",
        ),
        Table(
            "tradeoff.md",
            "A row per combination: the quantities that matter most.",
            "automata.analysis.tradeoff:presented",
            ("tradeoff.csv",),
        ),
        Table(
            "claims.md",
            "The paper's claims, and what these runs say to each.",
            "automata.analysis.claims:presented",
            ("claims.csv",),
        ),
        Table(
            "energy.md",
            "What all runs took: time, energy, CO2, and what these rest on.",
            "automata.analysis.energy:totals",
            ("energy.csv", "carbon"),
        ),
        Table("provenance.md", "How many runs have which commit, versions, data, packages, host."),
        Table("runs.csv", "A row per record: times, energy, accuracy, configuration, machine."),
        Table("runs.parquet", "The same, for programs.", published=False),
        Table("best.csv", "The best configuration of each run.", f"{_SEARCH}:best", ("runs",)),
        Table(
            "ratios.csv",
            "A row per search, compared with the FULL run of its seed.",
            "automata.analysis.ratios:ratios_to_full",
            ("runs", "carbon"),
        ),
        Table(
            "tradeoff.csv",
            "A row per combination: means over seeds and their spread.",
            "automata.analysis.tradeoff:tradeoff",
            ("ratios.csv",),
        ),
        Table(
            "untuned.csv",
            "A row per panel: what configurations drawn at random reach.",
            "automata.analysis.tradeoff:untuned",
            ("runs",),
        ),
        Table(
            "selector-comparison.csv",
            "Paired differences between selectors.",
            "automata.analysis.selector_comparisons:resampling",
            ("ratios",),
        ),
        Table(
            "fronts.csv",
            "Pareto fronts and hypervolumes, by panel.",
            "automata.analysis.tradeoff:fronts",
            ("tradeoff",),
        ),
        Table(
            "rank-agreement.csv",
            "Kendall's tau with FULL, by rung and subset size.",
            f"{_SEARCH}:rank_agreement_of",
        ),
        Table(
            "claims.csv",
            "The claims, and the records behind each verdict.",
            "automata.analysis.claims:claims_table",
            ("claims", "study"),
        ),
        Table(
            "energy.csv",
            "A row per run: seconds, kWh, CO2e from energy and from time.",
            "automata.analysis.energy:energy_table",
            ("runs", "carbon"),
        ),
        Table(
            "differences.csv",
            "Where the protocol differs from the paper's.",
            "automata.analysis.differences:differences",
            ("runs", "protocols", "paper"),
        ),
        Table("provenance.csv", "A row per run: where and with what it was made.", published=False),
        Table(
            "trials.parquet",
            "A row per evaluation of a trial on the validation set.",
            published=False,
        ),
        Table("protocols.json", "The settings behind each `protocol_hash` of the runs."),
    )
}
"""All tables: first what people open, then what programs read."""

BEST = Table(
    "../best.yaml",
    "The best hyper-parameters, and how good they are.",
    "automata.analysis.best:text",
    ("runs",),
)
"""The answer, beside the folder of tables."""

SIMULATED = (
    *("simulated", "contrasts", "decision", "chosen"),
    *("pool", "rank-correlation", "noise", "validation"),
)
"""Tables of searches that are simulated on recorded learning curves (`automata simulate`)."""

OF_STUDY = ("ratios.csv", "tradeoff.csv", "untuned.csv", "differences.csv")
"""Tables that a `Study` reads: they are made before what is made of one."""


PAPERS_SCHEDULERS = ("hyperband", "asha")
"""Of the paper's figures, which have no panel of another."""


def _compares(selectors: Set[str]) -> bool:
    return "full" in selectors and bool(selectors - CONTROLS.keys())


def _contrasts(selectors: Set[str]) -> bool:
    return "full" in selectors and any(selectors >= set(pair) for pair in CONTRASTS)


_READING = (
    "The line joins AUTOMATA's subset sizes; markers grow with the subset. Lower right is better."
)


PAPER = {
    view.name: view
    for view in (
        View(
            "performance-summary",
            "automata.figures.summary:performance_summary",
            "AUTOMATA at a glance (the paper's Figure 1): speedup over FULL, relative test error "
            "and total time. A marker is one subset size in one search, the mean over its seeds.",
            lambda selectors: selectors >= {"full", AUTOMATA},
            ("sst2", "glue-sst2", "cifar10", "cifar100", "connect4"),
        ),
        View(
            "main",
            "automata.figures.paper:main",
            f"Speedup over FULL against relative test error, as in the paper's Figure 3. Speedup: "
            f"{QUANTITIES['speedup'].definition} Relative test error: "
            f"{QUANTITIES['relative_test_error'].definition} {_READING}",
            _compares,
            ("sst5", "trec6", "cifar10", "cifar100", "connect4"),
        ),
        View(
            "text",
            "automata.figures.paper:text",
            "Speedup over FULL against relative test error on the text data sets, as in the "
            "paper's appendix. Lower right is better.",
            _compares,
            ("sst2", "glue-sst2", "sst5", "trec6"),
        ),
        View(
            "image",
            "automata.figures.paper:image",
            "Speedup over FULL against relative test error on the image data sets, as in the "
            "paper's appendix. Lower right is better.",
            _compares,
            ("cifar10", "cifar100", "svhn"),
        ),
        View(
            "tabular",
            "automata.figures.paper:tabular",
            "Speedup over FULL against relative test error on the tabular data sets, as in the "
            "paper's appendix. Lower right is better.",
            _compares,
            ("dna", "satimage", "letter", "connect4"),
        ),
        View(
            "energy-co2",
            "automata.figures.paper:energy_co2",
            "Energy ratio on CIFAR100 and CO2 ratio on SVHN against relative test error, as in "
            "the paper's appendix. As in the paper, CO2 is computed from time, so its ratio equals "
            "the speedup and is no independent evidence.",
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
            "selector-comparison",
            "automata.figures.selector_comparison:selector_comparison",
            "Each line compares two selectors over pairs of runs that differ in the selector "
            "alone. Left: a point left of 0 means that the first is more accurate. Right: a point "
            "right of 1 means that the first is faster. Where the bar crosses the vertical line, "
            "the runs show no difference.",
            _contrasts,
        ),
        View(
            "pareto",
            "automata.figures.pareto:pareto_figure",
            "Left: how often each selector is on the Pareto front of speedup and relative test "
            "error, and how often it dominates the largest area. Right: the area that it "
            "dominates, a point per data set, search and scheduler.",
            _compares,
        ),
        View(
            "rank-agreement",
            "automata.figures.rank_agreement:rank_agreement_figure",
            "Do scores from subsets rank configurations as FULL's do? Kendall's tau between the "
            "validation accuracies that a selector and FULL give to the same configurations, by "
            "the epoch of the evaluation. FULL's repeat is the noise ceiling.",
            _compares,
        ),
        View(
            "ceiling",
            "automata.figures.ceiling:ceiling_figure",
            f"Measured speedup against its ceiling: {QUANTITIES['ceiling'].definition} A point is "
            "one subset size in one search, the mean over its seeds.",
            _compares,
        ),
    )
}
"""What the paper does not show: functions of the study."""

FIGURE = "selector-comparison"
"""The study that the page shows: of all else it has charts and tables."""

OF_DATASET = {
    view.name: view
    for view in (
        View(
            "tradeoff",
            "automata.figures.grid:tradeoff",
            "Speedup over FULL against relative test error, a panel per search and scheduler. "
            + _READING,
        ),
        View(
            "energy",
            "automata.figures.grid:energy",
            f"Energy ratio against relative test error. {QUANTITIES['energy_ratio'].definition} "
            "The note in the figure says whether energy was measured or estimated. One carbon "
            "intensity holds for all runs, so the ratio of CO2 is the same.",
        ),
        View(
            "anytime",
            "automata.figures.anytime:anytime_figure",
            "The best validation accuracy found so far against the time and the energy of the "
            "search. Models that are trained on subsets score lower until the final training, "
            "which comes on top.",
        ),
        View(
            "time-split",
            "automata.figures.time_split:time_split_figure",
            "Where the seconds of a run go: training, selection, evaluation and orchestration of "
            "the search, and the final training.",
        ),
    )
}
"""Figures of one data set: functions of the study and its name."""


REGRET = View(
    "regret",
    "automata.figures.regret:regret_of",
    "What ways of tuning lose against FULL, and how often more than two points, by how much faster "
    "they are: searches simulated on recorded learning curves.",
)
"""A figure of simulated searches under one scheduler, `regret-SCHEDULER`."""


def view_of(name: str) -> View:
    """Return the view of a figure, by its name; raises UserError for another name."""
    view, _, dataset = name.partition("/")
    if view.startswith(f"{REGRET.name}-"):
        return REGRET
    known = OF_DATASET if dataset else PAPER | STUDIES
    if view not in known:
        raise UserError(f"figure '{name}' is not one of {', '.join(known)}")
    return known[view]


def category(name: str) -> str:
    """Return the category of a figure in Snakemake's report."""
    if name in PAPER:
        return "The paper's figures"
    return "Data sets" if "/" in name else "Beyond the paper"


def figures(plan: Plan) -> list[str]:
    """Return the figures of an experiment that would show something, in the order of the page."""
    return [
        name
        for name, view in (PAPER | STUDIES).items()
        if any(_shows(view, *panel, set(selectors)) for panel, selectors in plan.items())
    ]


def _shows(view: View, dataset: str, search: str, scheduler: str, selectors: Set[str]) -> bool:
    """Say whether a figure shows something of a panel with these selectors."""
    has_it = not view.datasets or (dataset in view.datasets and scheduler in PAPERS_SCHEDULERS)
    return has_it and view.needs(selectors)


def tabulate(study: Study, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield name and content of each table, where the one before has been written.

    `given` has what is not in the study: `carbon`, `paper` and `claims`.
    """
    made = {**given, "study": study}
    listed = {name: table for name, table in TABLES.items() if table.make} | {BEST.name: BEST}
    for name in sorted(listed, key=lambda it: (it not in OF_STUDY, not it.endswith(".csv"))):
        table = listed[name]
        arguments = [made[it] if it in made else getattr(study, it) for it in table.reads]
        made[name] = imported(table.make)(*arguments)
        yield name, made[name]


def draw(name: str, study: Study) -> Figure:
    """Return a figure: `NAME`, of a data set `NAME/DATASET`, of simulations `regret-SCHEDULER`.

    Raises UserError for another name or data set.
    """
    view, dataset = view_of(name), name.partition("/")[2]
    if dataset and dataset not in (known := sorted(set(study.runs["dataset"]))):
        raise UserError(f"dataset '{dataset}' is not one of {', '.join(known)}")
    of = [dataset] if dataset else []
    if view is REGRET:
        of = [name.removeprefix(f"{REGRET.name}-")]
    figure: Figure = imported(view.make)(study, *of)
    return figure
