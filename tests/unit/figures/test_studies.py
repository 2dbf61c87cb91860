"""The figures beyond the paper: what stands where, and what they say is missing."""

import numpy as np
import pandas as pd
import pytest

from automata.analysis.search_studies import rank_agreement
from automata.analysis.selectors import CONTRAST, pooled_differences
from automata.figures import searches
from automata.names import AUTOMATA, CONTRASTS

from .drawn import bars, points

pytestmark = pytest.mark.slow

SUBSETS = ("random", "adaptive-random", "rs2", "craig", "gradmatch")


def tuples(table, *columns):
    return list(table[list(columns)].itertuples(index=False, name=None))


@pytest.fixture(scope="module")
def pooled(some):
    """The rows of the table, AUTOMATA's pairs first."""
    groups = dict([*pooled_differences(some.ratios).groupby(CONTRAST)])
    return pd.concat([groups[pair] for pair in sorted(CONTRASTS, key=lambda it: it[0] != AUTOMATA)])


@pytest.mark.parametrize(
    ("side", "column", "nothing"), [(0, "error_difference", 0), (1, "speedup_ratio", 1)]
)
def test_a_forest_has_the_pooled_rows_in_black_where_they_differ(
    some, drawn, pooled, side, column, nothing
):
    axes = drawn("selector-comparison", some).axes[side]
    ends = [line.get_xdata() for line in axes.lines if len(set(line.get_ydata())) == 1]
    low, high = pooled[f"{column}_low"], pooled[f"{column}_high"]
    assert [x for x, _ in points(axes, "mean")] == pooled[column].tolist()
    assert [tuple(end) for end in ends if len(end) == 2] == [*zip(low, high, strict=True)]
    assert len(pooled) == 6 * 5  # pairs; four subset sizes and all
    marks = [line.get_color() for line in axes.lines if line.get_gid() == "mean"]
    assert [colour == "black" for colour in marks] == [*((low > nothing) | (high < nothing))]


def test_taus_and_their_noise_ceiling_stand_where_the_table_says(some, drawn):
    taus = rank_agreement(some).query("datasets > 1").sort_values("percent")
    panels = [(s, f) for s in ("hyperband", "asha") for f in (0.01, 0.05, 0.1, 0.3)]
    for axes, (scheduler, fraction) in zip(drawn("rank-agreement", some).axes, panels, strict=True):
        of_scheduler = taus[taus["scheduler"] == scheduler]
        here = of_scheduler[of_scheduler["fraction"] == fraction]
        assert set(here["selector"]) == set(SUBSETS)
        for selector, rows in here.groupby("selector"):
            assert points(axes, f"taus {selector}") == tuples(rows, "percent", "tau")
        noise = of_scheduler[of_scheduler["selector"] == "full-again"]
        assert points(axes, "noise") == tuples(noise, "percent", "tau")


def test_a_tau_of_few_data_sets_is_left_out(some, monkeypatch):
    table = rank_agreement(some).copy()
    table.loc[table["selector"] == "rs2", "datasets"] = 1
    monkeypatch.setattr(searches, "rank_agreement", lambda study: table)
    figure = searches.rank_agreement_figure(some)
    lines = {line.get_gid() for axes in figure.axes for line in axes.lines}
    assert "taus gradmatch" in lines
    assert "taus rs2" not in lines
    assert any("A tau is a mean over 2 to 3 data sets" in text.get_text() for text in figure.texts)


SUMMARY = ("speedup", "relative_test_error", "total_seconds")


@pytest.mark.parametrize(("side", "quantity"), enumerate(SUMMARY))
def test_the_summary_has_the_means_and_bars_of_the_table_lane_by_lane(some, drawn, side, quantity):
    """Of the five data sets of the figure, `some` has CIFAR100 alone."""
    figure = drawn("performance-summary", some)
    axes = figure.axes[side]
    lanes = figure.axes[0].get_yticks()
    columns = [(s, c) for c in ("hyperband", "asha") for s in ("random", "tpe")]
    table = some.tradeoff.query("dataset == 'cifar100'")
    heights = dict(zip(columns, lanes, strict=True))
    at = [heights[place] for place in tuples(table, "search", "scheduler")]
    table = table.assign(lane=at).sort_values(["lane", quantity])
    for selector in ("full", "gradmatch"):
        expected = table[table["selector"] == selector][["lane", quantity]].to_numpy()
        shown = sorted((y, x) for x, y in points(axes, f"mean {selector}"))
        assert np.array(shown) == pytest.approx(expected)
    if quantity != "total_seconds":
        ends = table[table["selector"] == "gradmatch"][[f"{quantity}_low", f"{quantity}_high"]]
        reached = [bar[:, 0].tolist() for drawn in bars(axes) for bar in drawn]
        assert sorted(reached) == sorted(ends.values.tolist())
