"""What is done, running and to come, from the files alone, beside jobs that are at work.

Nothing is written and no lock is tried: a job would take that for another process. Light, as the
process that runs Snakemake asks, too: no torch, so that a line of the log is read as it is
(`tuning.log` writes it).
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from automata.config.job import Job
from automata.config.protocol import OwnModel
from automata.files import bytes_below
from automata.grid import Grid
from automata.locks import Holder, holder, process_of
from automata.records import Progress, read_record
from automata.runs import RECORD, STEM, records_below
from automata.tuning.schedulers import hyperband_brackets, one_epoch, successive_halving

RUNS, WORK = Path("results/runs"), Path("results/work")

SILENT_SECONDS = 3600.0
"""A job of another host, which cannot be asked, is taken for ended if its files are as old."""

HEADINGS = ("data set", "done", "running", "to come")


@dataclass(frozen=True)
class Running:
    """A job at work."""

    stem: str
    """The path of its run."""
    holder: Holder
    folder: Path
    """Of its unfinished work."""

    @property
    def log(self) -> Path:
        """The log of its search."""
        return self.folder / "log.jsonl"

    def line(self, now: float) -> str:
        """Return how far it is."""
        news = [
            *_news(_entries(self.log), self.holder.since, now),
            f"{_clock(now - self.holder.since)} so far",
        ]
        if self.holder.host != platform.node():
            news.append(f"on {self.holder.host}, by its files of {_clock(self._silence(now))} ago")
        return ", ".join(news)

    def lives(self, now: float) -> bool:
        """Say whether it is at work: of another host, whether its files are new."""
        if self.holder.host == platform.node():
            return process_of(self.holder) is not None
        return self._silence(now) < SILENT_SECONDS

    def _silence(self, now: float) -> float:
        """Return how long ago the job changed a file; its checkpoints change their folders."""
        changed = [self.holder.since]
        with suppress(OSError):  # the job ends
            changed += [path.stat().st_mtime for path in (self.folder, *self.folder.iterdir())]
        return now - max(changed)


def running(work: Path = WORK) -> list[Running]:
    """Return the jobs at work, by the folders of their unfinished work."""
    now = time.time()
    locks = work.glob("/".join("*" * (STEM.count("/") + 1)) + "/lock")
    jobs = [
        Running(lock.parent.relative_to(work).as_posix(), who, lock.parent)
        for lock in sorted(locks)
        if (who := holder(lock)) is not None
    ]
    return [job for job in jobs if job.lives(now)]


def report(grid: Grid, runs: Path = RUNS, work: Path = WORK) -> str:
    """Return how many runs of an experiment are done, running and to come, and each that runs."""
    now, jobs = time.time(), running(work)
    at_work, own = {job.stem for job in jobs}, {place.stem for place in grid.runs}
    states: dict[str, Counter[str]] = {name: Counter() for name in grid.datasets}
    for place in grid.runs:
        done = "done" if (runs / place.stem / RECORD).exists() else "to come"
        states[place.dataset]["running" if place.stem in at_work else done] += 1
    rows = [HEADINGS, *((name, *(str(n[h]) for h in HEADINGS[1:])) for name, n in states.items())]
    lines = _aligned(rows)
    for job in jobs:
        other = "" if job.stem in own else " (of another configuration)"
        lines.append(f"{job.stem}{other}: {job.line(now)}")
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
    protocol = job.settings.protocol
    searched = not job.run.searches or entries[-1]["kind"] == "closed"
    if reported and not searched:
        epoch = latest[reported[-1]["index"]].epochs
        yield f"trial {len(latest)} of {protocol.configurations}"
        yield f"epoch {epoch} of {protocol.epochs}"
    elif searched:
        yield "final training" if job.run.trains_finally else "test"
    else:
        yield "first trial" if len(entries) > 1 else "starting"
    if latest:
        best = max(trial.score for trial in latest.values())
        if protocol.metric == "log_loss":  # its score is exp(-loss), 0 after a divergence
            yield f"best log loss {-math.log(best):.3f}" if best else "all trials diverged"
        else:
            yield f"best score {100 * best:.1f} %"
        left, at = _seconds_left(job, entries, list(latest.values()), searched)
        if at is not None:
            passed = now - at if at > since else 0.0  # it was interrupted, and trains not yet
            yield f"about {_clock(max(0.0, left - passed))} left"


def _seconds_left(
    job: Job, entries: list[dict[str, Any]], trials: list[Progress], searched: bool
) -> tuple[float, float | None]:
    """Return about how many seconds a job took from a time on, and that time, None if unknown.

    Trials to come are taken to cost what those so far do by the epoch, under ASHA also to train as
    many of them. The final training costs what they do by the sample.
    """
    spent, at = _searched_at(entries)
    epochs = sum(trial.epochs for trial in trials)
    if not epochs:  # all diverged in their first
        return 0.0, None
    left = 0.0 if searched else spent / epochs * (_epochs(job, trials) - epochs)
    if job.run.trains_finally:
        samples = sum(trial.samples for trial in trials)
        rows = max(trial.subset_samples for trial in trials) / job.run.fraction
        training = sum(trial.seconds.training for trial in trials)
        left += training / samples * rows * job.settings.protocol.epochs
    return left, at


def _epochs(job: Job, trials: list[Progress]) -> float:
    """Return how many epochs all trials of a search train."""
    scheduler, settings = job.run.scheduler, job.settings.scheduler
    asked = job.settings.protocol.configurations, job.settings.protocol.epochs
    if scheduler == "hyperband":
        brackets = hyperband_brackets(*asked, settings.hyperband.reduction_factor)
        return sum(bracket.epochs for bracket in brackets)
    if scheduler == "sha":
        return successive_halving(*asked, settings.sha.reduction_factor).epochs
    if scheduler == "one-epoch":
        return one_epoch(*asked).epochs
    each = sum(trial.epochs for trial in trials) / len(trials)
    return asked[0] * (each if scheduler == "asha" else asked[1])


def _searched_at(entries: list[dict[str, Any]]) -> tuple[float, float | None]:
    """Return the seconds that a search took up to its latest measurement, and when that was."""
    before, current, at = 0.0, 0.0, None
    for entry in entries:
        if entry["kind"] == "opened":
            before, current = before + current, 0.0
        if measured := entry.get("measurement"):
            current = measured["wall_seconds"]
            at = measured["started_at"] + current
    return before + current, at


def _entries(log: Path) -> list[dict[str, Any]]:
    """Return the entries of a log before the first line that is not whole: it may be at work."""
    try:
        lines = log.read_bytes().split(b"\n")
    except OSError:
        return []
    entries = []
    for line in lines:
        digest, _, body = line.partition(b" ")
        if not digest or not hashlib.sha256(body).hexdigest().encode().startswith(digest):
            break
        entries.append(json.loads(body))
    return entries


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))
