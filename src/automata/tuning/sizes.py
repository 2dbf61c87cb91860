"""The sizes of search that `automata new` offers, and the expected cost of each."""

from __future__ import annotations

import math
from typing import NamedTuple

from automata.metering.measurement import JOULES_PER_KWH
from automata.tuning.schedulers import hyperband_brackets

RUN_SECONDS = 15.0
"""Seconds that each run takes for imports and the start of Ray; making the page takes as long."""
EVALUATION = 1.1
"""Factor for evaluations at rungs and other work between training steps."""
EFFICIENCY = 0.8
"""Efficiency of trials that train at once: measured on two cores, each takes 7 to 19 % more CPU
seconds, and a core is idle for 6 % of the time."""


class Method(NamedTuple):
    """The cost of a method, relative to Hyperband on all data."""

    search: float
    """Share of the data that all screens of a search train on together."""
    final: float
    """Epochs on all data of the final training, relative to T."""


ALL_DATA = Method(search=1.0, final=0.0)  # the best trial's model is kept
HEDGE = Method(search=0.02, final=0.6 + 0.7 + 1.334)
"""Two screens on 1 %; six finalists train to T/10, three to T/3 and two to T."""


class Size(NamedTuple):
    """The size of an experiment."""

    configurations: int
    epochs: int
    seeds: int

    def passes(self, slots: int, method: Method) -> float:
        """Return the epochs on all data that the busiest of `slots` trains, under Hyperband."""
        brackets = hyperband_brackets(self.configurations, self.epochs, 3)
        total = sum(bracket.epochs for bracket in brackets)
        search = max(total / slots, self.epochs)  # one trial uses one slot at a time
        final = max(method.final / slots, min(method.final, 1)) * self.epochs
        return self.seeds * (method.search * search + final)


SIZES = (
    Size(27, 81, 3),
    Size(27, 27, 3),
    Size(27, 27, 1),
    Size(9, 27, 1),
    Size(9, 9, 1),
    Size(3, 3, 1),
)
"""The largest first."""
SENSIBLE = SIZES.index(Size(9, 27, 1))
"""The smallest that finds a good model."""


class Plan(NamedTuple):
    """A search and its cost."""

    size: Size
    slots: int
    """Trials that train at the same time."""
    seconds: float
    kwh: float | None
    """None if it cannot be estimated."""
    advice: str = ""
    """What to do if the search is too small."""

    @property
    def cost(self) -> str:
        """The expected time and energy, as text."""
        energy = "" if self.kwh is None else f", {max(0.001, self.kwh):.2g} kWh"
        return f"about {duration(self.seconds)}{energy}"


def fitting(seconds: float, hours: float, cores: int, watts: float | None, method: Method) -> Plan:
    """Return the largest search that fits in `hours`, else the smallest; arguments as `plan_of`."""
    plans = [plan_of(size, seconds, cores, watts, method) for size in SIZES]
    plan = next((plan for plan in plans if plan.seconds <= 3600 * hours), plans[-1])
    (configurations, epochs, _), _, enough, *_ = plans[SENSIBLE]
    if plan.seconds >= enough:
        return plan
    least = math.ceil(120 * enough / 3600) / 100  # a fifth more: the next probe may be slower
    size = f"--hours {least:g} is enough for {configurations} configurations of {epochs} epochs"
    return plan._replace(advice=f"This search is too small to find a good model: {size}")


def plan_of(size: Size, seconds: float, cores: int, watts: float | None, method: Method) -> Plan:
    """Return a search of `size` with its cost: an epoch takes `seconds`, a busy core `watts`."""
    slots = min(cores, size.configurations)
    overhead = RUN_SECONDS * (size.seeds + 1)
    cpu, busiest = (EVALUATION * seconds * size.passes(count, method) for count in (1, slots))
    wall = overhead + busiest / (EFFICIENCY if slots > 1 else 1)
    return Plan(size, slots, wall, watts and watts * (overhead + cpu) / JOULES_PER_KWH)


def duration(seconds: float) -> str:
    """Return a time as text."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
