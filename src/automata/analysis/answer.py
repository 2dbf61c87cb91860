"""The answer of an experiment: how much less time, energy and CO2 subsets take, at which loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pandas as pd

from automata import names
from automata.analysis import wording
from automata.analysis.quantities import ERROR, QUANTITIES
from automata.analysis.statistics import spread, summarise
from automata.analysis.study import compared
from automata.names import AUTOMATA, CONTROLS

METHODS = (AUTOMATA, "rs2")
"""The selectors of short answers if they ran: the paper's method, and re-sampling alone."""

SIZE = 0.1
"""The answer is about the subset size nearest to this one."""

RATIOS = ("energy_ratio", "co2_energy_ratio", ERROR)
"""Quantities of the answer besides the speedup (the work saved, if a run has no speedup)."""


def answer(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per data set and scheduler for one method and size, chosen before the results.

    Values are means over searches, then over seeds, with bounds over seeds; `noise` is the error of
    FULL's repeat. The table is empty if no run used subsets.
    """
    runs = compared(ratios)
    subsets = runs[~runs["selector"].isin(list(CONTROLS))]
    ran = set(subsets["selector"])
    chosen = next((name for name in (*METHODS, *sorted(ran)) if name in ran), "")
    rows = subsets[subsets["selector"] == chosen]
    sizes = sorted(rows["fraction"].unique(), key=lambda size: abs(math.log(size / SIZE)))
    rows = rows[rows["fraction"].isin(sizes[:1])]
    disturbed = rows["speedup"].isna().any() and rows["cpu_ratio"].notna().all()
    time = "cpu_ratio" if disturbed else "speedup"
    keys = ["dataset", "scheduler"]
    table = summarise(
        rows,
        keys,
        {
            "method": lambda group: names.method(chosen, float(group["fraction"].iloc[0])),
            "seeds": lambda group: group["seed"].nunique(),
            **{name: spread(name, "seed") for name in (time, *RATIOS)},
        },
    )
    repeats = runs[runs["selector"] == "full-again"].groupby(keys)[ERROR].mean()
    return table.join(repeats.astype(float).rename("noise"), on=keys)


def sentences(answer: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence per scheduler, with ranges over its data sets."""
    time = "speedup" if "speedup" in answer else "cpu_ratio"
    as_long = "times as long as" if time == "speedup" else "times the CPU time of"
    for scheduler in names.ordered(answer["scheduler"], names.SCHEDULERS):
        rows = answer[answer["scheduler"] == scheduler]
        method = rows["method"].iloc[0]
        energy = "at an unknown energy"
        if rows["energy_ratio"].notna().any():
            energy = f"and {_range(rows['energy_ratio'], wording.number)} times the energy and CO2"
        yield (
            f"Under {names.scheduler(scheduler)}, FULL takes {_range(rows[time], wording.number)} "
            f"{as_long} {method}, {energy}. The test error of {method} minus FULL's is "
            f"{_range(rows[ERROR], wording.signed)} percentage points."
        )


def cells(answer: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `answer` as text, with bounds over several seeds."""
    time = "speedup" if "speedup" in answer else "cpu_ratio"
    table = answer[["dataset", "scheduler", "seeds"]].copy()
    for name in (time, *RATIOS):
        spreads = answer[[name, f"{name}_low", f"{name}_high"]].astype(float).round(2)
        table[QUANTITIES[name].heading] = [
            f"{wording.number(value)} {wording.spread(low, high) * bool(low < high)}".strip()
            for value, low, high in spreads.to_numpy()
        ]
    table[f"{names.REPEAT}: error (pp)"] = answer["noise"].round(2).map(wording.number)
    return table


def _range(values: pd.Series[float], words: Callable[[float], str]) -> str:
    """Return the smallest and the largest value: 2.9 to 4.7."""
    ends = (float(values.min()), float(values.max()))
    texts = [words(round(end, 1)).replace("-", wording.MINUS) for end in ends]
    return " to ".join(dict.fromkeys(texts))
