"""The log of a phase: each result is appended, with the measurement so far, before it is judged.

After a `kill -9` the next process judges the results of the log in a new search (`search.Search`).
"""

from __future__ import annotations

import hashlib
import logging
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from automata.config.job import Job
from automata.errors import UserError
from automata.files import replacing
from automata.records.base import Recorded
from automata.records.measurement import Measurement
from automata.records.paths import DEPTH
from automata.records.progress import Progress
from automata.records.record import Record, Segment, read_record
from automata.search.schedulers import Verdict
from automata.search.search import Search, search_of
from automata.tuning.work import PhaseFolder

logger = logging.getLogger(__name__)

DIGITS = 16
"""Hexadecimal digits of a line's checksum."""

SHARED = ("automata", "measurement", "packages", "cpu", "cpu_count", "gpus", "device")
"""The parts of the provenance that all segments of a record share; hosts may differ."""


class LogHeader(Recorded):
    """The first line: all that the phase depends on. Under another header it starts over."""

    kind: Literal["header"] = "header"
    job: Job
    data_sha256: str
    environment: dict[str, Any]
    finalists: list[dict[str, Any]] = []
    """The configurations of the final training."""


def header_of(
    job: Job, data_sha256: str, provenance: dict[str, Any], ray_address: str | None
) -> LogHeader:
    """Return the header of the log of a search."""
    environment = {name: provenance.get(name) for name in (*SHARED, "own_model_sha256")}
    environment["ray.address"] = ray_address
    return LogHeader(job=job, data_sha256=data_sha256, environment=environment)


class PhaseStarted(Recorded):
    """A process opened its window; the lines up to the next such entry are one segment."""

    kind: Literal["started"] = "started"
    host: str
    setup_seconds: float
    provenance: dict[str, Any]


class TrialReported(Recorded):
    """A trial reached a rung."""

    kind: Literal["reported"] = "reported"
    index: int
    configuration: dict[str, Any]
    rung: int
    """How many rungs it has reached."""
    progress: Progress
    measurement: Measurement | None
    """Of the segment up to here; None if the last one is recent (`MEASUREMENT_SECONDS`)."""

    @property
    def epoch(self) -> int:
        """The epoch that the trial has reached."""
        return self.progress.epochs


class TrialSaved(Recorded):
    """A trial has a checkpoint between two rungs; without this entry, a restart discards it."""

    kind: Literal["saved"] = "saved"
    index: int
    epoch: int
    measurement: Measurement


class PhaseEnded(Recorded):
    """All trials have ended; the last line."""

    kind: Literal["ended"] = "ended"
    measurement: Measurement


Entry = LogHeader | PhaseStarted | TrialReported | TrialSaved | PhaseEnded

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


def read_log(path: Path) -> list[Entry]:
    """Return the entries of a log before its first damaged or incomplete line."""
    entries: list[Entry] = []
    *lines, _ = path.read_bytes().split(b"\n") if path.exists() else [b""]
    for line in lines:
        content = line.partition(b" ")[2]
        if line + b"\n" != _checked(content):
            break
        try:
            entries.append(_ENTRY.validate_json(content))
        except ValidationError:  # another version wrote it
            break
    return entries


def latest_of(entries: Iterable[Entry]) -> dict[int, Progress]:
    """Return the latest progress of each trial that has reported."""
    return {entry.index: entry.progress for entry in entries if isinstance(entry, TrialReported)}


def segments_of(entries: Iterable[Entry]) -> list[Segment]:
    """Return the segments, each with its latest measurement; one without any is left out."""
    segments: dict[int, Segment] = {}
    for place, entry in enumerate(entries):
        if isinstance(entry, PhaseStarted):
            start, started = place, entry
        elif not isinstance(entry, LogHeader) and entry.measurement is not None:
            segments[start] = Segment(
                host=started.host,
                setup_seconds=started.setup_seconds,
                measurement=entry.measurement,
            )
    return [*segments.values()]


class SearchLog:
    """A file with one entry per line, after a checksum of it.

    A killed process loses no entry, because each reaches the kernel at once. A power cut may.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one, and cut it off before the first damaged line."""
        self.entries = read_log(path)
        self._path = path
        content = path.read_bytes() if path.exists() else b""
        if content.rpartition(b"\n")[2] or content.count(b"\n") > len(self.entries):
            self.cut(len(self.entries), "the next line is damaged, or another version wrote it")

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(_line(entry))
        self.entries.append(entry)

    def replay(self, search: Search) -> None:
        """Judge the results in a new `search`; cut off at the first one that it did not ask for."""
        count = replay(self.entries, search)
        if count < len(self.entries):
            self.cut(count, "this search did not ask for the next result")

    def cut(self, count: int, reason: str) -> None:
        """Keep the first `count` entries; log the `reason`."""
        logger.warning("%s: cut off after line %d: %s", self._path, count, reason)
        del self.entries[count:]
        with replacing(self._path) as temporary:
            temporary.write_bytes(b"".join(map(_line, self.entries)))


def _line(entry: Entry) -> bytes:
    return _checked(entry.model_dump_json().encode())


def _checked(content: bytes) -> bytes:
    """Return a line: the checksum of `content`, `content`, and a line break."""
    return f"{hashlib.sha256(content).hexdigest()[:DIGITS]} ".encode() + content + b"\n"


def load_log(folder: PhaseFolder, header: LogHeader) -> SearchLog:
    """Return the log of the phase with this `header`; discard any other work in its folder."""
    log = SearchLog(folder.log)
    if log.entries[:1] != [header]:
        if folder.clear():
            logger.info("%s: discarded unfinished work of another job or version", folder.path)
        log = SearchLog(folder.log)
        log.append(header)
    return log


def discard_unlogged(folder: PhaseFolder, entries: Iterable[Entry]) -> None:
    """Remove checkpoints ahead of a log: no measurement in it has their work."""
    reached = TrialReported | TrialSaved
    logged = {entry.index: entry.epoch for entry in entries if isinstance(entry, reached)}
    for trial, epoch, path in folder.checkpoints():
        if epoch > logged.get(trial, 0):
            path.unlink()


def judge(result: TrialReported, search: Search) -> Verdict | None:
    """Report `result` to `search` and return the verdict; None if the search did not ask for it."""
    if not search.expects(result.index, result.configuration, result.rung):
        return None
    return search.report(result.index, result.progress.standing)


def replay(entries: Iterable[Entry], search: Search) -> int:
    """Judge the results of `entries` in a new `search`; return how many entries fit it."""
    count = 0
    for entry in entries:
        if isinstance(entry, TrialReported) and judge(entry, search) is None:
            break
        count += 1
    return count


def extend(log: SearchLog, header: LogHeader, output: Path) -> None:
    """Begin an empty log with the results of the largest finished search that this one extends.

    It stops at the first result that the new search would not ask for. It takes all results of a
    trial or none, because a record has only a trial's last progress.
    """
    records = {it.job.settings.protocol.configurations: it for it in _finished(header, output)}
    if not records:
        return
    logger.info("%s: extends a finished search of %d configurations", output, max(records))
    entries = [*_entries(records[max(records)])]
    trials = [getattr(entry, "index", None) for entry in entries]
    counts = range(replay(entries, search_of(header.job)), 0, -1)
    count = next(count for count in counts if {*trials[:count]} & {*trials[count:]} <= {None})
    for entry in entries[:count]:
        log.append(entry)


def _finished(header: LogHeader, output: Path) -> Iterator[Record]:
    """Yield the undamaged records beside `output` of this search with fewer configurations.

    There are none with screens: the numbers of their trials depend on the size of the search.
    """
    settings = header.job.settings.protocol
    if len(output.parts) < DEPTH or len(settings.screens) > 1:
        return
    protocol = output.parents[2]
    method, _, _ = protocol.name.rpartition("-")
    size: Any = {"job": {"settings": {"protocol": {"configurations"}}}}
    for path in protocol.parent.glob(f"{method}-*/{output.relative_to(protocol)}"):
        with suppress(UserError):
            record = read_record(path)
            job = record.job
            address = (record.tuning.cluster or {}).get("address")
            other = header_of(job, record.data.sha256, record.provenance, address)
            same = other.model_dump(exclude=size) == header.model_dump(exclude=size)
            if same and job.settings.protocol.configurations < settings.configurations:
                yield record


def _entries(record: Record) -> Iterator[PhaseStarted | TrialReported]:
    """Yield the results of a finished search in order, each with the measurement of its segment."""
    tuning = record.tuning
    starts = [segment.measurement.started_at for segment in tuning.segments]
    results = sorted(
        (evaluation.finished_at, trial.index, rung)
        for trial in tuning.trials
        for rung, evaluation in enumerate(trial.progress.evaluations, start=1)
    )
    for number, some in groupby(results, lambda it: max(0, bisect_right(starts, it[0]) - 1)):
        segment = tuning.segments[number].model_dump(exclude={"measurement"})
        yield PhaseStarted(**segment, provenance=record.provenance)
        for _, index, rung in some:
            trial = tuning.trials[index]
            seen = trial.progress.evaluations[:rung]
            update: dict[str, Any] = {"evaluations": seen}
            if rung < len(trial.progress.evaluations) and math.isfinite(seen[-1].loss):
                update["failure"] = None  # the training diverged later
            yield TrialReported(
                index=index,
                configuration=trial.configuration,
                rung=rung,
                progress=trial.progress.model_copy(update=update),
                measurement=tuning.segments[number].measurement,
            )
