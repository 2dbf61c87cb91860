"""`automata status`: the state of runs, from their files alone.

This module writes nothing and takes no lock: a starting job would wait for it. It imports no torch,
which would take seconds.
"""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from automata.config.job import Job
from automata.experiment.grid import Grid
from automata.locks import holder
from automata.metrics import METRICS
from automata.records.paths import DEPTH, RECORD
from automata.records.progress import Progress
from automata.search.schedulers import final_epochs, search_epochs
from automata.tuning.log import (
    Entry,
    LogHeader,
    PhaseEnded,
    PhaseStarted,
    TrialReported,
    TrialSaved,
    latest_of,
    read_log,
    segments_of,
)
from automata.tuning.work import WorkFolder

RUNS, WORK = Path("results/runs"), Path("results/work")

SILENT_SECONDS = 3600.0
"""A job on another host counts as ended if its files are older: its process is not visible."""

STATES = ("done", "running", "interrupted", "pending")


def running(work: Path = WORK) -> Iterator[tuple[str, str]]:
    """Yield the path and the progress of each running run."""
    now = time.time()
    for lock in sorted(work.glob("*/" * (DEPTH - 1) + "lock")):
        folder, who = lock.parent, holder(lock)
        if who is None:
            continue
        try:
            progress = [progress_of(folder, who.since, now)]
        except OSError:  # of another account, or the job has ended and removes its files
            continue
        if who.host != platform.node():
            paths = folder, *folder.glob("*"), *folder.glob("*/*")  # not the checkpoints in these
            try:
                changed = [path.stat().st_mtime for path in paths]
            except OSError:  # the job has ended and removes its files
                continue
            silence = now - max(who.since, *changed)
            if silence >= SILENT_SECONDS:
                continue
            progress.append(f"on {who.host}, by its files of {_clock(silence)} ago")
        yield folder.relative_to(work).as_posix(), ", ".join(progress)


def progress_of(folder: Path, since: float, now: float) -> str:
    """Return how far the job in a work folder is that began at `since`; raises OSError."""
    files = WorkFolder(folder)
    parts = _progress(read_log(files.search.log), read_log(files.final.log), since, now)
    return ", ".join([*parts, f"{_clock(now - since)} so far"])


def report(grid: Grid, runs: Path = RUNS, work: Path = WORK) -> str:
    """Return the numbers of runs by data set and state, and a line for each running job."""
    jobs, stems = dict(running(work)), {place.stem for place in grid.runs}
    counts: dict[str, Counter[str]] = {name: Counter() for name in grid.datasets}
    for place in grid.runs:
        if place.stem in jobs:
            state = "running"
        elif (runs / place.stem / RECORD).exists():
            state = "done"
        elif WorkFolder(work / place.stem).search.log.exists():
            state = "interrupted"
        else:
            state = "pending"
        counts[place.dataset][state] += 1
    rows = [(name, *(str(count[state]) for state in STATES)) for name, count in counts.items()]
    table = [("data set", *STATES), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
    for stem, progress in jobs.items():
        lines.append(f"{stem}{'' if stem in stems else ' (of another configuration)'}: {progress}")
    return "".join(f"{line}\n" for line in lines)


def _progress(search: list[Entry], final: list[Entry], since: float, now: float) -> Iterator[str]:
    """Yield the progress of a job that began at `since`, and the time left, from its logs."""
    if not search or not isinstance(header := search[0], LogHeader):  # or of another version
        yield "starting, or waiting for its turn"
        return
    job, latest = header.job, latest_of(search)
    protocol, trials = job.settings.protocol, [*latest.values()]
    searched = not job.run.searches or isinstance(search[-1], PhaseEnded)
    if searched:
        training = job.run.trains_finally and not any(isinstance(it, PhaseEnded) for it in final)
        yield "final training" if training else "test"
        done = [it.epoch for it in final if isinstance(it, TrialReported | TrialSaved)]
        if training and done:
            yield f"epoch {done[-1]} of {protocol.epochs}"
    elif trials:
        reported = [entry.index for entry in search if isinstance(entry, TrialReported)]
        yield f"trial {len(latest)} of {protocol.trials}"
        yield f"epoch {latest[reported[-1]].epochs} of {protocol.epochs}"
    else:
        yield "first trial" if isinstance(search[-1], PhaseStarted) else "starting"
    if trials:
        best = max(trial.score for trial in trials)
        metric = METRICS[trials[0].metric]
        if any(trial.failure is None for trial in trials):
            value = metric.from_score(best)
            shown = f"{100 * value:.1f} %" if metric.is_share else f"{value:.3f}"
            yield f"best {metric.words} {shown}"
        else:
            yield "all trials diverged"
    if sum(trial.epochs for trial in trials):  # 0 if all diverged in their first epoch
        # The last measurement of a segment, which ends at an interruption, has its duration.
        windows = [it.measurement for it in segments_of(search)]
        finals = [it.measurement for it in segments_of(final)]
        spent = sum(window.wall_seconds for window in windows)
        left = _seconds_left(job, spent, trials, searched)
        left -= sum(window.wall_seconds for window in finals)
        last = (windows + finals)[-1]
        measured_until = last.started_at + last.wall_seconds
        if measured_until > since:  # otherwise this process has trained nothing yet
            left -= now - measured_until
        yield f"about {_clock(max(0.0, left))} left"


def _seconds_left(job: Job, spent: float, trials: list[Progress], searched: bool) -> float:
    """Estimate the seconds that a job still needs after a search of `spent` seconds.

    Epochs and samples take their mean time so far; ASHA's later trials train like earlier ones.
    """
    epochs, protocol = sum(trial.epochs for trial in trials), job.settings.protocol
    planned = search_epochs(job.run.scheduler, job.settings.scheduler, protocol)
    total = protocol.trials * epochs / len(trials) if planned is None else planned  # ASHA
    left = 0.0 if searched else spent / epochs * (total - epochs)
    if job.run.trains_finally:
        samples = sum(trial.samples for trial in trials)
        rows = max(trial.subset_samples for trial in trials) / job.run.fraction
        training = sum(trial.seconds.training for trial in trials)
        # Finalists train at once, but no finalist trains faster for it.
        slots = job.settings.compute.concurrent_trials
        passes = max(protocol.epochs, final_epochs(protocol) / slots)
        left += training / samples * rows * passes
    return left


def _clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
