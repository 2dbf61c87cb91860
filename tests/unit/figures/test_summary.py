"""AUTOMATA's performance summary: one marker per mean, one lane per search and scheduler."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from automata.analysis.study import Panel, Study
from automata.figures.paper import COLUMNS
from automata.figures.style import style
from automata.figures.summary import DATASETS, LABELS, spread
from automata.figures.summary import performance_summary as performance_summary_of
from drawn import bars, inches, legend_of, lines, note_of, overlaps, texts

MakeTables = Callable[..., Study]

RATIOS = list(LABELS)


performance_summary = cache(performance_summary_of)


def axes_of(tables: Study, quantity: str) -> Axes:
    return performance_summary(tables).axes[RATIOS.index(quantity)]


def drawn(axes: Axes, selector: str) -> list[tuple[float, float]]:
    """Return height and value of each marker of `selector`, lane by lane."""
    return [(line.get_ydata()[0], line.get_xdata()[0]) for line in lines(axes, f"mean {selector}")]


@pytest.mark.parametrize("quantity", RATIOS)
@pytest.mark.parametrize("selector", ["gradmatch", "full"])
def test_markers_stand_where_the_tradeoff_table_says(
    some: Study, quantity: str, selector: str
) -> None:
    """Of the five data sets `some` has CIFAR100, the fourth."""
    axes = axes_of(some, quantity)
    ticks = axes.get_yticks()[12:16]
    expected = []
    for height, column in zip(ticks, COLUMNS, strict=True):
        rows = Panel("cifar100", *column).rows(some.tradeoff).sort_values("fraction")
        expected += [(height, x) for x in rows[rows["selector"] == selector][quantity]]

    assert drawn(axes, selector) == expected
    assert len(expected) == (16 if selector == "gradmatch" else 4)


@pytest.mark.parametrize("quantity", ["speedup", "relative_test_error"])
def test_bars_reach_from_bound_to_bound(some: Study, quantity: str) -> None:
    reached = np.vstack(bars(axes_of(some, quantity), "bars"))[:, :, 0]
    table = some.tradeoff.query("dataset == 'cifar100' and selector == 'gradmatch'")

    expected = table[[f"{quantity}_low", f"{quantity}_high"]]
    assert sorted(reached.tolist()) == sorted(expected.values.tolist())


def test_every_data_set_of_the_caption_has_its_lanes(some: Study) -> None:
    figure = performance_summary(some)
    names = [text.get_text() for text in figure.texts if text.get_gid() != "note"]
    lanes = [label.get_text() for label in figure.axes[0].get_yticklabels()]

    assert names == ["SST2", "glue-SST2", "CIFAR10", "CIFAR100", "CONNECT-4"]
    assert lanes == ["Random, HB", "TPE, HB", "Random, ASHA", "TPE, ASHA"] * 5


def test_data_sets_without_runs_stay_and_say_so(some: Study, whole: Study) -> None:
    part, everything = performance_summary(some), performance_summary(whole)

    assert [texts(axes).count("not run") for axes in part.axes] == [4, 4, 4]
    assert [texts(axes).count("not run") for axes in everything.axes] == [0, 0, 0]
    assert inches(part) == [pytest.approx(place) for place in inches(everything)]
    assert note_of(part).startswith("16 of 20 panels not run; 3 seeds; bars: 95 % ")


def test_lane_without_runs_says_so_in_its_place(
    make_tables: MakeTables, some_runs: pd.DataFrame
) -> None:
    left_out = (some_runs["search"] == "tpe") & (some_runs["scheduler"] == "asha")
    axes = axes_of(make_tables(some_runs[~left_out]), "speedup")

    heights = [text.get_position()[1] for text in axes.texts if text.get_text() == "not run"]
    assert axes.get_yticks()[15] in heights
    assert len(heights) == 5


def test_three_panels_are_named_with_units(some: Study) -> None:
    assert [axes.get_xlabel() for axes in performance_summary(some).axes] == list(LABELS.values())


def test_speedup_and_time_are_logarithmic(some: Study) -> None:
    assert [axes.get_xscale() for axes in performance_summary(some).axes] == [
        "log",
        "linear",
        "log",
    ]


def test_ticks_of_time_have_units(some: Study) -> None:
    axes = axes_of(some, "total_seconds")
    named = dict(
        zip(axes.get_xticks(), [t.get_text() for t in axes.get_xticklabels()], strict=True)
    )

    assert len(named) >= 2
    for seconds, name in named.items():
        number, unit = name.split()
        assert float(number) * {"s": 1, "min": 60, "h": 3600}[unit] == seconds


def test_schedulers_are_told_apart_by_colour_and_marker(some: Study) -> None:
    markers = lines(axes_of(some, "speedup"), "mean gradmatch")
    looks = [(line.get_marker(), line.get_markerfacecolor()) for line in markers]

    assert len(set(looks[:8])) == len(set(looks[8:])) == 1
    assert looks[0][0] != looks[8][0]
    assert looks[0][1] != looks[8][1]
    assert legend_of(performance_summary(some)) == ["AUTOMATA, HB", "AUTOMATA, ASHA", "FULL"]


def test_each_marker_has_its_fraction(some: Study) -> None:
    labels = [text for text in texts(axes_of(some, "total_seconds")) if text != "not run"]

    assert sorted(labels) == sorted(["1", "5", "10", "30"] * 4)


@pytest.mark.parametrize("quantity", RATIOS)
def test_no_fraction_is_written_over_another(some: Study, quantity: str) -> None:
    figure = performance_summary(some)
    with style():
        figure.draw(FigureCanvasAgg(figure).get_renderer())
    labels = [text for text in axes_of(some, quantity).texts if text.get_text() != "not run"]

    assert len(labels) == 16
    assert overlaps({str(i): label.get_window_extent() for i, label in enumerate(labels)}) == []


def test_an_experiment_without_these_data_sets_is_drawn_empty(one_seed: Study) -> None:
    figure = performance_summary(one_seed)

    assert note_of(figure) == "20 of 20 panels not run"
    assert [texts(axes) for axes in figure.axes] == [["not run"] * len(DATASETS)] * 3


def test_labels_with_room_stay_where_they_are() -> None:
    assert spread([1.0, 9.0, 5.0], [2.0, 2.0, 2.0]) == ([0, 2, 1], [1.0, 5.0, 9.0])


def test_labels_on_one_spot_move_aside_evenly() -> None:
    assert spread([5.0, 5.0, 5.0], [2.0, 2.0, 2.0]) == ([0, 1, 2], [3.0, 5.0, 7.0])


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.sampled_from([5.0, 8.0, 11.0])), min_size=1, max_size=8
    )
)
def test_labels_never_overlap(labels: list[tuple[float, float]]) -> None:
    centres, widths = zip(*labels, strict=True)
    order, moved = spread(list(centres), list(widths))

    assert sorted(order) == list(range(len(labels)))
    for (i, left), (j, right) in pairwise(zip(order, moved, strict=True)):
        assert right - left >= (widths[i] + widths[j]) / 2 - 1e-9
