"""What is done, running and to come, from the files alone, beside jobs that are at work.

Nothing is written and no lock is tried: a job would take that for another process. Torch, which
takes seconds, is not imported: a line of a job's log is read as it is (`tuning.log` writes it).
"""

from __future__ import annotations

import json
import math
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from automata.config.job import Job
from automata.config.protocol import OwnModel
from automata.files import bytes_below
from automata.grid import Grid
from automata.locks import holder
from automata.records import read_record
from automata.runs import RECORD, STEM, records_below
from automata.training.progress import Progress
from automata.tuning.schedulers import search_epochs

RUNS, WORK = Path("results/runs"), Path("results/work")

SILENT_SECONDS = 3600.0
"""A job of another host, which cannot be asked, is taken for ended if its files are as old."""

HEADINGS = ("data set", "done", "running", "to come")


def running(work: Path = WORK) -> Iterator[tuple[str, str]]:
    """Yield the path of each run that a job is at work on, and how far it is."""
    now = time.time()
    for lock in sorted(work.glob("/".join("*" * (STEM.count("/") + 1)) + "/lock")):
        folder, who = lock.parent, holder(lock)
        if who is None:
            continue
        news = [*_news(_entries(folder / "log.jsonl"), who.since, now)]
        news.append(f"{_clock(now - who.since)} so far")
        if who.host != platform.node():
            try:  # checkpoints change their folders
                changed = [path.stat().st_mtime for path in (folder, *folder.iterdir())]
            except OSError:  # the job ends
                continue
            silence = now - max(who.since, *changed)
            if silence >= SILENT_SECONDS:
                continue
            news.append(f"on {who.host}, by its files of {_clock(silence)} ago")
        yield folder.relative_to(work).as_posix(), ", ".join(news)


def report(grid: Grid, runs: Path = RUNS, work: Path = WORK) -> str:
    """Return how many runs of an experiment are done, running and to come, and each that runs."""
    jobs, own = dict(running(work)), {place.stem for place in grid.runs}
    states: dict[str, Counter[str]] = {name: Counter() for name in grid.datasets}
    for place in grid.runs:
        done = "done" if (runs / place.stem / RECORD).exists() else "to come"
        states[place.dataset]["running" if place.stem in jobs else done] += 1
    rows = [HEADINGS, *((name, *(str(n[h]) for h in HEADINGS[1:])) for name, n in states.items())]
    lines = _aligned(rows)
    for stem, news in jobs.items():
        lines.append(f"{stem}{'' if stem in own else ' (of another configuration)'}: {news}")
    return "".join(f"{line}\n" for line in lines)


def inventory(runs: Path = RUNS) -> str:
    """Return a table of the runs on disk by data set, search, scheduler and protocol."""
    rows = [("panel", "runs", "MB", "protocol")]
    for folder, found in groupby(records_below(runs), lambda path: path.parents[2]):
        records = list(found)
        protocol = read_record(records[0]).job.settings.protocol
        model = protocol.model.factory if isinstance(protocol.model, OwnModel) else protocol.model
        brief = (
            f"{model}, {protocol.configurations} configurations, {protocol.epochs} epochs, "
            f"selection every {protocol.reselect_every}"
        )
        size = f"{bytes_below(folder) / 1e6:.1f}"
        rows.append(("/".join(folder.parts[-2:]), str(len(records)), size, brief))
    return "".join(f"{line}\n" for line in _aligned(rows))


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _news(entries: list[dict[str, Any]], since: float, now: float) -> Iterator[str]:
    """Yield how far a job, at work `since` then, is by its log's `entries`, and what is left."""
    try:
        job = Job.model_validate(entries[0]["job"])
        reported = [entry for entry in entries if entry["kind"] == "reported"]
        latest = {entry["index"]: Progress.model_validate(entry["progress"]) for entry in reported}
    except (IndexError, KeyError, ValidationError):  # no log yet, or of another version
        yield "starting, or waiting for its turn"
        return
    protocol, trials = job.settings.protocol, [*latest.values()]
    searched = not job.run.searches or entries[-1]["kind"] == "closed"
    if searched:
        yield "final training" if job.run.trains_finally else "test"
    elif reported:
        epoch = latest[reported[-1]["index"]].epochs
        yield f"trial {len(latest)} of {protocol.configurations}"
        yield f"epoch {epoch} of {protocol.epochs}"
    else:
        yield "first trial" if len(entries) > 1 else "starting"
    if trials:
        best = max(trial.score for trial in trials)
        if protocol.metric == "log_loss":  # its score is exp(-loss), 0 after a divergence
            yield f"best log loss {-math.log(best):.3f}" if best else "all trials diverged"
        else:
            yield f"best score {100 * best:.1f} %"
    if sum(trial.epochs for trial in trials):  # else all diverged in their first
        # What each segment of the search took up to its latest measurement, by its start.
        measured = [it for entry in entries if (it := entry.get("measurement"))]
        took = {it["started_at"]: it["wall_seconds"] for it in measured}
        start, seconds = [*took.items()][-1]
        left = _seconds_left(job, sum(took.values()), trials, searched)
        if start + seconds > since:  # else it was interrupted, and trains not yet
            left -= now - start - seconds
        yield f"about {_clock(max(0.0, left))} left"


def _seconds_left(job: Job, spent: float, trials: list[Progress], searched: bool) -> float:
    """Return about how many seconds a job takes after a search that took so many.

    Trials to come are taken to cost what those so far do by the epoch, under ASHA also to train as
    many of them. The final training costs what they do by the sample.
    """
    epochs, protocol = sum(trial.epochs for trial in trials), job.settings.protocol
    asked = protocol.configurations, protocol.epochs
    planned = search_epochs(job.run.scheduler, job.settings.scheduler, *asked)
    whole = asked[0] * epochs / len(trials) if planned is None else planned
    left = 0.0 if searched else spent / epochs * (whole - epochs)
    if job.run.trains_finally:
        samples = sum(trial.samples for trial in trials)
        rows = max(trial.subset_samples for trial in trials) / job.run.fraction
        training = sum(trial.seconds.training for trial in trials)
        left += training / samples * rows * protocol.epochs
    return left


def _entries(log: Path) -> list[dict[str, Any]]:
    """Return the entries of a log, without a last line that is being written."""
    try:
        lines = log.read_bytes().split(b"\n")[:-1]
        return [json.loads(line.partition(b" ")[2]) for line in lines]  # behind its checksum
    except (OSError, ValueError):  # none yet, or damaged: the job starts it anew
        return []


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
