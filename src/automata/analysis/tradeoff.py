"""The tradeoff table (means over the seeds of each combination), and tables like it."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean, median

import pandas as pd

from automata.analysis.quantities import ERROR, QUANTITIES
from automata.analysis.ratios import SAME, disturbed, relative_test_error
from automata.analysis.statistics import (
    interval,
    number_of,
    spread,
    summarise,
)
from automata.analysis.study import COMBINATION, PANEL, compared


def tradeoff(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per combination: means over seeds, and bounds of quantities with a spread.

    `interval` names the bounds (`statistics.bounds`); a quantity that some runs lack has its own
    number of seeds, such as `energy_seeds`. Refused runs are left out. `other_cpu_share` is the
    largest of the runs; `records` include FULL's.
    """
    spreads = [quantity for quantity in QUANTITIES.values() if quantity.spread]
    return summarise(
        compared(ratios),
        COMBINATION,
        {
            "seeds": len,
            **{each.seeds: number_of(each.name) for each in spreads if each.seeds != "seeds"},
            **{
                name: spread(name) if quantity.spread else spread(name).mean
                for name, quantity in QUANTITIES.items()
            },
            "interval": lambda group: interval(len(group)),
            "other_cpu_share": lambda group: group["other_cpu_share"].max(),
            **{column: _values(column) for column in ("energy_method", "energy_source")},
        },
        ["record", "full_record"],
    )


def _values(column: str) -> Callable[[pd.DataFrame], str]:
    """Return a function of rows: the distinct values of `column`."""
    return lambda group: ", ".join(sorted(set(group[column].dropna())))


def untuned(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per panel with `untuned` and FULL runs: the results of the draws.

    Draws have other seeds than FULL, so each is compared with FULL's mean accuracy and time.
    `relative_test_error` is the mean over draws, `_low` the best and `_high` the worst. A draw that
    `diverged` counts with the accuracy that it reached. `not_comparable` counts draws that differ
    from FULL in `ratios.SAME`; these and excluded runs are left out.
    """
    both = runs[(runs["set_aside"] == "") & runs["selector"].isin(["full", "untuned"])]
    return summarise(
        pd.concat([_draws(both.iloc[:0]), *(_draws(panel) for _, panel in both.groupby(PANEL))]),
        PANEL,
        {
            "draws": len,
            "diverged": lambda group: int(group["final_failure"].notna().sum()),
            "not_comparable": lambda group: int(group["not_comparable"].iloc[0]),
            "test_accuracy": lambda group: group["test_accuracy"].mean(),
            ERROR: lambda group: fmean(group["error"]),
            f"{ERROR}_median": lambda group: median(group["error"]),
            f"{ERROR}_low": lambda group: min(group["error"]),
            f"{ERROR}_high": lambda group: max(group["error"]),
            "speedup": lambda group: group["full_seconds"].iloc[0] / group["seconds"].mean(),
        },
        ["record", "full_record"],
    )


def _draws(panel: pd.DataFrame) -> pd.DataFrame:
    """Return the draws of a panel that agree with FULL in SAME, with FULL's means.

    If several groups of draws have FULL runs, the largest group counts.
    """
    draws, full = panel.iloc[:0], panel.iloc[:0]
    for _, group in panel.groupby(SAME, sort=False, dropna=False):
        drawn, compared = (group[group["selector"] == name] for name in ("untuned", "full"))
        if len(compared) and len(drawn) > len(draws):
            draws, full = drawn, compared
    accuracy = full["test_accuracy"].mean()
    return draws.assign(
        error=[relative_test_error(accuracy, own) for own in draws["test_accuracy"]],
        seconds=draws["total_seconds"].mask(disturbed(draws)),
        full_seconds=full["total_seconds"].mask(disturbed(full)).mean(),
        full_record=" ".join(full["record"]),
        not_comparable=int((panel["selector"] == "untuned").sum()) - len(draws),
    )
