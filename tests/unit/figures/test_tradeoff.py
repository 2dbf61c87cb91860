"""Trade-offs: what stands where in a panel, and which panels a figure has."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from automata.analysis.quantities import QUANTITIES
from automata.analysis.study import Panel
from automata.figures.files import draw
from automata.figures.style import style
from automata.figures.tradeoff import content, draw_panel

from .drawn import bars, legend_of, note_of, points, texts

PANEL = Panel("sst5", "tpe", "hyperband")
SUBSETS = ("random", "adaptive-random", "rs2", "craig", "gradmatch")
ERROR = "relative_test_error"


def axes_of(study, column="speedup", shown=PANEL):
    with style():
        axes = Figure().add_subplot()
        draw_panel(axes, content(study, shown, QUANTITIES[column]))
    return axes


def rows(table, selector):
    found = PANEL.rows(table)
    return found[found["selector"] == selector].sort_values("fraction")


@pytest.mark.slow
@pytest.mark.parametrize("column", ["speedup", "energy_ratio"])
def test_markers_and_bars_stand_where_the_table_says(some, column):
    axes = axes_of(some, column)
    table = some.tradeoff
    for selector in ("full", "full-again", *SUBSETS):
        expected = rows(table, selector)[[column, ERROR]].to_numpy().tolist()
        assert len(expected) == (4 if selector in SUBSETS else 1)
        markers = [line for line in axes.lines if line.get_gid() == f"mean {selector}"]
        by_size = sorted(markers, key=lambda line: line.get_markersize())  # they grow with it
        assert [[*line.get_xydata()[0]] for line in by_size] == expected
        assert len({line.get_markersize() for line in markers}) == len(markers)
        assert (np.diff([line.get_zorder() for line in by_size]) < 0).all()  # small ones on top
    assert points(axes, "mean full") == [(1.0, 0.0)]
    own = rows(table, "gradmatch")
    assert points(axes, "line") == [*own[[column, ERROR]].itertuples(index=False, name=None)]
    assert sorted(texts(axes)) == ["1 %", "30 %"]  # the ends of the line
    horizontal, vertical = bars(axes)
    assert horizontal[:, :, 0].tolist() == own[[f"{column}_low", f"{column}_high"]].values.tolist()
    assert vertical[:, :, 1].tolist() == own[[f"{ERROR}_low", f"{ERROR}_high"]].values.tolist()


@pytest.mark.slow
def test_untuned_is_the_bar_at_the_edge_from_best_to_worst_with_its_median(some):
    axes = axes_of(some)
    row = PANEL.rows(some.untuned).iloc[0]
    assert [y for _, y in points(axes, "untuned")] == [row[f"{ERROR}_low"], row[f"{ERROR}_high"]]
    assert {y for _, y in points(axes, "median")} == {row[f"{ERROR}_median"]}
    assert points(axes, "mean untuned") == []


@pytest.mark.parametrize(
    ("changes", "shown", "words"),
    [
        ({}, Panel("dna", "random", "none"), "not run"),
        ({"energy_joules": None, "energy_method": None}, PANEL, "no energy ratio"),
        ({"selector": "random"}, PANEL, "no comparable run"),
    ],
)
def test_a_panel_without_anything_to_show_says_why(make_study, small_runs, changes, shown, words):
    runs = small_runs.assign(**changes).drop_duplicates(["selector", "seed"])
    axes = axes_of(make_study(runs), "energy_ratio", shown)
    assert texts(axes) == [words]
    assert list(axes.lines) == []


def test_refused_runs_are_not_drawn_and_counted(make_study, small_runs):
    runs = small_runs.copy()
    runs.loc[runs["selector"] == "random", "machine"] = "another"
    figure = draw("tradeoff/sst5", make_study(runs))
    assert "3 of 9 runs do not compare with FULL. " in note_of(figure)
    assert points(figure.axes[0], "mean random") == []
    assert legend_of(figure) == ["FULL", "AUTOMATA"]
