"""Figures of simulated searches show what their published table says."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.names import HEDGE, REPEAT
from studies.curves.figures import figure_of

TABLES = Path(__file__).parents[3] / "results/reference/simulated/tables"
DNA = pd.read_csv(TABLES / "simulated.csv").query("dataset == 'dna' and scheduler == 'hyperband'")
USUAL = "metric == 'accuracy' and horizon_exponent == 0"
NAMED = f"method in ['FULL, ASHA', 'one epoch', 'untuned', 'plain halving', '{HEDGE}']"


@pytest.mark.parametrize(
    ("figure", "shown", "at"),
    [
        ("regret", f"selector != 'full' and {USUAL} or {NAMED}", "speedup_samples"),
        ("horizon", "selector == 'rs2' and finalists == 1", "horizon_exponent"),
    ],
)
def test_regret_is_drawn_with_its_bounds_over_the_band_of_a_repeat(figure, shown, at):
    axes = figure_of(Study(TABLES), f"{figure}-hyperband").axes[0]
    assert axes.get_title() == "DNA"
    drawn = [
        [*marks.get_xydata()[0], *bar.get_segments()[0][:, 1]]
        for marks, _, (bar,) in (container.lines for container in axes.containers)
    ]
    rows = DNA.query(shown)
    expected = rows[[at, "regret", "regret_low", "regret_high"]].to_numpy().tolist()
    assert np.array(sorted(drawn)) == pytest.approx(np.array(sorted(expected)))
    (band,) = axes.patches
    repeat = DNA[DNA["method"] == REPEAT].iloc[0]
    assert band.get_y() == pytest.approx(repeat["regret_5th"])
    assert band.get_y() + band.get_height() == pytest.approx(repeat["regret_95th"])
    others = ((rows["finalists"] > 1) | (rows["metric"] != "accuracy")) & (rows["method"] != HEDGE)
    colours = [it.lines[0].get_markerfacecolor() for it in axes.containers]
    assert colours.count("white") == others.sum()
