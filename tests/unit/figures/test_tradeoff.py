"""Trade-offs: what stands where in a panel, and which panels a figure has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from automata import names
from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Panel, Study
from automata.errors import UserError
from automata.figures.files import draw
from automata.figures.style import style
from automata.figures.tradeoff import content, draw_panel
from drawn import bars, legend_of, note_of, panel, panels, points, texts

MakeStudy = Callable[..., Study]
Draw = Callable[[str, Study], Figure]

PANEL = Panel("sst5", "tpe", "hyperband")
SUBSETS = ("random", "adaptive-random", "rs2", "craig", "gradmatch")
ERROR = "relative_test_error"
COLUMNS = ["(Random, HB)", "(TPE, HB)", "(Random, ASHA)", "(TPE, ASHA)"]
ROWS = {
    "main": ["SST5", "TREC6", "CIFAR10", "CIFAR100", "CONNECT-4"],
    "text": ["SST2", "glue-SST2", "SST5", "TREC6"],
    "image": ["CIFAR10", "CIFAR100", "SVHN"],
    "tabular": ["DNA", "SATIMAGE", "LETTER", "CONNECT-4"],
    "energy-co2": ["CIFAR100", "SVHN"],
}
"""The paper's figures, by their captions."""


def axes_of(study: Study, column: str = "speedup", shown: Panel = PANEL) -> Axes:
    with style():
        axes = Figure().add_subplot()
        draw_panel(axes, content(study, shown, QUANTITIES[column]))
    return axes


def rows(table: pd.DataFrame, selector: str) -> pd.DataFrame:
    found = PANEL.rows(table)
    return found[found["selector"] == selector]


@pytest.fixture(scope="module")
def panel_runs(some_runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of PANEL alone, at two seeds."""
    return PANEL.rows(some_runs).query("seed < 2")


# --- a panel ----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["speedup", "energy_ratio"])
@pytest.mark.parametrize("selector", ["full", "full-again", *SUBSETS])
def test_every_marker_stands_where_the_tradeoff_table_says(
    some: Study, selector: str, column: str
) -> None:
    expected = rows(some.tradeoff, selector)[[column, ERROR]].to_numpy()

    assert points(axes_of(some, column), f"mean {selector}") == [tuple(row) for row in expected]
    assert len(expected) == (4 if selector in SUBSETS else 1)


def test_full_is_the_star_at_one_and_zero(some: Study) -> None:
    assert points(axes_of(some), "mean full") == [(1.0, 0.0)]


def test_the_line_joins_the_sizes_of_automata_in_their_order(some: Study) -> None:
    axes = axes_of(some)
    by_size = rows(some.tradeoff, "gradmatch").sort_values("fraction")

    assert points(axes, "line") == [tuple(row) for row in by_size[["speedup", ERROR]].to_numpy()]
    assert sorted(texts(axes)) == ["1 %", "30 %"]


@pytest.mark.parametrize("column", ["speedup", "energy_ratio"])
def test_bars_of_automata_reach_from_bound_to_bound_of_the_table(some: Study, column: str) -> None:
    table = rows(some.tradeoff, "gradmatch").sort_values("fraction")
    horizontal, vertical = bars(axes_of(some, column))
    bounds = [f"{column}_low", f"{column}_high"], [f"{ERROR}_low", f"{ERROR}_high"]

    assert horizontal[:, :, 0].tolist() == table[bounds[0]].values.tolist()
    assert vertical[:, :, 1].tolist() == table[bounds[1]].values.tolist()
    assert horizontal[:, 0, 1].tolist() == table[ERROR].tolist()
    assert vertical[:, 0, 0].tolist() == table[column].tolist()


def test_a_single_seed_has_no_bars(make_study: MakeStudy, panel_runs: pd.DataFrame) -> None:
    horizontal, vertical = bars(axes_of(make_study(panel_runs.query("seed == 0"))))

    assert len(horizontal) == len(vertical) == 0


@pytest.mark.parametrize("selector", ["random", "gradmatch"])
def test_markers_grow_with_the_subset_and_small_ones_lie_on_top(some: Study, selector: str) -> None:
    markers = [line for line in axes_of(some).lines if line.get_gid() == f"mean {selector}"]
    by_size = sorted(markers, key=lambda line: line.get_markersize())

    assert [line.get_xdata()[0] for line in by_size] == rows(some.tradeoff, selector).sort_values(
        "fraction"
    )["speedup"].tolist()
    assert len({line.get_markersize() for line in markers}) == 4
    assert np.diff([line.get_zorder() for line in by_size]).max() < 0


def test_axes_fit_all_means_and_bars(some: Study) -> None:
    axes = axes_of(some)
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    means = PANEL.rows(some.tradeoff)
    ends = np.vstack([part.reshape(-1, 2) for part in bars(axes)])

    assert left < min(means["speedup"].min(), ends[:, 0].min())
    assert max(means["speedup"].max(), ends[:, 0].max()) < right
    assert low < min(means[ERROR].min(), ends[:, 1].min())
    assert max(means[ERROR].max(), ends[:, 1].max()) < high
    assert axes.get_xscale() == "log"


def test_untuned_is_the_bar_at_the_edge_from_best_to_worst_with_its_median(some: Study) -> None:
    axes = axes_of(some)
    row = PANEL.rows(some.untuned).iloc[0]

    assert [y for _, y in points(axes, "untuned")] == [row[f"{ERROR}_low"], row[f"{ERROR}_high"]]
    assert {y for _, y in points(axes, "median")} == {row[f"{ERROR}_median"]}
    assert points(axes, "mean untuned") == []


@pytest.mark.parametrize(
    ("change", "arrow"), [(-0.5, "\N{UPWARDS ARROW}"), (0.5, "\N{DOWNWARDS ARROW}")]
)
def test_untuned_out_of_sight_is_written_where_nothing_else_is(
    make_study: MakeStudy, panel_runs: pd.DataFrame, change: float, arrow: str
) -> None:
    runs = panel_runs.copy()
    runs.loc[runs["selector"] == "untuned", "test_accuracy"] += change
    study = make_study(runs)
    axes = axes_of(study)
    without = axes_of(make_study(runs[runs["selector"] != "untuned"])).get_ylim()
    median = PANEL.rows(study.untuned)[f"{ERROR}_median"].iloc[0]

    assert f"{arrow} untuned {median:.1f}" in texts(axes)
    spare = np.abs(np.subtract(axes.get_ylim(), without))
    assert spare.max() == pytest.approx(0.1 * (without[1] - without[0]))
    assert spare.min() == 0


@pytest.mark.parametrize(
    ("changes", "shown", "words"),
    [
        ({}, Panel("dna", "random", "none"), "not run"),
        ({"energy_joules": None, "energy_method": None}, PANEL, "no energy ratio"),
        ({"selector": "random"}, PANEL, "no comparable run"),
    ],
)
def test_panel_without_anything_to_show_says_why(
    make_study: MakeStudy,
    panel_runs: pd.DataFrame,
    changes: dict[str, object],
    shown: Panel,
    words: str,
) -> None:
    runs = panel_runs[panel_runs["fraction"].isin([0.1, 1.0])].assign(**changes)
    runs = runs.drop_duplicates(["selector", "seed"])
    axes = axes_of(make_study(runs), "energy_ratio", shown)

    assert texts(axes) == [words]
    assert list(axes.lines) == []


def test_refused_runs_are_not_drawn_and_counted(
    make_study: MakeStudy, panel_runs: pd.DataFrame
) -> None:
    runs = panel_runs.copy()
    runs.loc[runs["selector"] == "craig", "machine"] = "another"
    figure = draw("tradeoff/sst5", make_study(runs))

    assert "8 of 44 runs do not compare with FULL. " in note_of(figure)
    assert points(figure.axes[0], "mean craig") == []
    assert "CRAIG" not in legend_of(figure)


# --- a figure ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ROWS)
def test_panels_are_those_of_the_paper_in_its_order(some: Study, drawn: Draw, name: str) -> None:
    ran = {names.dataset(dataset) for dataset in some.runs["dataset"]}
    titles = [f"{row} {column}" for row in ROWS[name] if row in ran for column in COLUMNS]

    assert list(panels(drawn(name, some))) == [
        f"({letter}) {title}" for letter, title in zip("abcdefghijklmnopqrst", titles, strict=False)
    ]


def test_panels_without_runs_say_so_and_are_counted(small: Study) -> None:
    figure = draw("main", small)

    assert [texts(axes) for axes in figure.axes].count(["not run"]) == 3
    assert note_of(figure).startswith(
        "19 of 20 panels were not run (none of TREC6, CIFAR10, CIFAR100, CONNECT-4). "
    )
    assert points(panel(figure, "SST5 (TPE, HB)"), "mean gradmatch")


def test_legend_names_what_occurs_in_the_order_of_the_names(some: Study, drawn: Draw) -> None:
    assert legend_of(drawn("main", some)) == [
        "FULL",
        "FULL (repeat)",
        "RANDOM (fixed)",
        "RANDOM (adaptive)",
        "RS2",
        "CRAIG",
        "AUTOMATA",
        "untuned: best, median, worst",
    ]


def test_legend_has_nothing_that_was_not_run(small: Study) -> None:
    assert legend_of(draw("main", small)) == ["FULL", "RANDOM (fixed)", "AUTOMATA"]
    assert legend_of(draw("image", small)) == []


def test_axes_are_named_once_or_by_row_where_ratios_differ(whole: Study, drawn: Draw) -> None:
    main, both = drawn("main", whole), drawn("energy-co2", whole)

    assert main.get_supxlabel() == "Speedup over FULL (\N{MULTIPLICATION SIGN})"
    assert main.get_supylabel() == "Relative test error (pp)"
    assert [axes.get_xlabel() for axes in both.axes] == [
        *["Energy ratio (\N{MULTIPLICATION SIGN})"] * 4,
        *["CO2 ratio (from time) (\N{MULTIPLICATION SIGN})"] * 4,
    ]


def test_energy_and_co2_are_drawn_from_their_own_columns(
    make_study: MakeStudy, small_runs: pd.DataFrame
) -> None:
    runs = pd.concat([small_runs.assign(dataset=name) for name in ("cifar100", "svhn")])
    runs.loc[runs["selector"] == "full", "energy_joules"] *= 3  # else energy is as time
    study = make_study(runs)
    figure = draw("energy-co2", study)

    for dataset, column in [("cifar100", "energy_ratio"), ("svhn", "speedup")]:
        shown = Panel(dataset, "tpe", "hyperband")
        table = shown.rows(study.tradeoff).query("selector == 'random'")
        stands = points(panel(figure, shown.short_title), "mean random")
        assert [x for x, _ in stands] == table[column].tolist()


@pytest.mark.parametrize(
    ("schedulers", "titles", "inches"),
    [
        (["asha"], COLUMNS[2:], 2),
        (["hyperband", "asha"], COLUMNS, 4),
        (
            ["hyperband", "asha", "none"],
            [*COLUMNS, "(Random, none)", "(TPE, none)"],
            6,
        ),
    ],
)
def test_figure_of_a_data_set_has_the_panels_of_the_experiment_two_in_a_row(
    make_study: MakeStudy,
    some_runs: pd.DataFrame,
    schedulers: list[str],
    titles: list[str],
    inches: int,
) -> None:
    few = some_runs.query("dataset == 'sst5' and fraction in (0.1, 1) and scheduler == 'asha'")
    runs = pd.concat([few.assign(scheduler=name) for name in schedulers])
    figure = draw("tradeoff/sst5", make_study(runs))

    assert [title.split(") SST5 ", 1)[1] for title in panels(figure)] == titles
    assert inches - 0.8 < figure.get_figheight() < inches + 1


def test_other_data_set_is_one_line(some: Study) -> None:
    with pytest.raises(UserError, match=r"^dataset 'mnist' is not one of cifar100, dna, sst5$"):
        draw("tradeoff/mnist", some)


def test_selectors_look_alike_in_all_figures(some: Study, drawn: Draw) -> None:
    legends = [drawn(name, some).legends[0] for name in ("tradeoff/sst5", "rank-agreement")]
    looks = [
        {line.get_label(): (line.get_color(), line.get_marker()) for line in box.get_lines()}
        for box in legends
    ]

    for name in SUBSETS:
        row = names.METHODS[name]
        assert [look[row.display] for look in looks] == [(row.colour, row.marker)] * 2
