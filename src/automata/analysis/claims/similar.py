"""Claims that energy and CO2 are saved as time is."""

from __future__ import annotations

from typing import Literal

import numpy as np

from automata.analysis.claims.cells import evidence, of_panel, why_missing
from automata.analysis.claims.claim import GridClaim, Share
from automata.analysis.claims.finding import (
    FEW_SEEDS,
    FIRM,
    OPEN,
    Finding,
    Outcome,
    not_run,
    of_share,
    records_of,
    verdict,
)
from automata.analysis.claims.words import but_estimates, panel_name
from automata.analysis.quantities import words
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, bounds
from automata.analysis.study import Panel, Study
from automata.analysis.wording import percent
from automata.names import AUTOMATA

BETWEEN = (0.8, 1.25)
"""What is similar: within a quarter, either way."""


class SimilarClaim(GridClaim):
    """Energy, or CO2 from energy, is saved by about the factor that time is.

    In a panel the mean over fractions and seeds of AUTOMATA's ratio / speedup must lie between
    0.8 and 1.25, and at least `share` of the panels must be so. Energy that was estimated from
    CPU time alone does not count: it follows time by construction.
    """

    quantity: Literal["energy_ratio", "co2_measured_ratio"] = "energy_ratio"
    share: Share = 1.0

    @property
    def rule(self) -> str:
        """Say what is similar."""
        many = "all panels" if self.share == 1 else f"at least {percent(self.share)} of the panels"
        return (
            f"in {many} the mean of {words(self.quantity)} / speedup lies between 0.8 and 1.25"
            f"{but_estimates(self.quantity)}"
        )

    def check(self, tables: Study) -> Finding:
        """Return in which share of the panels the two ratios are similar."""
        rows = evidence(tables.ratios, self.quantity)
        rows = rows[rows[self.quantity].notna()]
        means: dict[Panel, float] = {}
        outcomes, used = {}, []
        for panel in self.grid.panels:
            own = of_panel(rows, panel, [AUTOMATA], self.grid.fractions)
            if len(own):
                per_seed = (own[self.quantity] / own["speedup"]).groupby(own["seed"]).mean()
                values = per_seed.to_numpy(dtype=np.float64)
                means[panel], outcomes[panel] = float(values.mean()), _outcome(values)
                used += [own["record"], own["full_record"]]
        of = len(self.grid.panels)
        if not outcomes:
            why = "no energy ratio in these panels"
            return not_run(why_missing(tables, self.grid, [AUTOMATA], self.quantity, why), of)
        whole = of_share(outcomes, of, self.share)
        least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        passing = sum(outcome.passes for outcome in outcomes.values())
        return Finding(
            verdict(whole.passes),
            f"similar in {passing} of {len(outcomes)} panels; ratio / speedup from "
            f"{means[least]:.2f} ({panel_name(least)}) to {means[most]:.2f} ({panel_name(most)})",
            whole.firm,
            tuple(outcomes),
            of,
            records_of(used),
        )


def _outcome(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Outcome:
    """Return the outcome of a panel from its values per seed."""
    mean = float(values.mean())
    passes = BETWEEN[0] <= mean <= BETWEEN[1]
    if len(values) < SEEDS_FOR_INTERVAL:
        return Outcome(passes, FEW_SEEDS)
    low, high = bounds(values)
    inside = BETWEEN[0] <= low and high <= BETWEEN[1]
    outside = high < BETWEEN[0] or low > BETWEEN[1]
    return Outcome(passes, FIRM if inside or outside else OPEN)
