"""The finalists of a search, and the search for the best of them on all data."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, groupby
from typing import Any

from automata.config.protocol import Protocol
from automata.records.record import Trial, Tuning
from automata.search.schedulers import Halving, halving, rungs_below
from automata.search.search import Search, SearchTrial


def best_trials(tuning: Tuning, protocol: Protocol) -> list[Trial]:
    """Return the finalists: the best trials of the first screen, then the new ones of the next.

    A screen has the best `protocol.finalists` by last score, or fewer: diverged trials and repeated
    configurations do not count. The earlier trial wins a tie.
    """

    def screen(trial: Trial) -> int:
        return trial.index // protocol.configurations

    trials = [trial for trial in tuning.trials if trial.status != "failed"]
    # For a scheduler of the user, the best trial may have a lower score than others.
    trials.sort(
        key=lambda it: (screen(it), it.index != tuning.best, -it.progress.standing, it.index)
    )
    screens = [_different(ranked)[: protocol.finalists] for _, ranked in groupby(trials, screen)]
    return _different(chain.from_iterable(screens))


def _different(trials: Iterable[Trial]) -> list[Trial]:
    """Return the first trial of each configuration."""
    firsts: dict[str, Trial] = {}
    for trial in trials:
        firsts.setdefault(json.dumps(trial.configuration, sort_keys=True), trial)
    return [*firsts.values()]


class FinalSearch(Search):
    """A search over the configurations of the finalists, which are its trials, on all data.

    At each of `finalist_rungs` those with the best validation scores go on; one trains to T.
    """

    def __init__(
        self, configurations: list[dict[str, Any]], protocol: Protocol, slots: int
    ) -> None:
        alive = count = len(configurations)
        choices = {}
        for rung, left in rungs_below(protocol.epochs, protocol.finalist_rungs).items():
            if alive > 1:
                choices[rung] = left
                alive = min(alive, left)
        scheduler = Halving([halving(count, protocol.epochs, choices)])
        scheduler.most_rungs_win = True
        super().__init__(None, scheduler, count, slots, initial=configurations)
        self.compared = len(choices) + (alive > 1)
        """At how many rungs there is a choice: a finalist that is alone needs no validation."""

    def rank(self, trial: SearchTrial) -> tuple[float, ...]:
        """Return the key of the best trial: it trains to T, even if it diverges on the way."""
        return trial.reached, trial.score, -trial.index
