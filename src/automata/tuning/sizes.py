"""How large a search fits into a time, and what it costs."""

from __future__ import annotations

from typing import NamedTuple

from automata.metering.measurement import JOULES_PER_KWH
from automata.tuning.schedulers import hyperband_brackets

RUN_SECONDS = 15.0
"""Start of Ray and imports, of each run; the page takes as long."""
EVALUATION = 1.1
"""Factor for evaluations at rungs and all else that no step is."""
EFFICIENCY = 0.8
"""Of trials that train at the same time: on two cores, measured, each takes 7 to 19 % more CPU
seconds, and a core idles 6 % of the time."""


class Size(NamedTuple):
    """How much is searched."""

    configurations: int
    epochs: int
    seeds: int

    def passes(self, slots: int) -> float:
        """Return the passes over the training rows that one of `slots` makes, the busiest.

        Those of the recommended searches: Hyperband on all data.
        """
        brackets = hyperband_brackets(self.configurations, self.epochs, 3)
        return self.seeds * max(sum(it.epochs for it in brackets) / slots, self.epochs)


SIZES = (
    Size(27, 81, 3),
    Size(27, 27, 3),
    Size(27, 27, 1),
    Size(9, 27, 1),
    Size(9, 9, 1),
    Size(3, 3, 1),
)
"""From the best to the least."""


class Plan(NamedTuple):
    """A search and its cost."""

    size: Size
    slots: int
    """Trials that train at the same time."""
    seconds: float
    kwh: float | None
    """None where nothing can be estimated."""

    @property
    def cost(self) -> str:
        """What the search is expected to take."""
        took = f"about {duration(self.seconds)}"
        if self.kwh is None:
            return took
        return f"{took}, {f'{self.kwh:.2g}' if self.kwh > 0.001 else 'less than 0.001'} kWh"


def fitting(seconds: float, hours: float, cores: int, watts: float | None) -> Plan:
    """Return the largest search that takes at most so many hours, or the smallest there is.

    `seconds` are those of a pass, `watts` those of a core.
    """
    plans = [plan_of(size, seconds, cores, watts) for size in SIZES]
    return next((plan for plan in plans if plan.seconds <= 3600 * hours), plans[-1])


def plan_of(size: Size, seconds: float, cores: int, watts: float | None) -> Plan:
    """Return what a search of that size takes on so many cores."""
    slots = min(cores, size.configurations)
    beside = RUN_SECONDS * (size.seeds + 1)
    alone, together = (EVALUATION * seconds * size.passes(count) for count in (1, slots))
    wall = beside + together / (EFFICIENCY if slots > 1 else 1)
    return Plan(size, slots, wall, watts and watts * (beside + alone) / JOULES_PER_KWH)


def duration(seconds: float) -> str:
    """Return seconds as people say them."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
