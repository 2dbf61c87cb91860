"""The arithmetic of Hyperband and ASHA: which trial reports when, and how many go on.

Pure numbers, no Ray: trials ask it for their rungs, tests hold Ray's schedulers against it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Bracket:
    """A group of trials that successive halving thins out together.

    `trials` start; at the end of rung i (after `rungs[i]` epochs) the best `survivors[i]`
    go on to rung i + 1. The last rung is the end.
    """

    trials: int
    rungs: list[int]
    survivors: list[int]

    @property
    def epochs(self) -> int:
        """Epochs trained by all trials of the bracket."""
        total, alive, done = 0, self.trials, 0
        for rung, left in zip(self.rungs, [*self.survivors, 0], strict=True):
            total += alive * (rung - done)
            alive, done = min(alive, left), rung
        return total


def hyperband_brackets(configurations: int, epochs: int, reduction_factor: int) -> list[Bracket]:
    """Return the brackets of Ray Tune's HyperBandScheduler for `configurations` trials.

    With s_max = round(log_eta T), bracket s = 0, 1, ..., s_max has places for
    ceil((s_max + 1)/(s + 1) * eta^s) trials, which first report after int(T/eta^s) epochs,
    then eta times later, at most T; ceil(n/eta) of n places go on (Li et al., Hyperband, in
    Ray's order: the least aggressive bracket first). Brackets repeat until all trials have a
    place; the last one may be filled in part, its halving still counts places.
    """
    eta = reduction_factor
    levels = round(math.log(epochs) / math.log(eta)) + 1
    brackets: list[Bracket] = []
    left = configurations
    level = 0
    while left > 0:
        first = int(epochs * eta**-level)
        places = math.ceil(levels / (level + 1) * eta**level)
        if first > 0:
            brackets.append(_bracket(min(left, places), places, first, level, epochs, eta))
            left -= places
        level = (level + 1) % levels
    return brackets


def _bracket(trials: int, places: int, first: int, halvings: int, epochs: int, eta: int) -> Bracket:
    rungs, survivors = [first], []
    for _ in range(halvings):
        places = math.ceil(places / eta)
        survivors.append(places)
        rungs.append(min(rungs[-1] * eta, epochs))
    return Bracket(trials, rungs, survivors)


def asha_rungs(epochs: int, reduction_factor: int, grace_period: int) -> list[int]:
    """Return ASHA's rungs r, r eta, r eta^2, ... below T, and T (Li et al., ASHA)."""
    rungs = []
    rung = grace_period
    while rung < epochs:
        rungs.append(rung)
        rung *= reduction_factor
    return [*rungs, epochs]
