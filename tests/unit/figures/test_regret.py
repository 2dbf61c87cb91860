"""The figure of regret against speedup shows what its table says."""

import numpy as np
import pandas as pd

from automata.figures.regret import regret_figure


def rows(scheduler):
    names = [("FULL, repeated", "full", 1.0), ("one epoch", "full", 1.0), ("rs2 1 %", "rs2", 0.01)]
    return [
        {
            "dataset": "dna",
            "scheduler": scheduler,
            "method": method,
            "selector": selector,
            "fraction": fraction,
            "warm_start": 0.0,
            "horizon_exponent": 0.0,
            "searches": 2000,
            "regret": regret,
            "regret_low": regret - 0.5,
            "regret_high": regret + 1,
            "speedup_samples": 5.0 * regret + 1,
        }
        for regret, (method, selector, fraction) in enumerate(names)
    ]


def test_each_method_is_where_its_regret_and_speedup_are():
    table = pd.DataFrame([*rows("asha"), *rows("hyperband")])
    figure = regret_figure(table)
    assert [axes.get_title() for axes in figure.axes] == ["DNA, Hyperband", "DNA, ASHA"]
    for axes in figure.axes:
        points = [line.get_xydata()[0] for line in axes.lines if line.get_linestyle() == "None"]
        assert np.array_equal(points, [[6, 1], [11, 2]])
        (band,) = axes.patches
        assert (band.get_y(), band.get_height()) == (-0.5, 1.5)
