"""Recorded searches once more, in the simulation: what comes out otherwise than Ray Tune had it."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from automata.records import Record, Trial, read_record
from automata.tuning.search import SearchTrial, search_of
from automata.tuning.searchers import random_configuration
from support.simulated import Simulation, simulate

CHUNK = 16


def replay(archives: Sequence[Path], processes: int) -> list[dict[str, object]]:
    """Return a row per search and scheduler: its records, and which of them come out otherwise."""
    with tempfile.TemporaryDirectory(prefix="automata-replay-") as name:
        folder = Path(name)
        paths = []
        for number, archive in enumerate(archives):
            shutil.unpack_archive(archive, folder / str(number))
            paths += sorted((folder / str(number)).rglob("record.json"))
        with ProcessPoolExecutor(processes) as pool:
            found = list(pool.map(_replayed, paths, chunksize=CHUNK))
    groups = defaultdict(list)
    for group, trials, differences in found:
        groups[group].append((trials, differences))
    return [
        {
            "decisions": group,
            "records": len(members),
            "trials": sum(trials for trials, _ in members),
            "otherwise": [difference for _, some in members for difference in some],
        }
        for group, members in sorted(groups.items())
    ]


def _replayed(path: Path) -> tuple[str, int, list[str]]:
    record = read_record(path)
    run = record.job.run
    group = f"{run.search}, {run.scheduler}" if run.searches else "draws without a search"
    names = f"{run.dataset} {run.selector} {run.fraction} seed {run.seed}"
    return group, len(record.tuning.trials), [f"{names}: {it}" for it in differences(record)]


def differences(record: Record) -> list[str]:
    """Return in what a simulation with the scores of `record` differs from it.

    Configurations in their order, rungs, where each trial stopped, with which status, which is
    best; of a search of one trial at a time that nothing interrupted also the order of results.
    """
    if not record.job.run.searches:
        return _of_draw(record)
    trials = record.tuning.trials
    try:
        search = search_of(record.job)
        found = simulate(search, lambda trial, epoch: _score(trials[trial.index], epoch))
    except LookupError as error:
        return [f"a trial goes on that had stopped: {error}"]
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
    yield "score", trial.score, recorded.score


def _score(trial: Trial, epoch: int) -> float:
    """Return what `trial` scored at a rung, NaN from the one on at which it had diverged.

    Raises LookupError where it never came to that rung.
    """
    progress = trial.progress
    evaluation = progress.evaluations[trial.rungs.index(epoch)]
    losses = (evaluation.loss, *progress.training_loss[: evaluation.epoch])
    lost = evaluation.epoch < epoch or not all(map(math.isfinite, losses))
    return math.nan if progress.failure is not None and lost else evaluation.accuracy


def _order(found: Simulation) -> list[tuple[int, int]]:
    return [(result.trial, result.epoch) for result in found.results]


def _recorded_order(trials: Sequence[Trial]) -> list[tuple[int, int]]:
    results = [
        (evaluation.finished_at, trial.index, rung)
        for trial in trials
        for rung, evaluation in zip(trial.rungs, trial.progress.evaluations, strict=False)
    ]
    return [(index, rung) for _, index, rung in sorted(results)]


def _of_draw(record: Record) -> list[str]:
    """Return whether the one configuration is not the first that random search proposes."""
    drawn = random_configuration(record.job)
    (trial,) = record.tuning.trials
    facts = drawn == trial.configuration, trial.status == "drawn", record.tuning.best == 0
    return [] if all(facts) else [f"another draw: {drawn} and {trial.configuration}"]
