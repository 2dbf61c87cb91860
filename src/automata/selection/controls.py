"""What is compared with: conditions of a run that select no subsets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Control:
    """A condition without a selector. It stands on the axis `selectors` of configuration and paths.

    A run under a control trains on all data, if it trains at all before the final training.
    """

    fraction: int
    """The share of the data that trials see: stands for the subset size in paths and tables."""
    stream: str = "training"
    """The random stream of initial weights and mini-batches."""

    @property
    def searches(self) -> bool:
        """Whether trials train at all."""
        return self.fraction > 0


CONTROLS = {
    "full": Control(1),
    "full-again": Control(1, stream="training again"),
    "untuned": Control(0),
}
"""FULL tunes on all data; its repeat differs in initial weights and mini-batches alone: how far two
runs of FULL differ. `untuned` draws one configuration at random and trains it once on all data."""
