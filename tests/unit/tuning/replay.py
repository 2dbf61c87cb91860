"""Replays recorded searches without Ray, and lists the differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from automata.records.record import Record, Trial
from automata.search.search import SearchTrial, search_of
from support.simulated import Simulation, simulate


def differences(record: Record) -> list[str]:
    """Return the differences between `record` and a simulation with its scores.

    Configurations in their order, rungs, where each trial stopped, with which status, which is
    best; of a search of one trial at a time that nothing interrupted also the order of results.
    """
    trials = record.tuning.trials
    try:
        search = search_of(record.job)
        found = simulate(search, lambda trial, epoch: _score(trials[trial.index], epoch))
    except LookupError as error:
        return [f"a stopped trial goes on: {error}"]
    different = [
        f"trial {trial.index}: {what} {ours} and {theirs}"
        for trial, recorded in zip(found.trials, trials, strict=True)
        for what, ours, theirs in _facts(trial, found.status(trial), recorded)
        if ours != theirs
    ]
    if found.best != record.tuning.best:
        different.append(f"best {found.best} and {record.tuning.best}")
    alone = record.job.settings.compute.concurrent_trials == 1
    if alone and not record.resumed and _order(found) != _recorded_order(trials):
        different.append("results in another order")
    return different


def _facts(
    trial: SearchTrial, status: str, recorded: Trial
) -> Iterator[tuple[str, object, object]]:
    configurations = trial.configuration, recorded.configuration
    yield "configuration", *(list(configuration.items()) for configuration in configurations)
    yield "rungs", trial.rungs, recorded.rungs
    yield "results", trial.reached, len(recorded.progress.evaluations)
    yield "status", status, recorded.status
    yield "score", trial.score, recorded.progress.standing


def _score(trial: Trial, epoch: int) -> float:
    """Return the score of `trial` at a rung; NaN once it had diverged.

    Raises LookupError if it did not reach that rung.
    """
    progress = trial.progress
    evaluation = progress.evaluations[trial.rungs.index(epoch)]
    losses = (evaluation.loss, *progress.training_loss[: evaluation.epoch])
    lost = evaluation.epoch < epoch or not all(map(math.isfinite, losses))
    failed = progress.failure is not None and lost
    return math.nan if failed else progress.standing_at(evaluation)


def _order(found: Simulation) -> list[tuple[int, int]]:
    return [(result.trial, result.epoch) for result in found.results]


def _recorded_order(trials: Sequence[Trial]) -> list[tuple[int, int]]:
    results = [
        (evaluation.finished_at, trial.index, rung)
        for trial in trials
        for rung, evaluation in zip(trial.rungs, trial.progress.evaluations, strict=False)
    ]
    return [(index, rung) for _, index, rung in sorted(results)]
