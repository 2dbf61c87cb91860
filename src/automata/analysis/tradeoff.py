"""What combinations reach, over their seeds: the tradeoff table, and what is made of it.

Pareto fronts, where the time goes, and the control without tuning.
"""

from __future__ import annotations

from collections import Counter
from statistics import fmean, median
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.quantities import QUANTITIES, ratio, relative_test_error
from automata.analysis.ratios import SAME
from automata.analysis.statistics import (
    Spread,
    Values,
    hypervolume,
    interval,
    known,
    mean_of,
    on_front,
    sum_of,
    summarise,
)
from automata.analysis.study import COMBINATION, PANEL, compared
from automata.analysis.wording import cell
from automata.names import CONTROLS

PARTS = {
    "training": "tuning_training_seconds",
    "selection": "tuning_selection_seconds",
    "evaluation": "tuning_evaluation_seconds",
    "orchestration": "tuning_orchestration_seconds",
    "final": "final_seconds",
}
"""Of a run's seconds, with the columns of the runs; they sum to `total_seconds`."""


def tradeoff(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return means over seeds per combination, with bounds of quantities that have a spread.

    `interval` says what the bounds are: a 95 % bootstrap interval of the mean, or the range;
    those of energy are of the `energy_seeds` that have a ratio of energies.
    Refused runs are left out; `other_cpu_share` is the largest of the runs; `records` are those
    that a row comes from, FULL's included. `on_front`: no other row of its data set, search and
    scheduler is at least as fast and at most as bad, and better in one.
    """
    table = summarise(
        compared(ratios),
        COMBINATION,
        {
            "seeds": len,
            "energy_seeds": lambda group: group["energy_ratio"].notna().sum(),
            **{
                name: Spread(known(name)) if quantity.spread else mean_of(name)
                for name, quantity in QUANTITIES.items()
            },
            "interval": lambda group: interval(len(group)),
            "other_cpu_share": lambda group: group["other_cpu_share"].max(),
            "energy_method": lambda group: ", ".join(sorted(set(group["energy_method"].dropna()))),
        },
        ["record", "full_record"],
    )
    table.insert(len(table.columns) - 1, "on_front", _on_front(table))
    return table


def _on_front(table: pd.DataFrame) -> pd.Series:
    """Return which rows no other of their panel beats; FULL's repeat is no method."""
    front = pd.Series(False, index=table.index)
    for _, panel in table[table["selector"] != "full-again"].groupby(PANEL):
        front[panel.index] = on_front(*_points(panel))
    return front


def _points(table: pd.DataFrame) -> tuple[Values, Values]:
    errors = table["relative_test_error"]
    return table["speedup"].to_numpy(np.float64), errors.to_numpy(np.float64)


def seeds_column(quantity: str) -> str:
    """Return the column that says over how many seeds `quantity` is: not all may have energy."""
    return "energy_seeds" if QUANTITIES[quantity].of_energy else "seeds"


SHOWN = ["speedup", "ceiling", "relative_test_error", "energy_ratio", "test_accuracy"]
"""Quantities of the table for people."""


def presented(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `tradeoff` with the combination, its seeds and the quantities SHOWN.

    A mean over several seeds is followed by the bounds of its spread, where it has one.
    """
    table = tradeoff[[*COMBINATION, "seeds"]].copy()
    for column in SHOWN:
        bounds = [f"{column}_low", f"{column}_high"]
        lows, highs = (tradeoff.get(bound, [np.nan] * len(tradeoff)) for bound in bounds)
        seeds = tradeoff[seeds_column(column)]
        table[QUANTITIES[column].heading] = [
            cell(*row) for row in zip(tradeoff[column], lows, highs, seeds, strict=True)
        ]
    return table


def fronts(tradeoff: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) and selector, FULL's included.

    `points` are the selector's subset sizes (means over seeds), `on_front` how many of them no
    other point of the panel beats. `hypervolume` is the area that they cover from the reference
    (speedup 1, `worst_error` of the panel in percentage points), `share` that area over what all
    points of the panel cover together: shares overlap and sum to more than one; it is missing
    where nothing is covered. FULL is the point (1, 0). The other controls take no part.
    """
    methods = tradeoff[~tradeoff["selector"].isin(CONTROLS.keys() - {"full"})]
    methods = methods[methods["speedup"].notna() & methods["relative_test_error"].notna()]
    worst = methods.groupby(PANEL)["relative_test_error"].transform("max")
    methods = methods.assign(on_front=_on_front(methods), worst_error=worst)
    together = summarise(methods, PANEL, {"together": _area}, ["records"])
    table = summarise(
        methods,
        [*PANEL, "selector"],
        {
            "points": len,
            "on_front": sum_of("on_front"),
            "hypervolume": _area,
            "worst_error": lambda group: group["worst_error"].iloc[0],
        },
        ["records"],
    )
    whole = table.merge(together[[*PANEL, "together"]], how="left")["together"].astype(float)
    table.insert(7, "share", table["hypervolume"] / whole.where(whole > 0))
    return table


def _area(points: pd.DataFrame) -> float:
    """Return the area that points of one panel cover."""
    return float(hypervolume(*_points(points), (1.0, points["worst_error"].iloc[0])))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per selector of the table of `fronts`: in how many of its panels it leads.

    `panels_on_front`: at least one of its points is on the front. `panels_largest`: it covers the
    largest hypervolume; selectors that tie all count, and none does where nothing is covered.
    """
    largest = table.groupby(PANEL)["hypervolume"].transform("max")
    judged = table.assign(
        leads=(table["hypervolume"] == largest) & (table["hypervolume"] > 0),
        present=table["on_front"] > 0,
    )
    columns = {
        "panels": len,
        "panels_on_front": sum_of("present"),
        "panels_largest": sum_of("leads"),
        "mean_share": mean_of("share"),
    }
    return summarise(judged, ["selector"], columns, ["records"])


def time_split(runs: pd.DataFrame, ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per combination: mean seconds over seeds of each of PARTS, and their shares.

    Shares are of the mean total and sum to one. Orchestration is the rest of the search's wall
    time: starting, pausing and choosing trials, and slots that stood empty. `speedup` is the mean
    of the seeds' ratios, as in the tradeoff table; `untuned` runs have none. Runs that were
    refused the comparison with their FULL are left out.
    """
    refused = set(ratios.loc[ratios["refused"].notna(), "record"])
    gains = ratios.set_index("record")["speedup"].astype(float)
    table = summarise(
        runs[~runs["record"].isin(refused)].assign(speedup=runs["record"].map(gains)),
        COMBINATION,
        {
            "seeds": len,
            **{f"{part}_seconds": mean_of(column) for part, column in PARTS.items()},
            "speedup": mean_of("speedup"),
        },
    )
    total = sum(table[f"{part}_seconds"] for part in PARTS)
    shares = {f"{part}_share": table[f"{part}_seconds"] / total for part in PARTS}
    return table.assign(total_seconds=total, **shares)


def untuned(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel (data set, search, scheduler) with `untuned` runs and a FULL.

    Draws have seeds of their own, so that all are compared with the mean of FULL's accuracies
    and times, not in pairs. `_median` says what is usual: one draw that fails moves the mean far.
    `_low` and `_high` are the best and the worst draw. One that diverged (`diverged` says how
    many) counts with the accuracy that it reached: that is what no tuning can give. Draws and
    FULL runs are of one place (`ratios.SAME`), that with the most draws; `not_comparable` says
    how many draws are elsewhere. Runs that are set aside are left out.
    """
    both = runs[(runs["set_aside"] == "") & runs["selector"].isin(["full", "untuned"])]
    places = [_in_one_place(panel) for _, panel in both.groupby(PANEL)]
    return summarise(
        pd.concat([both.iloc[:0], *places]),
        PANEL,
        {
            "draws": lambda group: len(_draws(group)),
            "diverged": lambda group: int(_draws(group)["final_failure"].notna().sum()),
            "not_comparable": lambda group: int(group["not_comparable"].iloc[0]),
            "test_accuracy": lambda group: _draws(group)["test_accuracy"].mean(),
            "relative_test_error": lambda group: fmean(_errors(group)),
            "relative_test_error_median": lambda group: median(_errors(group)),
            "relative_test_error_low": lambda group: min(_errors(group)),
            "relative_test_error_high": lambda group: max(_errors(group)),
            "speedup": lambda group: ratio(
                _full(group)["total_seconds"].mean(), _draws(group)["total_seconds"].mean()
            ),
        },
    )


def _in_one_place(panel: pd.DataFrame) -> pd.DataFrame:
    """Return the draws and FULL runs of the place with the most draws; none without any FULL."""
    # What is missing is None, which equals itself.
    values = panel[SAME].astype(object).where(panel[SAME].notna(), None)
    places = pd.Series(list(values.itertuples(index=False, name=None)), panel.index)
    drawn, common = places[panel["selector"] == "untuned"], set(places[panel["selector"] == "full"])
    counts = Counter(place for place in drawn if place in common)
    chosen: Any = counts.most_common(1)[0][0] if counts else None
    here = [place == chosen for place in places]
    return panel[here].assign(not_comparable=len(drawn) - counts[chosen])


def _draws(group: pd.DataFrame) -> pd.DataFrame:
    return group[group["selector"] == "untuned"]


def _full(group: pd.DataFrame) -> pd.DataFrame:
    return group[group["selector"] == "full"]


def _errors(group: pd.DataFrame) -> list[float]:
    """Return the error of each draw, against the mean of FULL's accuracies."""
    full = _full(group)["test_accuracy"].mean()
    return [relative_test_error(full, reached) for reached in _draws(group)["test_accuracy"]]
