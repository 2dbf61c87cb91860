"""The catalogue of tables and figures; each is a function and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass

from automata import names
from automata.analysis.quantities import ERROR, QUANTITIES
from automata.errors import UserError
from automata.names import AUTOMATA, CONTROLS, contrasts


@dataclass(frozen=True)
class Table:
    """A file in the folder of tables."""

    name: str
    text: str
    """The content in a sentence."""
    make: str = ""
    """"module:function" in `automata.analysis`; empty if `automata collect` writes the table."""
    published: bool = True
    """False for a large table, which one command makes again from the published records."""


_TABLES = (
    Table("overview.md", "The results of all searches.", "overview:overview"),
    Table(
        "claims.md", "The paper's claims, and what these runs say about each.", "claims:presented"
    ),
    Table(
        "energy.md",
        "Time, energy and CO2 of all runs, and how they were obtained.",
        "energy:totals",
    ),
    Table("provenance.md", "Number of runs by commit, versions, data, packages and host."),
    Table("runs.csv", "A row per record: times, energy, accuracy, configuration, machine."),
    Table("runs.parquet", "The same as `runs.csv`.", published=False),
    Table(
        "ratios.csv",
        "A row per search, compared with the FULL run of its seed.",
        "ratios:ratios_to_full",
        published=False,
    ),
    Table(
        "tradeoff.csv",
        "A row per combination: means over seeds and their spread.",
        "tradeoff:tradeoff",
    ),
    Table(
        "untuned.csv",
        "A row per panel: the results of configurations drawn at random.",
        "tradeoff:untuned",
    ),
    Table(
        "selector-comparison.csv",
        "Paired differences between selectors.",
        "selectors:pooled_differences",
        published=False,
    ),
    Table(
        "rank-agreement.csv",
        "Kendall's tau with FULL, by rung and subset size.",
        "search_studies:rank_agreement",
        published=False,
    ),
    Table("claims.csv", "The claims, and the records behind each verdict.", "claims:claims_table"),
    Table(
        "energy.csv",
        "A row per run: seconds, kWh, CO2e from energy and from time.",
        "energy:energy_table",
        published=False,
    ),
    Table(
        "differences.csv",
        "Differences between the protocol and the paper's.",
        "differences:differences",
    ),
    Table("provenance.csv", "A row per run: where and with what it was made.", published=False),
    Table(
        "trials.parquet", "A row per evaluation of a trial on the validation set.", published=False
    ),
    Table("answers.parquet", "A row per class and answer, of own data.", published=False),
    Table("training.parquet", "A row per epoch of a model, of own data.", published=False),
    Table("protocols.json", "The settings behind each `protocol_hash` of the runs."),
)
TABLES = {table.name: table for table in _TABLES}
"""The tables for people, then those for programs."""

CLAIMS = ("claims.md", "claims.csv")
"""Tables of experiments with a data set of the paper."""

BEST = Table("../best.yaml", "The best hyper-parameters.", "best:text")
"""The result of the experiment, beside the folder of tables."""

PAPER, BEYOND, DATASETS = "The paper's figures", "Beyond the paper", "Data sets"
"""Groups of figures, and their categories in Snakemake's report."""

PAPERS_SCHEDULERS = ("hyperband", "asha")
"""The schedulers that the paper's figures show."""


def _has_comparison(selectors: Set[str]) -> bool:
    return "full" in selectors and bool(selectors - CONTROLS.keys())


def _has_contrast(selectors: Set[str]) -> bool:
    return "full" in selectors and any(selectors >= set(pair) for pair in contrasts(selectors))


@dataclass(frozen=True)
class View:
    """A figure."""

    name: str
    make: str
    """"module:function" in `automata.figures`, which takes the study and data sets."""
    group: str
    """PAPER, BEYOND, or DATASETS for a figure that is drawn for each data set."""
    caption: str
    datasets: tuple[str, ...] = ()
    """The data sets of a paper's figure, one row each; empty: all of the experiment."""
    needs: Callable[[Set[str]], bool] = _has_comparison
    """Whether the figure can show something of a panel with these selectors."""
    heading: str = ""
    """Heading on the page; without it, the figure is not on the page."""
    ratio: str = ""
    """The quantity on x, for functions that draw several."""
    own: bool = False
    """Whether the figure is of own data only, beside the answer on the page."""


_PLANE = "Speedup over FULL against relative test error"
_READING = (
    "The line joins AUTOMATA's subset sizes; markers grow with the subset. Lower right is better."
)
_FIGURES = (
    View(
        "performance-summary",
        "summary:performance_summary",
        PAPER,
        "AUTOMATA at a glance (the paper's Figure 1): speedup over FULL, relative test error "
        "and total time. A marker is one subset size in one search, the mean over its seeds.",
        ("sst2", "glue-sst2", "cifar10", "cifar100", "connect4"),
        lambda selectors: selectors >= {"full", AUTOMATA},
    ),
    View(
        "main",
        "tradeoff:speedups",
        PAPER,
        f"{_PLANE}, as in the paper's Figure 3. Speedup: {QUANTITIES['speedup'].definition} "
        f"Relative test error: {QUANTITIES[ERROR].definition} {_READING}",
        ("sst5", "trec6", "cifar10", "cifar100", "connect4"),
    ),
    *(
        View(
            kind,
            "tradeoff:speedups",
            PAPER,
            f"{_PLANE} on the {kind} data sets, as in the paper's appendix. Lower right is better.",
            datasets,
        )
        for kind, datasets in (
            ("text", ("sst2", "glue-sst2", "sst5", "trec6")),
            ("image", ("cifar10", "cifar100", "svhn")),
            ("tabular", ("dna", "satimage", "letter", "connect4")),
        )
    ),
    View(
        "energy-co2",
        "tradeoff:energy_co2",
        PAPER,
        "Energy ratio on CIFAR100 and CO2 ratio on SVHN against relative test error, as in "
        "the paper's appendix. As in the paper, CO2 is computed from time, so its ratio equals "
        "the speedup and is no independent evidence.",
        ("cifar100", "svhn"),
    ),
    View(
        "selector-comparison",
        "selectors:selector_comparison",
        BEYOND,
        "Each line compares two selectors over pairs of runs that differ in the selector "
        "alone. Left: a point left of 0 means that the first is more accurate. Right: a point "
        "right of 1 means that the first is faster. If a bar crosses the vertical line, the "
        "runs show no difference.",
        needs=_has_contrast,
        heading="Does it matter how the subset is selected?",
    ),
    View(
        "rank-agreement",
        "searches:rank_agreement_figure",
        BEYOND,
        "Do scores from subsets rank configurations as scores from all data do? Kendall's tau "
        "between the validation accuracies that a selector and FULL give to the same "
        "configurations, by the epoch of the evaluation. FULL's repeat shows what another seed "
        "changes; runs on subsets share FULL's seed.",
    ),
    *(
        View(
            name,
            "tradeoff:tradeoff",
            DATASETS,
            f"{QUANTITIES[ratio].title}{' over FULL' * (ratio == 'speedup')} against relative test "
            f"error, a panel per search and scheduler. {QUANTITIES[ratio].definition} {reading}",
            ratio=ratio,
        )
        for name, ratio, reading in (
            ("tradeoff", "speedup", _READING),
            (
                "energy",
                "energy_ratio",
                "The note in the figure says how energy was obtained: an estimate from CPU time is "
                "no evidence beyond time.",
            ),
        )
    ),
    *(
        View(
            name,
            f"answers:{name}_figure",
            DATASETS,
            caption,
            needs=lambda selectors: bool(selectors - {"untuned", "full-again"}),
            own=True,
        )
        for name, caption in (
            (
                "confusion",
                "Answers to the test rows of each class; of many classes, the wrong ones.",
            ),
            ("classes", "Recall and precision by class, on the test rows."),
            ("course", "The search, and the training of the model."),
        )
    ),
)
FIGURES = {view.name: view for view in _FIGURES}


def named(*groups: str) -> list[str]:
    """Return the names of the figures of these groups."""
    return [name for name, view in FIGURES.items() if view.group in groups]


def view_of(name: str) -> View:
    """Return the view of the figure `NAME` or `NAME/DATASET`; raises UserError for other names."""
    view, _, dataset = name.partition("/")
    known = named(DATASETS) if dataset else named(PAPER, BEYOND)
    if view not in known:
        raise UserError(f"figure '{name}' is not one of {', '.join(known)}")
    return FIGURES[view]


def figures(plan: Mapping[tuple[str, str, str], Collection[str]]) -> list[str]:
    """Return the names of the figures that have something to show, in the catalogue's order.

    `plan` maps data set, search and scheduler to the selectors of the runs.
    """
    whole = [
        view.name
        for view in FIGURES.values()
        if view.group != DATASETS
        and any(
            view.needs(set(selectors))
            for (dataset, _, scheduler), selectors in plan.items()
            if not view.datasets or (dataset in view.datasets and scheduler in PAPERS_SCHEDULERS)
        )
    ]
    of_datasets = {
        f"{name}/{dataset}": None
        for name in named(DATASETS)
        for (dataset, _, _), selectors in plan.items()
        if FIGURES[name].needs(set(selectors))
        and not (FIGURES[name].own and dataset in names.DATASETS)
    }
    return [*whole, *of_datasets]
