"""Figures of simulated searches show what their table says."""

import numpy as np
import pandas as pd

from automata.analysis.study import Study
from automata.figures.files import draw
from automata.names import HEDGE, ONE_EPOCH, REPEAT


def row(method, selector, regret, **changes):
    """Return a row of the table of simulated searches, under Hyperband on 1 % of dna."""
    return {
        "dataset": "dna",
        "scheduler": "hyperband",
        "method": method,
        "selector": selector,
        "fraction": 0.01,
        "horizon_exponent": 0.0,
        "metric": "accuracy",
        "finalists": 1,
        "seeds": 2,
        "regret": regret,
        "regret_low": regret - 0.75,
        "regret_high": regret + 1,
        "regret_5th": regret - 2,
        "regret_95th": regret + 3,
        "speedup_samples": 5 * regret + 1,
        **changes,
    }


ROWS = [
    row(REPEAT, "full", regret=0),
    row(ONE_EPOCH, "full", regret=1),
    row("rs2 1 %", "rs2", regret=2),
    row("rs2 1 %, 3 finalists", "rs2", regret=3, finalists=3),
    row("rs2 1 %, beta 0.5", "rs2", regret=4, horizon_exponent=0.5),
    row("rs2 1 %, by loss", "rs2", regret=5, metric="log_loss"),
    row("rs2 1 %", "rs2", regret=6, scheduler="asha"),
    row(HEDGE, "rs2", regret=1.5, horizon_exponent=np.nan, metric="log_loss", finalists=3),
]


def drawn(folder, name):
    """Return the figure, and the points and bars of its first panel."""
    pd.DataFrame(ROWS).to_csv(folder / "simulated.csv", index=False)
    figure = draw(name, Study(folder))
    bars = [container.lines for container in figure.axes[0].containers]
    points = [marks.get_xydata()[0].tolist() for marks, _, _ in bars]
    ends = [bar.get_segments()[0][:, 1].tolist() for _, _, (bar,) in bars]
    assert ends == [[y - 0.75, y + 1] for _, y in points]
    return figure, sorted(points)


def test_regret_is_drawn_against_the_speedup_of_subsets_and_of_methods_without(tmp_path):
    figure, points = drawn(tmp_path, "regret-hyperband")
    assert points == [[6, 1], [8.5, 1.5], [11, 2], [16, 3]]
    (axes,) = figure.axes
    assert axes.get_title() == "DNA"
    (band,) = axes.patches
    assert (band.get_y(), band.get_height()) == (-2, 5)
    colours = [it.lines[0].get_markerfacecolor() for it in axes.containers]
    assert colours.count("white") == 1  # three finalists
    low, high = axes.get_ylim()
    assert low < 0.25 < 4 < high


def test_regret_is_drawn_against_the_horizon_exponent(tmp_path):
    figure, points = drawn(tmp_path, "horizon-hyperband")
    assert points == [[0, 2], [0, 5], [0.5, 4]]
    assert np.allclose(figure.axes[0].get_xticks(), [0, 0.5])
    assert figure.axes[0].get_xlabel() == "Horizon exponent (Hyperband)"
