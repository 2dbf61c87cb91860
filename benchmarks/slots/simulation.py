"""When tuning jobs end on some slots, by the order of events; nothing trains."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np

from automata.config.job import Job
from automata.records import Record
from automata.training.progress import WORST_SCORE
from automata.tuning.finalists import FinalSearch, best_trials
from automata.tuning.search import Search, SearchTrial, search_of

EPOCHS = 81
FRACTION = 0.01
"""Of the data, in the screens of the hedge."""
COSTS = {64: 1.0, 32: 1.8, 16: 3.3}
"""Batch size -> cost of an epoch on all data, beside that of the largest batches."""
FULL, ASHA = "FULL, Hyperband", "FULL, ASHA"
HEDGE, SERIAL = "hedge, finalists in the slots", "hedge, finalists one by one"
METHODS = FULL, ASHA, HEDGE, SERIAL
KEYS = {"horizon_exponent": [0, 0.5], "finalists": 3, "finalist_rungs": {0.1: 3, 0.3333: 2}}

Cost = Callable[[SearchTrial, int, int], float]
"""(trial, an epoch, a later one) -> the time from one to the other."""
Score = Callable[[SearchTrial, int], float]
"""(trial, epoch) -> its score there."""


def end_of(search: Search, cost: Cost, score: Score) -> float:
    """Return when the last trial of `search` ends; at one time, the earlier trial reports first."""
    now, results = 0.0, list[tuple[float, int]]()

    def start(trial: SearchTrial) -> None:
        search.start(trial.index)
        begin = trial.epoch if trial.reached else 0
        heappush(results, (now + cost(trial, begin, trial.rungs[trial.reached]), trial.index))

    while not search.finished:
        while (upcoming := search.upcoming()) is not None:
            start(upcoming)
        now, index = heappop(results)
        trial = search.trials[index]
        verdict = search.report(index, score(trial, trial.rungs[trial.reached]))
        if index in verdict.goes_on:
            start(trial)
    return now


def job_of(method: str, configurations: int, slots: int, seed: int) -> Job:
    """Return a job of one of METHODS."""
    hedge = method in (HEDGE, SERIAL)
    run = {"dataset": "dna", "search": "random", "seed": seed, "fraction": FRACTION if hedge else 1}
    run |= {"selector": "rs2" if hedge else "full"}
    run |= {"scheduler": "asha" if method == ASHA else "hyperband"}
    space = {"learning_rate": {"uniform": [0.1, 1]}, "batch_size": {"choice": [*COSTS]}}
    protocol = {"model": "mlp", "configurations": configurations, "epochs": EPOCHS}
    protocol |= {"reselect_every": EPOCHS, "search_space": space, **(KEYS if hedge else {})}
    settings = {"protocol": protocol, "compute": {"concurrent_trials": slots}}
    return Job.model_validate({"run": run, "settings": settings})


def end_of_job(method: str, job: Job, costs: dict[int, float]) -> float:
    """Return when a job of one of METHODS ends, in T; `costs` are those of epochs by batch size.

    Each trial has a random score, which stays the same.
    """
    protocol, slots = job.settings.protocol, job.settings.compute.concurrent_trials
    random = np.random.default_rng(job.run.seed)

    def end(search: Search, fraction: float, scores: list[float]) -> float:
        def cost(trial: SearchTrial, begin: int, rung: int) -> float:
            return fraction * (rung - begin) * costs[trial.configuration["batch_size"]]

        return end_of(search, cost, lambda trial, _: scores[trial.index]) / EPOCHS

    search, scores = search_of(job), random.random(protocol.trials).tolist()
    searched = end(search, job.run.fraction, scores)
    if not job.run.trains_finally:
        return searched
    finalists = _finalists(search, scores, job)
    final = FinalSearch(finalists, protocol, 1 if method == SERIAL else slots)
    return searched + end(final, 1, random.random(len(finalists)).tolist())


def _finalists(search: Search, scores: list[float], job: Job) -> list[dict[str, Any]]:
    """Return the best configurations of each screen; all differ, as in the longest training."""
    chosen: list[dict[str, Any]] = []
    protocol, size = job.settings.protocol, job.settings.protocol.configurations
    for screen in range(len(protocol.screens)):
        trials = search.trials[screen * size : (screen + 1) * size]
        ranked = sorted(trials, key=lambda trial: -scores[trial.index])
        new = [it.configuration for it in ranked if it.configuration not in chosen]
        chosen += new[: protocol.finalists]
    return chosen


def end_of_final_training(record: Record, slots: int) -> float:
    """Return the seconds of a record's final training on `slots`, by those of its epochs."""
    assert record.final is not None, "the run trains finally"
    protocol, final = record.job.settings.protocol, record.final
    finalists = best_trials(record.tuning, protocol)
    runs = {record.best.index: final.progress, **{it.trial: it.progress for it in final.lost}}
    trained = [runs[trial.index] for trial in finalists]

    def cost(trial: SearchTrial, begin: int, rung: int) -> float:
        run = trained[trial.index]  # one that is out of patience trains no further
        epochs = min(rung, run.epochs) - min(begin, run.epochs)
        return epochs * run.seconds.total / run.epochs

    def score(trial: SearchTrial, epoch: int) -> float:
        run = trained[trial.index]
        seen = [it for it in run.evaluations if it.epoch <= epoch]
        diverged = run.failure is not None and epoch >= run.epochs
        return WORST_SCORE if diverged or not seen else run.standing_at(seen[-1])

    search = FinalSearch([trial.configuration for trial in finalists], protocol, slots)
    return end_of(search, cost, score)
