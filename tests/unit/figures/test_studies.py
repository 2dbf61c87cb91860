"""The figures beyond the paper: what stands where, and what they say is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from automata import names
from automata.analysis.search_studies import anytime, rank_agreement
from automata.analysis.study import Study
from automata.analysis.tradeoff import ALL, PARTS, fronts, resampling, summary, time_split
from automata.figures.files import draw
from automata.figures.style import RATIO_TICKS, logarithmic
from drawn import legend_of, note_of, points, texts

MakeStudy = Callable[..., Study]
Draw = Callable[[str, Study], Figure]

SUBSETS = ("random", "adaptive-random", "rs2", "craig", "gradmatch")


def tick_labels(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


# --- the forest of selectors ------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest(some: Study, drawn: Draw) -> Figure:
    return drawn("selector-comparison", some)


@pytest.fixture(scope="module")
def pooled(some: Study) -> pd.DataFrame:
    """The rows of the table over all data sets, AUTOMATA's pairs first."""
    table = resampling(some.ratios)
    table = table[table["dataset"] == ALL]
    return pd.concat(
        [table.query("selector == 'gradmatch'"), table.query("selector != 'gradmatch'")]
    )


@pytest.mark.parametrize(("side", "column"), [(0, "error_difference"), (1, "speedup_ratio")])
def test_forest_has_the_pooled_rows_with_their_intervals(
    forest: Figure, pooled: pd.DataFrame, side: int, column: str
) -> None:
    axes = forest.axes[side]
    ends = [line.get_xdata() for line in axes.lines if len(set(line.get_ydata())) == 1]
    bars = [tuple(map(float, end)) for end in ends if len(end) == 2]

    assert [x for x, _ in points(axes, "mean")] == pooled[column].tolist()
    assert bars == list(zip(pooled[f"{column}_low"], pooled[f"{column}_high"], strict=True))
    assert len(pooled) == 6 * 5  # pairs; four subset sizes and all


def test_forest_is_black_where_the_interval_leaves_out_no_difference(
    forest: Figure, pooled: pd.DataFrame
) -> None:
    marks = [line for line in forest.axes[1].lines if line.get_gid() == "mean"]
    outside = (pooled["speedup_ratio_low"] > 1) | (pooled["speedup_ratio_high"] < 1)

    assert [line.get_color() == "black" for line in marks] == outside.tolist()
    assert 0 < outside.sum() < len(outside)


def test_forest_has_no_interval_of_one_data_set_and_seed(
    make_study: MakeStudy, small_runs: pd.DataFrame
) -> None:
    figure = draw("selector-comparison", make_study(small_runs[small_runs["seed"] == 0]))
    marks = [line for line in figure.axes[1].lines if line.get_gid() == "mean"]

    assert [line.get_color() for line in marks] == ["0.55"]
    assert [float(text) for text in texts(figure.axes[1])]  # without brackets
    assert "One data set and one seed give no intervals." in note_of(figure)


def test_forest_says_its_numbers_and_which_side_is_better(
    forest: Figure, pooled: pd.DataFrame
) -> None:
    left, right = forest.axes
    row = pooled.iloc[0]
    bounds = row["speedup_ratio"], row["speedup_ratio_low"], row["speedup_ratio_high"]

    assert texts(right)[0] == "{:.2f} ({:.2f} to {:.2f})".format(*bounds)
    assert "first better | second better" in left.get_xlabel()
    assert "second faster | first faster" in right.get_xlabel()
    assert "95 % bootstrap intervals over data sets" in note_of(forest)


def test_forest_names_pairs_and_sizes_of_automata_first(forest: Figure) -> None:
    left, _ = forest.axes
    heads, lines = tick_labels(left)[:6], tick_labels(left)[6:]

    assert heads[:2] == ["AUTOMATA vs RANDOM (fixed)", "AUTOMATA vs RANDOM (adaptive)"]
    assert heads[4:] == ["RANDOM (adaptive) vs RANDOM (fixed)", "RS2 vs RANDOM (fixed)"]
    assert lines == ["1 %", "5 %", "10 %", "30 %", "all sizes"] * 6


def test_forest_names_what_it_cannot_compare(small: Study) -> None:
    figure = draw("selector-comparison", small)

    assert tick_labels(figure.axes[0]) == ["AUTOMATA vs RANDOM (fixed)", "10 %"]
    assert "for lack of runs: RANDOM (adaptive) vs RANDOM (fixed), RS2 vs RA" in note_of(figure)


# --- pareto -----------------------------------------------------------------------------------


def test_pareto_points_are_the_shares_and_counts_of_the_tables(some: Study, drawn: Draw) -> None:
    table = fronts(some.tradeoff)
    totals = summary(table).set_index("selector").loc[["full", *SUBSETS]]
    left, right = drawn("pareto", some).axes

    for selector, group in table.groupby("selector"):
        shares = [x for x, _ in points(right, f"shares {selector}")]
        assert np.array_equal(shares, group["share"], equal_nan=True)
    for column, counts in (
        ("panels_on_front", texts(left)[:6]),
        ("panels_largest", texts(left)[6:]),
    ):
        expected = totals[column] / totals["panels"]
        assert [x for x, _ in points(left, column)] == expected.tolist()
        assert counts == [f"{count}/12" for count in totals[column]]


def test_pareto_says_what_its_points_are(some: Study, drawn: Draw) -> None:
    note = note_of(drawn("pareto", some))

    assert "A panel is a data set, search and scheduler: 12 panels." in note
    assert "Subset sizes: 1 %, 5 %, 10 %, 30 %." in note


def test_pareto_warns_of_unequal_subset_sizes(
    make_study: MakeStudy, some_runs: pd.DataFrame
) -> None:
    runs = some_runs.query("dataset == 'dna' and (selector != 'craig' or fraction == 0.1)")

    assert "different subset sizes" in note_of(draw("pareto", make_study(runs)))


# --- rank agreement ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def taus(some: Study) -> pd.DataFrame:
    return rank_agreement(some)


def test_taus_stand_where_the_table_says(some: Study, drawn: Draw, taus: pd.DataFrame) -> None:
    figure = drawn("rank-agreement", some)
    panels = [(s, f) for s in ("hyperband", "asha") for f in (0.01, 0.05, 0.1, 0.3)]

    for axes, (scheduler, fraction) in zip(figure.axes, panels, strict=True):
        here = taus[(taus["scheduler"] == scheduler) & (taus["fraction"] == fraction)]
        assert set(here["selector"]) == set(SUBSETS)
        for selector, rows in here.groupby("selector"):
            expected = rows.sort_values("percent")[["percent", "tau"]]
            assert points(axes, f"taus {selector}") == list(
                expected.itertuples(index=False, name=None)
            )


def test_noise_ceiling_is_drawn_in_every_panel_of_its_scheduler(
    some: Study, drawn: Draw, taus: pd.DataFrame
) -> None:
    noise = taus[(taus["selector"] == "full-again") & (taus["scheduler"] == "asha")]
    expected = noise.sort_values("percent")["tau"].tolist()

    for axes in drawn("rank-agreement", some).axes[4:]:
        assert [y for _, y in points(axes, "noise")] == expected


def test_missing_noise_ceiling_is_said(small: Study) -> None:
    figure = draw("rank-agreement", small)

    assert "There is no noise ceiling: FULL (repeat) was not run." in note_of(figure)
    assert legend_of(figure) == ["RANDOM (fixed)", "AUTOMATA"]


# --- ceiling ----------------------------------------------------------------------------------


def scatters(figure: Figure) -> list[PathCollection]:
    """Return the points of each panel."""
    return [
        drawn
        for axes in figure.axes
        for drawn in axes.collections
        if isinstance(drawn, PathCollection)
    ]


def test_combinations_stand_at_their_ceiling_and_speedup(some: Study, drawn: Draw) -> None:
    found = scatters(drawn("ceiling", some))
    table = some.tradeoff

    for scheduler, shown in zip(("hyperband", "asha"), found, strict=True):
        own = table[table["scheduler"] == scheduler]
        rows = pd.concat([own[own["selector"] == selector] for selector in SUBSETS])
        colours = [to_hex(names.METHODS[name].colour) for name in rows["selector"]]
        assert np.asarray(shown.get_offsets()) == pytest.approx(
            rows[["ceiling", "speedup"]].to_numpy()
        )
        assert [to_hex(colour) for colour in shown.get_facecolor()] == colours
        assert len({path.vertices.data.tobytes() for path in shown.get_paths()}) == len(SUBSETS)


def test_points_above_the_line_are_counted(some: Study, drawn: Draw) -> None:
    figure = drawn("ceiling", some)
    above = [y > x for shown in scatters(figure) for x, y in np.asarray(shown.get_offsets())]

    assert 0 < sum(above) < len(above)
    assert f" {sum(above)} lie above the line" in note_of(figure)


# --- anytime ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "clock"), [(0, "elapsed_seconds"), (1, "elapsed_joules")])
def test_curves_are_the_steps_of_the_table(some: Study, drawn: Draw, row: int, clock: str) -> None:
    curves = anytime(some.trials[some.trials["dataset"] == "dna"], clock)
    axes = drawn("anytime/dna", some).axes[4 * row]
    here = curves[(curves["search"] == "random") & (curves["scheduler"] == "hyperband")]

    for selector in ("full", "full-again", *SUBSETS):
        size = 1.0 if selector in names.ALL_DATA_CONTROLS else 0.1
        steps = here[(here["selector"] == selector) & (here["fraction"] == size)]
        expected = list(steps[["at", "median"]].itertuples(index=False, name=None))
        assert points(axes, f"steps {selector}") == expected
        assert expected
    assert {line.get_drawstyle() for line in axes.lines} == {"steps-post"}


def test_anytime_draws_the_size_of_the_legend_or_none(
    make_study: MakeStudy, some_runs: pd.DataFrame
) -> None:
    runs = some_runs.query("dataset == 'dna' and search == 'tpe' and seed == 0")
    keep = "fraction != 0.05 and (scheduler == 'hyperband' or selector != 'rs2' or fraction == 0.3)"
    figure = draw("anytime/dna", make_study(runs.query(keep), trials=True))

    assert {"RS2 10 %", "AUTOMATA 10 %"} <= set(legend_of(figure))
    assert points(figure.axes[0], "steps rs2")
    assert not points(figure.axes[1], "steps rs2")  # it was run with other sizes


def test_missing_energy_is_said_and_takes_nothing_from_the_other_row(
    make_study: MakeStudy, small_runs: pd.DataFrame
) -> None:
    missing: dict[str, Any] = {"energy_joules": None, "energy_method": None}
    study = make_study(small_runs.assign(**missing), trials=True)
    study.trials["elapsed_joules"] = np.nan
    figure = draw("anytime/sst5", study)
    seconds, joules = figure.axes

    assert texts(joules) == ["no energy known"]
    assert points(seconds, "steps full")
    assert "Energy: not measured." in note_of(figure)


# --- time split -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first_bars(some: Study) -> pd.DataFrame:
    """The rows of the first panel of DNA, from top to bottom."""
    table = time_split(some.runs[some.runs["dataset"] == "dna"], some.ratios)
    here = table.query("search == 'random' and scheduler == 'hyperband'")
    order = [name for name in names.METHODS if name in set(here["selector"])]
    return pd.concat([here[here["selector"] == name].sort_values("fraction") for name in order])


def test_bars_are_the_parts_of_the_table_side_by_side(
    some: Study, drawn: Draw, first_bars: pd.DataFrame
) -> None:
    patches = drawn("time-split/dna", some).axes[0].patches
    left, width = (
        np.array([getattr(bar, get)() for bar in patches]).reshape(len(PARTS), -1).T
        for get in ("get_x", "get_width")
    )

    assert width == pytest.approx(first_bars[[f"{part}_seconds" for part in PARTS]].to_numpy())
    assert (left[:, 0] == 0).all()
    assert left[:, 1:] == pytest.approx((left + width)[:, :-1])


def test_bars_carry_their_speedup(some: Study, drawn: Draw, first_bars: pd.DataFrame) -> None:
    draws = some.untuned.query(
        "dataset == 'dna' and search == 'random' and scheduler == 'hyperband'"
    )
    speedups = first_bars["speedup"].fillna(draws["speedup"].iloc[0])
    figure = drawn("time-split/dna", some)

    assert texts(figure.axes[0]) == [f"{value:#.3g}\N{MULTIPLICATION SIGN}" for value in speedups]
    assert tick_labels(figure.axes[0])[:4] == [
        "FULL",
        "FULL (repeat)",
        "untuned",
        "RANDOM (fixed) 1 %",
    ]


def test_parts_can_be_told_apart_without_colour(some: Study, drawn: Draw) -> None:
    patches = [bars[0] for bars in drawn("time-split/dna", some).axes[0].containers]
    looks = {(to_hex(patch.get_facecolor()), patch.get_hatch()) for patch in patches}

    assert len(looks) == len(PARTS)
    assert all(len({to_hex(p.get_facecolor())[i : i + 2] for i in (1, 3, 5)}) == 1 for p in patches)


# --- the performance summary ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "quantity"), enumerate(("speedup", "relative_test_error", "total_seconds"))
)
def test_summary_has_the_means_of_the_table_lane_by_lane(
    some: Study, drawn: Draw, side: int, quantity: str
) -> None:
    """Of the five data sets of the figure, `some` has CIFAR100 alone."""
    axes = drawn("performance-summary", some).axes[side]
    lanes = drawn("performance-summary", some).axes[0].get_yticks()
    columns = [(s, c) for c in ("hyperband", "asha") for s in ("random", "tpe")]
    rows = some.tradeoff.query("dataset == 'cifar100'")

    for selector in ("full", "gradmatch"):
        own = rows[rows["selector"] == selector].sort_values(quantity)
        expected = [
            (height, x)
            for height, (search, scheduler) in zip(lanes, columns, strict=True)
            for x in own.query(f"search == '{search}' and scheduler == '{scheduler}'")[quantity]
        ]
        shown = sorted((y, x) for x, y in points(axes, f"mean {selector}"))
        assert np.array(shown) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(("side", "quantity"), enumerate(("speedup", "relative_test_error")))
def test_bars_of_the_summary_reach_from_bound_to_bound(
    some: Study, drawn: Draw, side: int, quantity: str
) -> None:
    axes = drawn("performance-summary", some).axes[side]
    collections = [one for one in axes.collections if one.get_gid() == "bars"]
    reached = [s[:, 0].tolist() for one in collections for s in one.get_segments()]  # type: ignore[attr-defined]
    table = some.tradeoff.query("dataset == 'cifar100' and selector == 'gradmatch'")

    assert all(isinstance(one, LineCollection) for one in collections)
    assert sorted(reached) == sorted(table[[f"{quantity}_low", f"{quantity}_high"]].values.tolist())


def test_lanes_of_the_summary_are_of_data_sets_with_runs(some: Study, drawn: Draw) -> None:
    figure = drawn("performance-summary", some)
    speedups, _, times = figure.axes

    assert tick_labels(speedups) == ["Random, HB", "TPE, HB", "Random, ASHA", "TPE, ASHA"]
    assert texts(speedups) == ["CIFAR100"]
    assert note_of(figure).startswith(
        "16 of 20 panels were not run (none of SST2, glue-SST2, CIFAR10, CONNECT-4). Speedup: "
    )
    assert legend_of(figure) == ["AUTOMATA, HB", "AUTOMATA, ASHA", "FULL"]
    for seconds, label in zip(times.get_xticks(), times.get_xticklabels(), strict=True):
        number, unit = label.get_text().split()
        assert float(number) * {"s": 1, "min": 60, "h": 3600}[unit] == seconds


# --- axes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.8, 150, ["1", "10", "100"]),
        (0.8, 12, ["1", "2", "5", "10"]),
        (0.9, 2.4, ["1", "1.4", "2"]),
        (0.92, 1.25, ["1", "1.1", "1.2"]),
        (0.97, 1.03, ["1"]),
    ],
)
def test_logarithmic_axes_have_the_coarsest_ticks_that_are_three(
    low: float, high: float, shown: list[str]
) -> None:
    axes = Figure().add_subplot()
    logarithmic(axes, "x", low, high)

    assert [label.get_text() for label in axes.get_xticklabels()] == shown
    assert axes.get_xlim() == (low, high)
    assert all(float(label) == value for ticks in RATIO_TICKS for value, label in ticks.items())
