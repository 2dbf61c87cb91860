"""The log of a search: each result is appended before it is judged.

A search follows from its results and their order (`search.Search`). After a `kill -9` the next
process judges the results of the log in a new search, which takes milliseconds.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from automata.config.job import Job
from automata.files import Recorded, replacing
from automata.metering.measurement import Measurement
from automata.records import Segment
from automata.training.progress import Progress
from automata.tuning.checkpoints import read_checkpoint
from automata.tuning.schedulers import Verdict
from automata.tuning.search import Search
from automata.tuning.work import WorkFolder

logger = logging.getLogger(__name__)

DIGITS = 16
"""Length of the checksum at the start of each line."""

SHARED = ("automata", "measurement", "packages", "cpu", "cpu_count", "gpus", "device")
"""The parts of the provenance that all segments of a record share; hosts may differ."""


class LogHeader(Recorded):
    """The first line: all that the search depends on. Under another header it starts over."""

    kind: Literal["header"] = "header"
    job: Job
    data_sha256: str
    environment: dict[str, Any]


def header_of(
    job: Job, data_sha256: str, provenance: dict[str, Any], ray_address: str | None
) -> LogHeader:
    """Return the header of a search."""
    environment = {name: provenance.get(name) for name in (*SHARED, "own_model_sha256")}
    environment["ray.address"] = ray_address
    return LogHeader(job=job, data_sha256=data_sha256, environment=environment)


class SearchStarted(Recorded):
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
    progress: Progress
    measurement: Measurement | None
    """The segment up to this result; in the same line, so that a crash loses both or neither.

    None if the previous measurement is recent (`live.MEASUREMENT_SECONDS`).
    """


class SearchEnded(Recorded):
    """All trials have ended; the last line."""

    kind: Literal["ended"] = "ended"
    measurement: Measurement
    peak_disk_bytes: int


Entry = LogHeader | SearchStarted | TrialReported | SearchEnded

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


class SearchLog:
    """A file with one entry per line, after a checksum of it.

    Each entry reaches the kernel at once, so a killed process loses none. A power cut may lose or
    tear the last ones: the log ends before the first damaged line.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one, and cut it off before the first damaged line."""
        self.entries: list[Entry] = []
        self._path = path
        if not path.exists():
            return
        *lines, rest = path.read_bytes().split(b"\n")
        self.entries = list(_sound_entries(lines))
        if rest or len(self.entries) < len(lines):
            self.cut(len(self.entries), "the next line is damaged, or another version wrote it")

    @property
    def results(self) -> list[TrialReported]:
        """The results, in the order in which the search judged them."""
        return [entry for entry in self.entries if isinstance(entry, TrialReported)]

    @property
    def latest(self) -> dict[int, Progress]:
        """The latest progress of each trial that has reported."""
        return {result.index: result.progress for result in self.results}

    @property
    def segments(self) -> list[Segment]:
        """The segments, each with its latest measurement; a segment without one is left out."""
        segments: dict[int, Segment] = {}
        for place, entry in enumerate(self.entries):
            if isinstance(entry, SearchStarted):
                start, started = place, entry
            elif isinstance(entry, TrialReported | SearchEnded) and entry.measurement is not None:
                segments[start] = Segment(
                    host=started.host,
                    setup_seconds=started.setup_seconds,
                    measurement=entry.measurement,
                )
        return [*segments.values()]

    def append(self, entry: Entry) -> None:
        """Add an entry."""
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


def load_log(work: WorkFolder, header: LogHeader) -> SearchLog:
    """Return the log in `work` of the search with this `header`; discard any other work there.

    A checkpoint is written before its result is logged, so it may be ahead of the log. It is then
    removed, because its trial would never report the rung that it has passed.
    """
    log = SearchLog(work.log)
    if log.entries[:1] != [header]:
        if work.clear():
            logger.info("%s: discarded unfinished work of another job or version", work.path)
        log = SearchLog(work.log)
        log.append(header)
    rungs = Counter(result.index for result in log.results)
    for trial, path in work.checkpoints().items():
        state = read_checkpoint(path)
        if state is None or len(state["progress"]["evaluations"]) > rungs[trial]:
            path.unlink()
    return log


def judge(result: TrialReported, search: Search) -> Verdict | None:
    """Report `result` to `search` and return the verdict; None if the search did not ask for it."""
    rung = len(result.progress.evaluations)
    if not search.expects(result.index, result.configuration, rung):
        return None
    return search.report(result.index, result.progress.score)


def replay(entries: Iterable[Entry], search: Search) -> int:
    """Judge the results of `entries` in a new `search`; return how many entries fit it."""
    count = 0
    for entry in entries:
        if isinstance(entry, TrialReported) and judge(entry, search) is None:
            break
        count += 1
    return count


def _line(entry: Entry) -> bytes:
    body = entry.model_dump_json().encode()
    return f"{hashlib.sha256(body).hexdigest()[:DIGITS]} ".encode() + body + b"\n"


def _sound_entries(lines: list[bytes]) -> Iterator[Entry]:
    """Yield the entries before the first damaged line."""
    for line in lines:
        digest, _, body = line.partition(b" ")
        if hashlib.sha256(body).hexdigest()[:DIGITS].encode() != digest:
            return
        try:
            yield _ENTRY.validate_json(body)
        except ValidationError:
            return
