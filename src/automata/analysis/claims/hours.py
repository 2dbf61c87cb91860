"""Claims of how long one training takes."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field, PositiveFloat, PositiveInt

from automata.analysis.claims.claim import Claim, DatasetName, Text
from automata.analysis.claims.finding import (
    FEW_SEEDS,
    FIRM,
    OPEN,
    Finding,
    not_run,
    records_of,
    verdict,
)
from automata.analysis.claims.reach import Around
from automata.analysis.quantities import SECONDS_PER_HOUR
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, bounds
from automata.analysis.study import Study


class HoursClaim(Claim):
    """One training on all data takes so many hours on a device.

    The mean of the final trainings of `model` for exactly `epochs` epochs on a device whose name
    holds `device` must lie within `around`, as a share, of `hours`, whichever selector they
    followed. Hours on another device would say nothing.
    """

    dataset: DatasetName
    model: Annotated[Text, Field(description="How the names of the models begin")]
    epochs: PositiveInt
    device: Text
    hours: PositiveFloat
    around: Around

    @property
    def rule(self) -> str:
        """Say how many hours, of what."""
        low, high = self._limits
        return (
            f"final trainings of {self.dataset} with {self.model}* for {self.epochs} epochs on a "
            f"{self.device} take between {low:g} and {high:g} hours on average"
        )

    @property
    def _limits(self) -> tuple[float, float]:
        return self.hours * (1 - self.around), self.hours * (1 + self.around)

    def check(self, tables: Study) -> Finding:
        """Return how long the final trainings took."""
        runs = tables.runs
        runs = runs[
            (runs["dataset"] == self.dataset)
            & runs["model"].str.startswith(self.model)
            & runs["device"].str.contains(self.device, regex=False)
            & (runs["final_epochs"] == self.epochs)
            & runs["final_failure"].isna()
            & (runs["set_aside"] == "")
        ]
        if not len(runs):
            wanted = f"{self.dataset} with {self.model}* for {self.epochs} epochs"
            return not_run(f"no training of {wanted} on a {self.device}")
        hours = (runs["final_seconds"] / SECONDS_PER_HOUR).to_numpy(dtype=np.float64)
        (low, high), (least, most) = bounds(hours), self._limits
        mean = float(hours.mean())
        passes = least <= mean <= most
        sure = (least <= low and high <= most) or high < least or low > most
        few = runs["seed"].nunique() < SEEDS_FOR_INTERVAL
        models = ", ".join(sorted(runs["model"].unique()))
        return Finding(
            verdict(passes),
            f"{mean:.3g} h ({low:.3g} to {high:.3g}) for {models}, {len(runs)} trainings",
            FEW_SEEDS if few else FIRM if sure else OPEN,
            records=records_of([runs["record"]]),
        )
