"""Tables of simulated searches as readers see them."""

from __future__ import annotations

from itertools import product

import pandas as pd

from automata import names
from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.analysis.wording import signed, times
from studies.curves.curves import SPEEDUPS

ASHA = f"{names.FULL}, {names.scheduler('asha')}"

ALIKE = (names.REPEAT, names.UNTUNED, ASHA, names.PLAIN_HALVING, names.ONE_EPOCH)
METHODS = {
    **dict(zip(ALIKE, ALIKE, strict=True)),
    **{
        f"{selector} {size} %": names.method(selector, size / 100)
        for selector, size in product(("rs2", names.AUTOMATA), (10, 1))
    },
    "random 1 %": names.method("random", 0.01),
    "rs2 1 %, beta 0.5": f"{names.method('rs2', 0.01)}, exponent 0.5",
    names.HEDGE: names.HEDGE,
}
"""The methods that `losses` shows, and their display names."""

BY = dict(zip(("samples", "CPU time"), SPEEDUPS, strict=True))
"""Measures of speedup -> their columns."""


def _under_hyperband(study: Study) -> pd.DataFrame:
    """Return the rows of Hyperband. In the paper ASHA has a warm start, which is not simulated."""
    rows = read_csv(study.folder / "simulated.csv")
    return rows[rows["scheduler"] == "hyperband"]


def losses(study: Study) -> pd.DataFrame:
    """Return speedup, regret with its 95 % interval and worst mean regret of `METHODS`.

    FULL's repeat, whose expected regret is 0, has the central 90 % of its searches.
    """
    rows = _under_hyperband(study)
    lines = []
    for method, display in METHODS.items():
        found = rows[rows["method"] == method]
        if found.empty:
            continue
        line = {"method": display}
        for by, column in BY.items():
            ends = times(found[column].min()), times(found[column].max())
            line[f"by {by}"] = "\N{EN DASH}".join(dict.fromkeys(ends))
        ends = ("5th", "95th") if method == names.REPEAT else ("low", "high")
        for dataset in names.ordered(rows["dataset"], names.DATASETS):
            here = found.loc[
                found["dataset"] == dataset, ["regret", *(f"regret_{it}" for it in ends)]
            ]
            shown = ["{} ({}, {})".format(*map(signed, numbers)) for numbers in here.to_numpy()]
            line[names.dataset(dataset)] = "".join(shown)
        lines.append(line | {"worst": signed(found["regret"].max())})
    return pd.DataFrame(lines)


def certainty(study: Study) -> pd.DataFrame:
    """Return how far two trainings differ by their seed."""
    noise = read_csv(study.folder / "noise.csv").set_index("dataset")
    noise = noise.loc[names.ordered(noise.index, names.DATASETS)]
    columns = {"two trainings": noise["test"], "two trainings, best quarter": noise["best"]}
    texts = pd.DataFrame(columns).map("{:.2f}".format)
    texts.insert(0, "training seeds", noise["seeds"])
    return texts.rename(index=names.dataset).reset_index()
