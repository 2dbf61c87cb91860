"""The figure of regret and of the chance of a loss against speedup shows what its table says."""

import numpy as np
import pandas as pd

from automata.analysis.study import Study
from automata.figures.files import draw
from automata.names import ONE_EPOCH, REPEAT
from automata.simulation.figures import regret_figure


def rows(search, scheduler):
    names = [(REPEAT, "full", 1.0), (ONE_EPOCH, "full", 1.0), ("rs2 1 %", "rs2", 0.01)]
    return [
        {
            "dataset": "dna",
            "search": search,
            "scheduler": scheduler,
            "method": method,
            "selector": selector,
            "fraction": fraction,
            "warm_start": 0.0,
            "horizon_exponent": 0.0,
            "metric": "accuracy",
            "finalists": 1,
            "seeds": 2,
            "searches": 2000,
            "regret": regret,
            "regret_low": regret - 0.5,
            "regret_high": regret + 1,
            "regret_5th": regret - 2.0,
            "regret_95th": regret + 3,
            "lost_2": regret / 10,
            "lost_2_low": regret / 20,
            "lost_2_high": regret / 5 + 0.01,
            "speedup_samples": 5.0 * regret + 1,
        }
        for regret, (method, selector, fraction) in enumerate(names)
    ]


def test_each_method_is_where_its_regret_and_speedup_are(tmp_path):
    others = [*rows("random", "asha"), *rows("tpe", "hyperband")]
    shown = [row | {"speedup_samples": row["speedup_samples"] + 1} for row in others]
    table = pd.DataFrame([*shown, *rows("random", "hyperband")])
    table.to_csv(tmp_path / "simulated.csv")
    figure = draw("regret-hyperband", Study(tmp_path))
    for axes, factor in zip(figure.axes, (1, 10), strict=True):
        assert axes.get_title() == "DNA"
        points = [line.get_xydata()[0] for line in axes.lines if line.get_linestyle() == "None"]
        assert np.array_equal(points, [[6, factor], [11, 2 * factor]])
    regret, chance = (axes.patches[0] for axes in figure.axes)
    assert (regret.get_y(), regret.get_height()) == (-2, 5)
    assert (chance.get_y(), chance.get_height()) == (0, 1)


def test_a_horizon_exponent_is_shown_by_its_edge():
    def drawn(**changes):
        some = rows("random", "hyperband")
        table = pd.DataFrame([*some, some[-1] | {"horizon_exponent": 0.5, **changes}])
        figure = regret_figure(table, "hyperband")
        marks = [line for line in figure.axes[0].lines if line.get_linestyle() == "None"]
        edges = [line.get_markeredgecolor() for line in marks]
        legend = {text.get_text() for box in figure.legends for text in box.get_texts()}
        return "black" in edges, legend

    alone, legend = drawn()
    assert alone
    assert "horizon exponent 0.5" in legend
    assert not drawn(finalists=3)[0]
    assert not drawn(horizon_exponent=0.0)[0]
