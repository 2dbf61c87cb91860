"""Schedulers decide when a trial reports, and which trials go on or end. They do not use Ray.

All arithmetic of brackets and rungs is here. Tests compare ASHA with Ray's own.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from automata.config.protocol import FINALIST_RUNGS, Protocol
from automata.config.sections import SchedulerSettings
from automata.loading import load
from automata.registry import SCHEDULERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Only methods that judge import NumPy, because planning a search must work without it.

FINALISTS = 3
"""How many trials go on after the first epoch of `OneEpoch`."""


class Result(NamedTuple):
    """The score of a trial at a rung."""

    trial: int
    epoch: int
    score: float


class Verdict(NamedTuple):
    """The decision after a result; the trial that reported pauses if it is in neither list."""

    goes_on: Sequence[int] = ()
    """The trials that go on, in the order in which they train."""
    ends: Sequence[int] = ()


class Scheduler:
    """Decides which trials go on; by default a new trial may start whenever a slot is free.

    A subclass takes the number of configurations n, the epochs T, and the settings.
    """

    pauses = False
    """Whether trials may pause to wait for others."""
    most_rungs_win = False
    """Whether the best trial is the one with the most rungs; then the score breaks ties."""

    def rungs(self, trial: int) -> list[int]:
        """Return the epochs at which `trial` reports; at the last one it ends."""
        raise NotImplementedError

    def judge(self, results: Sequence[Result]) -> Verdict:
        """Return the decision after the latest of `results`."""
        raise NotImplementedError

    def proposals(self, ended: int, slots: int) -> int:
        """Return how many trials may exist in total when `ended` of them have ended."""
        return ended + slots


@dataclass(frozen=True)
class Bracket:
    """Trials that are reduced together: after `rungs[i]` epochs the best `survivors[i]` go on."""

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
    ceil((s_max + 1)/(s + 1) * eta^s) trials. They first report after int(T/eta^s) epochs, then
    after eta times as many, at most T; ceil(n/eta) of n places go on (Li et al., Hyperband, in
    Ray's order: the least aggressive bracket first). Brackets repeat until all trials have a
    place. The last bracket may have empty places; its halving counts them too.
    """
    eta = reduction_factor
    levels = round(math.log(epochs) / math.log(eta)) + 1
    brackets: list[Bracket] = []
    left, level = configurations, 0
    while left > 0:
        first = int(epochs * eta**-level)
        places = math.ceil(levels / (level + 1) * eta**level)
        if first > 0:
            brackets.append(_bracket(min(left, places), places, first, level, eta))
            left -= places
        level = (level + 1) % levels
    return brackets


def _bracket(trials: int, places: int, first: int, halvings: int, eta: int) -> Bracket:
    survivors = [-(-places // eta**level) for level in range(1, halvings + 1)]
    return Bracket(trials, [first * eta**level for level in range(halvings + 1)], survivors)


def successive_halving(configurations: int, epochs: int, reduction_factor: int) -> Bracket:
    """Return one bracket with all n trials (Jamieson and Talwalkar, 2016).

    Its rungs are those of the most aggressive bracket that Hyperband opens for n trials.
    """
    n, brackets = configurations, hyperband_brackets(configurations, epochs, reduction_factor)
    rungs = max((bracket.rungs for bracket in brackets), key=len)
    return _bracket(n, n, rungs[0], len(rungs) - 1, reduction_factor)


def rungs_below(epochs: int, shares: Mapping[float, int]) -> dict[int, int]:
    """Return how many trials stay at each rung below T = `epochs`; `shares` are rising.

    A rung is round(share T) epochs, at least 1. If two shares give one rung, the last one counts.
    """
    rungs = {max(1, round(share * epochs)): left for share, left in shares.items()}
    return {rung: left for rung, left in rungs.items() if rung < epochs}


def halving(trials: int, epochs: int, left: Mapping[int, int]) -> Bracket:
    """Return the bracket of `trials` that end at `epochs`; `left[rung]` of them stay at a rung."""
    return Bracket(trials, [*left, epochs], [min(trials, most) for most in left.values()])


def search_epochs(scheduler: str, settings: SchedulerSettings, protocol: Protocol) -> int | None:
    """Return the most epochs that all trials of a search train together, None if scores decide."""
    epochs, screens = protocol.epochs, len(protocol.screens)
    if scheduler in SCHEDULERS:
        made = load(SCHEDULERS, scheduler)(protocol.configurations, epochs, settings)
        if isinstance(made, Halving):
            return screens * sum(bracket.epochs for bracket in made.brackets)
        if len(made.rungs(0)) > 1:  # ASHA
            return None
    return protocol.trials * epochs


def final_epochs(protocol: Protocol) -> int:
    """Return how many epochs all finalists train together, if no two screens choose the same."""
    finalists = min(protocol.finalists, protocol.configurations) * len(protocol.screens)
    left = rungs_below(protocol.epochs, protocol.finalist_rungs)
    return halving(finalists, protocol.epochs, left).epochs


class Halving(Scheduler):
    """Starts one bracket after the other, and halves it when all its trials are at a rung.

    If scores are equal, the later trial goes on, as in Ray; under `most_rungs_win`, the earlier.
    """

    pauses = True

    def __init__(self, brackets: list[Bracket]) -> None:
        self.brackets = brackets
        self._ends = list(accumulate(bracket.trials for bracket in brackets))

    def rungs(self, trial: int) -> list[int]:
        """Return the rungs of the trial's bracket."""
        return self.brackets[bisect_right(self._ends, trial)].rungs

    def proposals(self, ended: int, slots: int) -> int:
        """Return the number of trials up to the end of the first unfinished bracket."""
        return next((end for end in self._ends if ended < end), self._ends[-1])

    def judge(self, results: Sequence[Result]) -> Verdict:
        """Halve the bracket of the latest result if all its trials have reported at this rung."""
        import numpy as np

        latest = results[-1]
        number = bisect_right(self._ends, latest.trial)
        bracket, end = self.brackets[number], self._ends[number]
        members = range(end - bracket.trials, end)
        here = {r.trial: r.score for r in results if r.trial in members and r.epoch == latest.epoch}
        level = bracket.rungs.index(latest.epoch)
        counts = [bracket.trials, *bracket.survivors, 0]
        if len(here) < min(bracket.trials, counts[level]):
            return Verdict()
        trials = sorted(here)
        order = self.worst_first(np.array([here[trial] for trial in trials]))
        ranked = [trials[index] for index in order]
        split = max(0, len(ranked) - counts[level + 1])
        # The trial that trained last goes on first: it need not pause.
        goes_on = sorted(ranked[split:], key=lambda trial: (trial != latest.trial, trial))
        return Verdict(goes_on, ranked[:split])

    def worst_first(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the indices that sort `scores` (..., n), one per trial, from worst to best."""
        if self.most_rungs_win:
            scores = scores[..., ::-1]
        order = scores.argsort(axis=-1, kind="stable")
        return scores.shape[-1] - 1 - order if self.most_rungs_win else order


class Hyperband(Halving):
    """Brackets of different aggressiveness, one after the other (Li et al., Hyperband).

    It waits until all trials of a bracket have reported. Ray halves earlier, and never stops trials
    that train one at a time.
    """

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        eta = settings.hyperband.reduction_factor
        super().__init__(hyperband_brackets(configurations, epochs, eta))


class SuccessiveHalving(Halving):
    """One bracket with all trials: Hyperband's, or one with the rungs of the settings."""

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        shares = settings.sha.rungs
        if shares is None:
            eta = settings.sha.reduction_factor
            bracket = successive_halving(configurations, epochs, eta)
        else:
            bracket = halving(configurations, epochs, rungs_below(epochs, shares))
            self.most_rungs_win = True
        super().__init__([bracket])


class OneEpoch(Halving):
    """The best 3, 2 and 1 trials go on after 1, T/4 and T/2 epochs (Egele et al., 2023).

    They train on all data, so no final training follows: the trial that reaches T is the result.
    """

    most_rungs_win = True

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        left = {1: FINALISTS, **rungs_below(epochs, FINALIST_RUNGS)} if epochs > 1 else {}
        super().__init__([halving(configurations, epochs, left)])


class Asha(Scheduler):
    """A trial goes on if it reaches Ray's percentile of the earlier scores at its rung.

    The rungs are r, r eta, r eta^2, ... below T, and T (Li et al., ASHA).
    """

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        asha = settings.asha
        self._rungs, rung = [], asha.grace_period
        while rung < epochs:
            self._rungs.append(rung)
            rung *= asha.reduction_factor
        self._rungs.append(epochs)
        self._percent = (1 - 1 / asha.reduction_factor) * 100

    def rungs(self, trial: int) -> list[int]:
        """Return the same rungs for every trial."""
        return self._rungs

    def judge(self, results: Sequence[Result]) -> Verdict:
        """Compare the latest result with those before it at its rung."""
        import numpy as np

        latest = results[-1]
        earlier = np.array([r.score for r in results[:-1] if r.epoch == latest.epoch])
        if latest.epoch == self._rungs[-1] or self.stops(np.array(latest.score), earlier):
            return Verdict(ends=[latest.trial])
        return Verdict(goes_on=[latest.trial])

    def stops(self, scores: NDArray[np.float64], earlier: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether `scores` (...) are below the percentile of the `earlier` ones (..., m)."""
        import numpy as np

        if earlier.shape[-1] == 0:
            return np.zeros(scores.shape, dtype=bool)
        return np.asarray(scores < np.percentile(earlier, self._percent, axis=-1))


class NoScheduler(Asha):
    """Every trial trains to T, its only rung."""

    def __init__(self, configurations: int, epochs: int, settings: SchedulerSettings) -> None:
        super().__init__(configurations, epochs, settings)
        self._rungs = [epochs]


class Screens(Scheduler):
    """One scheduler for each screen of a search, in which trial i is trial i % n of screen i // n.

    No screen sees the results of another.
    """

    def __init__(self, schedulers: Sequence[Scheduler], configurations: int) -> None:
        self._schedulers = schedulers
        self._configurations = configurations
        self.pauses = schedulers[0].pauses
        self.most_rungs_win = schedulers[0].most_rungs_win

    def rungs(self, trial: int) -> list[int]:
        """Return the rungs of the trial in its screen."""
        screen, place = divmod(trial, self._configurations)
        return self._schedulers[screen].rungs(place)

    def judge(self, results: Sequence[Result]) -> Verdict:
        """Return the decision of the screen of the latest result."""
        screen = results[-1].trial // self._configurations
        first = screen * self._configurations
        members = range(first, first + self._configurations)
        here = [r._replace(trial=r.trial - first) for r in results if r.trial in members]
        verdict = self._schedulers[screen].judge(here)
        return Verdict(*([first + trial for trial in trials] for trials in verdict))

    def proposals(self, ended: int, slots: int) -> int:
        """Return the number of trials up to those that the current screen allows."""
        screen = min(ended // self._configurations, len(self._schedulers) - 1)
        first = screen * self._configurations
        allowed = self._schedulers[screen].proposals(ended - first, slots)
        return first + min(allowed, self._configurations)
