"""`automata status`: the state of runs, from their files alone.

This module writes nothing and takes no lock: a starting job would wait for it. It parses the logs
of `tuning.log` itself, because that module imports torch, which takes seconds.
"""

from __future__ import annotations

import json
import math
import platform
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from automata.config.job import Job
from automata.errors import UserError
from automata.grid import Grid
from automata.locks import holder
from automata.records import read_record
from automata.runs import DEPTH, RECORD
from automata.training.progress import Progress
from automata.tuning.schedulers import final_epochs, search_epochs

RUNS, WORK = Path("results/runs"), Path("results/work")

BELOW = "*/" * (DEPTH - 1)
"""Pattern of the folders of runs, below RUNS or WORK."""

SILENT_SECONDS = 3600.0
"""A job on another host counts as ended if its files are older: its process is not visible."""

STATES = ("done", "running", "pending")


def running(work: Path = WORK) -> Iterator[tuple[str, str]]:
    """Yield the path and the progress of each running run."""
    now = time.time()
    for lock in sorted(work.glob(f"{BELOW}lock")):
        folder, who = lock.parent, holder(lock)
        if who is None:
            continue
        progress = [*_progress(_entries(folder / "log.jsonl"), who.since, now)]
        progress.append(f"{_clock(now - who.since)} so far")
        if who.host != platform.node():
            try:  # writing checkpoints changes the folders
                changed = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
            except OSError:  # the job has ended and removes its files
                continue
            silence = now - max(who.since, *changed)
            if silence >= SILENT_SECONDS:
                continue
            progress.append(f"on {who.host}, by its files of {_clock(silence)} ago")
        yield folder.relative_to(work).as_posix(), ", ".join(progress)


def report(grid: Grid, runs: Path = RUNS, work: Path = WORK) -> str:
    """Return the numbers of runs by data set and state, and a line for each running job."""
    jobs, stems = dict(running(work)), {place.stem for place in grid.runs}
    counts: dict[str, Counter[str]] = {name: Counter() for name in grid.datasets}
    for place in grid.runs:
        state = "done" if (runs / place.stem / RECORD).exists() else "pending"
        counts[place.dataset]["running" if place.stem in jobs else state] += 1
    rows = [(name, *(str(count[state]) for state in STATES)) for name, count in counts.items()]
    table = [("data set", *STATES), *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]
    for stem, progress in jobs.items():
        lines.append(f"{stem}{'' if stem in stems else ' (of another configuration)'}: {progress}")
    return "".join(f"{line}\n" for line in lines)


def unused(grid: Grid, runs: Path = RUNS) -> list[str]:
    """Return a line about finished runs of which pending ones do not continue the search."""
    axes = partial(re.sub, "-[0-9a-f]{8}(?=/)", "")  # a path without fingerprints
    places = {axes(it.stem): it for it in grid.runs if not (runs / it.stem / RECORD).exists()}
    size: Any = {"run": True, "settings": {"protocol": {"configurations"}}}
    count = 0
    for path in runs.glob(f"{BELOW}{RECORD}") if places else ():
        if place := places.get(axes(path.parent.relative_to(runs).as_posix())):
            with suppress(UserError):  # a damaged record is not finished
                old, new = read_record(path).job, grid.job(*place[:3], place.selector)
                few, many = (it.settings.protocol.configurations for it in (old, new))
                alike = old.model_dump(exclude=size) == new.model_dump(exclude=size)
                count += not (alike and few < many and len(new.settings.protocol.screens) == 1)
    text = f"finished runs of other settings or files, which are kept but not used: {count}"
    return [text] if count else []


def _progress(entries: list[dict[str, Any]], since: float, now: float) -> Iterator[str]:
    """Yield the progress of a job that began at `since`, and the time left, from its log."""
    try:
        job = Job.model_validate(entries[0]["job"])
        reported = [entry for entry in entries if entry["kind"] == "reported"]
        latest = {entry["index"]: Progress.model_validate(entry["progress"]) for entry in reported}
    except (IndexError, KeyError, ValidationError):  # no log yet, or one of another version
        yield "starting, or waiting for its turn"
        return
    protocol, trials = job.settings.protocol, [*latest.values()]
    searched = not job.run.searches or entries[-1]["kind"] == "ended"
    if searched:
        yield "final training" if job.run.trains_finally else "test"
    elif reported:
        epoch = latest[reported[-1]["index"]].epochs
        yield f"trial {len(latest)} of {protocol.trials}"
        yield f"epoch {epoch} of {protocol.epochs}"
    else:
        yield "first trial" if len(entries) > 1 else "starting"
    if trials:
        best = max(trial.score for trial in trials)
        if trials[0].metric == "log_loss":  # its score is exp(-loss), 0 after a divergence
            yield f"best log loss {-math.log(best):.3f}" if best else "all trials diverged"
        else:
            yield f"best score {100 * best:.1f} %"
    if sum(trial.epochs for trial in trials):  # 0 if all diverged in their first epoch
        # The last measurement of a segment, which ends at an interruption, has its duration.
        measured = [entry["measurement"] for entry in entries if entry.get("measurement")]
        segments = {each["started_at"]: each["wall_seconds"] for each in measured}
        start, seconds = [*segments.items()][-1]
        left = _seconds_left(job, sum(segments.values()), trials, searched)
        if start + seconds > since:  # otherwise this process has trained nothing yet
            left -= now - start - seconds
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
        left += training / samples * rows * final_epochs(protocol)
    return left


def _entries(log: Path) -> list[dict[str, Any]]:
    """Return the complete entries of a log; none if it is missing or damaged."""
    try:
        lines = log.read_bytes().split(b"\n")[:-1]  # the last line may be incomplete
        return [json.loads(line.partition(b" ")[2]) for line in lines]  # after a checksum
    except (OSError, ValueError):
        return []


def _clock(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
