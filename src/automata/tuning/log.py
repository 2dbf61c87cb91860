"""The log of a search: a file that is written ahead, and from which a search starts again.

A search follows from its results and their order (`search.Search`). After a `kill -9` the next
process reads the log, reports its results to a new search, which takes milliseconds, and trains
what is missing then. A trial goes on from its latest checkpoint, if there is one.
"""

from __future__ import annotations

import hashlib
import logging
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from automata.config.job import Job
from automata.files import Recorded, replacing
from automata.metering.measurement import Measurement
from automata.records import Record, Segment
from automata.training.progress import Progress
from automata.tuning.checkpoints import WorkFolder
from automata.tuning.search import Search

logger = logging.getLogger(__name__)

DIGITS = 16
"""Of the checksum that begins a line."""


class JobFingerprint(Recorded):
    """The first line: what the search is of. Another job, data or software starts over."""

    kind: Literal["fingerprint"] = "fingerprint"
    job: Job
    data_sha256: str
    place: dict[str, Any]


class Opened(Recorded):
    """A process started to measure: the lines up to the next of these are its segment."""

    kind: Literal["opened"] = "opened"
    host: str
    setup_seconds: float
    provenance: dict[str, Any]


class Reported(Recorded):
    """A trial reached a rung."""

    kind: Literal["reported"] = "reported"
    index: int
    configuration: dict[str, Any]
    progress: Progress
    measurement: Measurement | None
    """Of the segment up to here: in the same line, so that none is without the other.

    None shortly after another: see `metering_callback.MEASUREMENT_SECONDS`.
    """


class Closed(Recorded):
    """All trials have ended; the last line."""

    kind: Literal["closed"] = "closed"
    measurement: Measurement
    peak_disk_bytes: int


Entry = JobFingerprint | Opened | Reported | Closed

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


class ReplayLog:
    """A file of entries, one a line, each with its checksum, and these entries.

    Entries reach the kernel one by one, so that a killed process loses none; a power cut may
    lose or tear the last ones. What follows a damaged line is not believed.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one, and cut off what is damaged."""
        self.entries: list[Entry] = []
        self._path = path
        if not path.exists():
            return
        *lines, rest = path.read_bytes().split(b"\n")
        self.entries = list(_sound(lines))
        if rest or len(self.entries) < len(lines):
            self.cut(len(self.entries), "damaged, or of another version of the project,")

    @property
    def reported(self) -> list[Reported]:
        """The results, in the order in which the search saw them."""
        return [entry for entry in self.entries if isinstance(entry, Reported)]

    @property
    def latest(self) -> dict[int, Progress]:
        """The latest result of each trial that has any."""
        return {result.index: result.progress for result in self.reported}

    @property
    def segments(self) -> list[Segment]:
        """Each segment up to its last measurement; one without any has kept nothing."""
        return list(_segments(self.entries))

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        with self._path.open("ab") as file:
            file.write(_line(entry))
        self.entries.append(entry)

    def begin(self, fingerprint: JobFingerprint) -> None:
        """Replace all entries by this one."""
        self.entries = [fingerprint]
        self._rewrite()

    def cut(self, entries: int, reason: str) -> None:
        """Remove what follows so many entries."""
        logger.warning("%s: %s after line %d: cut off", self._path, reason, entries)
        del self.entries[entries:]
        self._rewrite()

    def _rewrite(self) -> None:
        with replacing(self._path) as temporary:
            temporary.write_bytes(b"".join(map(_line, self.entries)))


def load_log(work: WorkFolder, fingerprint: JobFingerprint) -> ReplayLog:
    """Return the log in `work` of the search with this `fingerprint`; all else is removed there.

    Checkpoints that are ahead of the log, which is written later, are removed as well: the
    search would never hear of a rung that a trial has left behind.
    """
    log = ReplayLog(work.log)
    if log.entries[:1] != [fingerprint]:
        if work.clear():
            logger.info("%s: unfinished work of another job or version: discarded", work.path)
        log.begin(fingerprint)
    rungs = _counted(log.entries)
    for checkpoint in work.checkpoints():
        if checkpoint.rungs > rungs[checkpoint.trial]:
            checkpoint.path.unlink()
    return log


def results_of(record: Record) -> Iterator[Opened | Reported]:
    """Yield what the log of a finished search had: a search of more configurations begins with it.

    What a segment took counts with its first result, whatever is taken over of the others.
    """
    results = sorted(
        (evaluation.finished_at, trial.index, rung)
        for trial in record.tuning.trials
        for rung, evaluation in enumerate(trial.progress.evaluations, start=1)
    )
    segments = record.tuning.segments
    starts = [segment.measurement.started_at for segment in segments]
    latest = -1
    for finished_at, index, rung in results:
        trial = record.tuning.trials[index]
        evaluations = trial.progress.evaluations[:rung]
        ended = rung == len(trial.progress.evaluations)
        failed = ended or not math.isfinite(evaluations[-1].loss)
        progress = trial.progress.model_copy(
            update={
                "evaluations": evaluations,
                "failure": trial.progress.failure if failed else None,
            }
        )
        place = max(0, bisect_right(starts, finished_at) - 1)
        if place != latest:
            host, setup = segments[place].host, segments[place].setup_seconds
            yield Opened(host=host, setup_seconds=setup, provenance=record.provenance)
        yield Reported(
            index=index,
            configuration=trial.configuration,
            progress=progress,
            measurement=segments[place].measurement if place != latest else None,
        )
        latest = place


def usable(entries: Sequence[Opened | Reported], search: Search) -> list[Opened | Reported]:
    """Return the first `entries` of another search, as far as a new `search` does the same.

    Of each trial it has all results or none: what a record says of a trial is of its end.
    """
    kept = []
    for entry in entries:
        if isinstance(entry, Reported):
            if not _fits(entry, search):
                break
            search.report(entry.index, entry.progress.score)
        kept.append(entry)
    every = _counted(entries)
    while broken := [index for index, rungs in _counted(kept).items() if rungs < every[index]]:
        first = next(p for p, e in enumerate(kept) if isinstance(e, Reported) and e.index in broken)
        kept = kept[:first]
    return kept if _counted(kept) else []


def _counted(entries: Iterable[Entry]) -> Counter[int]:
    """Return the results of each trial."""
    return Counter(entry.index for entry in entries if isinstance(entry, Reported))


def replay(log: ReplayLog, search: Search) -> None:
    """Report the results of `log` to a new `search`, in their order.

    A search that would not have come to a result has not seen it: the log ends before.
    """
    for place, entry in enumerate(log.entries):
        if isinstance(entry, Reported):
            if not _fits(entry, search):
                log.cut(place, "not what this search does")
                return
            search.report(entry.index, entry.progress.score)


def _fits(entry: Reported, search: Search) -> bool:
    if not search.may_report(entry.index):
        return False
    trial = search.trials[entry.index]
    rung = len(entry.progress.evaluations)
    return (trial.configuration, trial.reached + 1) == (entry.configuration, rung)


def _segments(entries: list[Entry]) -> Iterator[Segment]:
    opened: Opened | None = None
    latest: Measurement | None = None
    for entry in [*entries, None]:
        if isinstance(entry, Reported | Closed):
            latest = entry.measurement or latest
        elif entry is None or isinstance(entry, Opened):
            if opened is not None and latest is not None:
                yield Segment(
                    host=opened.host, setup_seconds=opened.setup_seconds, measurement=latest
                )
            opened, latest = entry, None


def _line(entry: Entry) -> bytes:
    body = entry.model_dump_json().encode()
    return f"{hashlib.sha256(body).hexdigest()[:DIGITS]} ".encode() + body + b"\n"


def _sound(lines: list[bytes]) -> Iterator[Entry]:
    """Yield the entries before the first line that is damaged."""
    for line in lines:
        digest, _, body = line.partition(b" ")
        if hashlib.sha256(body).hexdigest()[:DIGITS].encode() != digest:
            return
        try:
            yield _ENTRY.validate_json(body)
        except ValidationError:
            return
