"""The claim that one scheduler is more efficient than another."""

from __future__ import annotations

import numpy as np
import pandas as pd

from automata.analysis.claims.cells import of_grid
from automata.analysis.claims.claim import GridClaim, SchedulerName
from automata.analysis.claims.finding import (
    FEW_SEEDS,
    FIRM,
    PANELS_MISSING,
    Finding,
    by_interval,
    not_run,
    records_of,
    verdict,
)
from automata.analysis.ratios import SAME, by_origin
from automata.analysis.statistics import interval_of
from automata.analysis.study import PANEL, Study
from automata.analysis.study import panels as panels_in
from automata.analysis.wording import bounded, times

WORK = ["epochs", "configurations", "model", "train_rows"]
"""What is tuned, and for how long: runs of two schedulers differ in their protocols anyway."""


class SchedulerClaim(GridClaim):
    """FULL tunes faster under one scheduler than under another.

    Runs of FULL are paired by data set, search and seed; they must be of one host, device and
    software, and of the same epochs, configurations, model and number of training rows. The mean
    over pairs of seconds under `slower` / seconds under `faster` must be above 1. The interval is
    that of `automata.analysis.claims.resampling.interval_of`.
    """

    faster: SchedulerName
    slower: SchedulerName

    @property
    def rule(self) -> str:
        """Say which ratio must be above 1."""
        return (
            f"on average over pairs of runs, FULL takes longer under {self.slower} than under "
            f"{self.faster}"
        )

    def check(self, tables: Study) -> Finding:
        """Return the mean ratio of FULL's seconds under the two schedulers."""
        runs = by_origin(tables.runs[tables.runs["set_aside"] == ""])
        full = of_grid(runs[runs["selector"] == "full"], self.grid)
        same = [column for column in SAME if column != "protocol_hash"]  # it holds the scheduler
        keys = ["dataset", "search", "seed", *same, *WORK]
        columns = [*keys, "total_seconds", "record", "scheduler"]
        one, other = (
            full.loc[full["scheduler"] == name, columns] for name in (self.faster, self.slower)
        )
        pairs = one.merge(other, on=keys, suffixes=("", "_slower"))
        of = len(self.grid.panels)
        if not len(pairs):
            return not_run(f"no pair of FULL under {self.faster} and {self.slower}", of)
        values = (pairs["total_seconds_slower"] / pairs["total_seconds"]).to_numpy(np.float64)
        mean = float(values.mean())
        interval = interval_of(values, pairs)
        low, high = interval or (mean, mean)
        outcome = by_interval(mean, low, high, 1.0, above=True)
        renamed = pairs.assign(scheduler=pairs["scheduler_slower"])
        panels = tuple(panels_in(pd.concat([pairs[PANEL], renamed[PANEL]])))
        firm = outcome.firm if interval else FEW_SEEDS
        if firm == FIRM and len(panels) < of:
            firm = PANELS_MISSING
        ours = bounded(times(mean), times(low), times(high)) if interval else times(mean)
        return Finding(
            verdict(outcome.passes),
            f"FULL takes {ours} as long under {self.slower} as under {self.faster}",
            firm,
            panels,
            of,
            records_of([pairs["record"], pairs["record_slower"]]),
        )
