"""One scatter: what stands where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from automata.analysis.quantities import RATIOS
from automata.analysis.study import Panel, Study
from automata.figures.content import content
from automata.figures.dataset import dataset_figure
from automata.figures.panel import draw_panel
from automata.figures.style import style
from drawn import bars, lines, means, note_of, panel, texts

MakeTables = Callable[..., Study]

PANEL = Panel("sst5", "tpe", "hyperband")
SUBSETS = ("random", "rs2", "craig", "gradmatch")
ERROR = "relative_test_error"


@pytest.fixture(scope="module")
def sst5_runs(some_runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of PANEL alone, at two seeds."""
    return PANEL.rows(some_runs).query("seed < 2")


def draw(tables: Study, column: str = "speedup", shown: Panel = PANEL) -> Axes:
    with style():
        axes = Figure().add_subplot()
        draw_panel(axes, content(tables, shown, RATIOS[column]))
    return axes


def rows(table: pd.DataFrame, selector: str) -> pd.DataFrame:
    found = PANEL.rows(table)
    return found[found["selector"] == selector]


@pytest.mark.parametrize("column", RATIOS)
@pytest.mark.parametrize("selector", ["full", "full-again", *SUBSETS])
def test_every_marker_stands_where_the_tradeoff_table_says(
    some: Study, selector: str, column: str
) -> None:
    expected = rows(some.tradeoff, selector)[[column, ERROR]].to_numpy()

    assert means(draw(some, column), selector) == [tuple(row) for row in expected]
    assert len(expected) == (4 if selector in SUBSETS else 1)


def test_full_is_the_star_at_one_and_zero(some: Study) -> None:
    assert means(draw(some), "full") == [(1.0, 0.0)]


def test_smaller_subsets_lie_to_the_right(some: Study) -> None:
    xs = [x for x, _ in means(draw(some), "gradmatch")]  # by rising fraction

    assert xs == sorted(xs, reverse=True)
    left, right = draw(some).get_xlim()
    assert left < right


@pytest.mark.parametrize("column", RATIOS)
@pytest.mark.parametrize("selector", SUBSETS)
def test_bars_reach_from_the_lower_to_the_upper_bound_of_the_table(
    some: Study, selector: str, column: str
) -> None:
    table = rows(some.tradeoff, selector)

    horizontal, vertical = bars(draw(some, column), f"bars {selector}")

    assert (
        horizontal[:, :, 0].tolist() == table[[f"{column}_low", f"{column}_high"]].values.tolist()
    )
    assert vertical[:, :, 1].tolist() == table[[f"{ERROR}_low", f"{ERROR}_high"]].values.tolist()
    assert horizontal[:, 0, 1].tolist() == table[ERROR].tolist()
    assert vertical[:, 0, 0].tolist() == table[column].tolist()


@pytest.mark.parametrize("column", RATIOS)
def test_every_seed_is_a_dot(some: Study, column: str) -> None:
    (dots,) = lines(draw(some, column), "seeds gradmatch")

    expected = rows(some.ratios, "gradmatch")[[column, ERROR]].to_numpy()
    assert dots.get_xydata().tolist() == expected.tolist()
    assert len(expected) == 12


def test_single_seed_has_neither_bars_nor_dots(one_seed: Study) -> None:
    axes = draw(one_seed)

    assert bars(axes, "bars gradmatch") == []
    assert lines(axes, "seeds gradmatch") == []
    assert len(means(axes, "gradmatch")) == 4


def test_markers_carry_their_subset_size_and_full_carries_none(one_seed: Study) -> None:
    assert sorted(texts(draw(one_seed))) == sorted(["1", "5", "10", "30"] * 3)


def test_a_label_lies_on_its_marker_and_under_markers_drawn_later(some: Study) -> None:
    axes = draw(some)
    markers = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0])): line.get_zorder()
        for selector in SUBSETS
        for line in lines(axes, f"mean {selector}")
    }
    orders = sorted(markers.values())

    for label in axes.texts:
        own = markers[label.xy]  # type: ignore[attr-defined]
        later = [order for order in orders if order > own]
        assert own < label.get_zorder() < min(later, default=np.inf)


def test_size_of_many_digits_stands_above_its_marker(
    make_tables: MakeTables, sst5_runs: pd.DataFrame
) -> None:
    runs = sst5_runs.replace({"fraction": {0.1: 0.125}})
    (label, *_) = [text for text in draw(make_tables(runs)).texts if text.get_text() == "12.5"]

    assert label.get_position()[1] > 4  # points: half a marker and more


def test_untuned_and_full_repeat_carry_no_size_and_untuned_is_no_point(some: Study) -> None:
    axes = draw(some)

    assert means(axes, "untuned") == []
    assert len(texts(axes)) == 4 * len(SUBSETS)


def test_untuned_line_and_band_are_those_of_the_table(some: Study) -> None:
    axes = draw(some)
    row = PANEL.rows(some.untuned).iloc[0]

    (line,) = lines(axes, "untuned")
    (band,) = [patch for patch in axes.patches if patch.get_gid() == "untuned band"]

    assert row[f"{ERROR}_median"] != row[ERROR]
    assert set(line.get_ydata()) == {row[f"{ERROR}_median"]}
    assert [band.get_y(), band.get_y() + band.get_height()] == pytest.approx(  # type: ignore[attr-defined]
        [row[f"{ERROR}_low"], row[f"{ERROR}_high"]]
    )


def test_panel_without_untuned_runs_has_no_line(one_seed: Study) -> None:
    assert lines(draw(one_seed), "untuned") == []


WITH_A_LINE = 1.3 / 1.2
"""Span of an axis that leaves a line free at its top, over that of one that does not."""


@pytest.mark.parametrize("lost", [0.01, 0.03, 0.05, 0.1, 0.3])
def test_untuned_at_most_doubles_the_axis_and_is_told_where_it_does_not_fit(
    make_tables: MakeTables, sst5_runs: pd.DataFrame, lost: float
) -> None:
    runs = sst5_runs.copy()
    without = draw(make_tables(runs[runs["selector"] != "untuned"])).get_ylim()
    runs.loc[runs["selector"] == "untuned", "test_accuracy"] -= lost
    tables = make_tables(runs)
    row = PANEL.rows(tables.untuned).iloc[0]

    axes = draw(tables)
    low, high = axes.get_ylim()

    assert high - low <= 2.001 * WITH_A_LINE * (without[1] - without[0])
    told = [text for text in texts(axes) if text.startswith("untuned")]
    if row[f"{ERROR}_high"] <= high and row[f"{ERROR}_low"] >= low:
        assert told == []
    else:
        median, best, worst = row[[f"{ERROR}_{name}" for name in ("median", "low", "high")]]
        assert told == [f"untuned: {median:.1f} ({best:.1f} to {worst:.1f})"]


def test_untuned_out_of_reach_takes_no_room_but_a_line_for_its_words(
    make_tables: MakeTables, sst5_runs: pd.DataFrame
) -> None:
    runs = sst5_runs.copy()
    low, high = draw(make_tables(runs[runs["selector"] != "untuned"])).get_ylim()
    runs.loc[runs["selector"] == "untuned", "test_accuracy"] -= 0.5

    axes = draw(make_tables(runs))

    assert axes.get_ylim() == (low, pytest.approx(low + WITH_A_LINE * (high - low)))


@pytest.mark.parametrize("worst", ["gradmatch", "random"])
def test_what_is_written_of_untuned_lies_over_no_marker(
    make_tables: MakeTables, sst5_runs: pd.DataFrame, worst: str
) -> None:
    runs = sst5_runs.query("seed == 0 or selector == 'untuned'").copy()
    runs.loc[runs["selector"] == worst, "test_accuracy"] *= 0.9
    runs.loc[runs["selector"] == "untuned", "test_accuracy"] -= 0.5
    figure = dataset_figure(make_tables(runs), "sst5", "speedup")
    axes = panel(figure, "SST5 (TPE, HB)")
    (told,) = [text for text in axes.texts if text.get_text().startswith("untuned")]

    extent = told.get_window_extent(FigureCanvasAgg(figure).get_renderer())

    tops = [
        axes.transData.transform(line.get_xydata())[:, 1].max()
        + line.get_markersize() / 2 * figure.dpi / 72
        for line in lines(axes, f"mean {worst}")
    ]
    assert max(tops) <= extent.y0


LOST = (0, 0, 0.3)
"""By three draws, of the accuracy of FULL."""


def test_a_draw_that_fails_takes_no_room(make_tables: MakeTables, sst5_runs: pd.DataFrame) -> None:
    tuned = sst5_runs[sst5_runs["selector"] != "untuned"]
    draws = sst5_runs[sst5_runs["selector"] == "untuned"].drop_duplicates(["search", "scheduler"])
    accuracy = tuned.loc[tuned["selector"] == "full", "test_accuracy"].mean()
    reached = [draws.assign(seed=i, test_accuracy=accuracy - lost) for i, lost in enumerate(LOST)]

    axes = draw(make_tables(pd.concat([tuned, *reached])))

    low, high = draw(make_tables(tuned)).get_ylim()
    assert axes.get_ylim() == (low, pytest.approx(low + WITH_A_LINE * (high - low)))
    assert [text for text in texts(axes) if text.startswith("untuned")] == [
        "untuned: 0.0 (0.0 to 30.0)"
    ]


def test_everything_drawn_lies_within_the_axes(some: Study) -> None:
    axes = draw(some)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    ends = np.vstack(
        [
            *(
                segments.reshape(-1, 2)
                for name in SUBSETS
                for segments in bars(axes, f"bars {name}")
            ),
            *(line.get_xydata() for name in SUBSETS for line in lines(axes, f"seeds {name}")),
        ]
    )

    assert left < ends[:, 0].min()
    assert ends[:, 0].max() < right
    assert low < ends[:, 1].min()
    assert ends[:, 1].max() < high


def test_front_steps_from_point_to_point_of_the_table(
    make_tables: MakeTables, sst5_runs: pd.DataFrame
) -> None:
    tables = make_tables(sst5_runs, on_front=lambda table: table["selector"] == "gradmatch")
    (steps,) = lines(draw(tables), "front")

    expected = rows(tables.tradeoff, "gradmatch").sort_values("speedup")[["speedup", ERROR]]
    assert steps.get_xydata().tolist() == expected.values.tolist()
    assert steps.get_drawstyle() == "steps-pre"


@pytest.mark.parametrize("column", ["energy_ratio", "co2_measured_ratio", "co2_time_ratio"])
def test_front_of_speedup_is_not_drawn_among_other_ratios(
    make_tables: MakeTables, sst5_runs: pd.DataFrame, column: str
) -> None:
    assert lines(draw(make_tables(sst5_runs, on_front=True), column), "front") == []


def test_best_corner_is_bottom_right(some: Study) -> None:
    axes = draw(some)
    (corner,) = [patch for patch in axes.patches if patch.get_gid() == "best corner"]

    assert corner.get_transform() == axes.transAxes
    assert [1.0, 0.0] in corner.get_path().vertices.tolist()
    assert corner.get_path().vertices.min() >= 0


def test_panel_without_runs_says_so_in_axes_without_ticks(some: Study) -> None:
    axes = draw(some, shown=Panel("dna", "tpe", "hyperband"))

    assert texts(axes) == ["not run"]
    assert [*axes.get_xticks(), *axes.get_yticks()] == []
    assert list(axes.lines) == []


NO_ENERGY: dict[str, Any] = {"energy_joules": None, "energy_method": None, "energy_source": None}


@pytest.mark.parametrize("column", ["energy_ratio", "co2_measured_ratio"])
def test_panel_without_any_energy_says_so(
    make_tables: MakeTables, sst5_runs: pd.DataFrame, column: str
) -> None:
    tables = make_tables(sst5_runs.assign(**NO_ENERGY))

    assert texts(draw(tables, column)) == ["no energy ratio"]


@pytest.mark.parametrize("column", ["speedup", "co2_time_ratio"])
def test_missing_energy_takes_nothing_from_the_figures_of_time(
    make_tables: MakeTables, sst5_runs: pd.DataFrame, column: str
) -> None:
    with_energy, without = make_tables(sst5_runs), make_tables(sst5_runs.assign(**NO_ENERGY))

    drawn = means(draw(without, column), "gradmatch")
    assert drawn == means(draw(with_energy, column), "gradmatch")
    assert len(drawn) == 4


def test_refused_runs_are_counted_and_not_drawn(
    make_tables: MakeTables, sst5_runs: pd.DataFrame
) -> None:
    runs = sst5_runs.copy()
    runs.loc[runs["selector"] == "craig", "machine"] = "another"
    figure = dataset_figure(make_tables(runs), "sst5", "speedup")

    assert "8 of 36 runs not comparable; " in note_of(figure)
    axes = panel(figure, "SST5 (TPE, HB)")
    assert means(axes, "craig") == []
    assert lines(axes, "seeds craig") == []


def test_panel_of_refused_runs_alone_is_not_called_not_run(
    make_tables: MakeTables, sst5_runs: pd.DataFrame
) -> None:
    tables = make_tables(sst5_runs[sst5_runs["selector"] != "full"])

    assert texts(draw(tables)) == ["no comparable run"]
