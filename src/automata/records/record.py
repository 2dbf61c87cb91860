"""The record of a run, from which all tables and figures are made."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from automata.config.base import added
from automata.config.job import Job
from automata.errors import UserError
from automata.files import write_text
from automata.records.base import Recorded
from automata.records.measurement import Measurement, combined
from automata.records.progress import Progress
from automata.records.scores import Scores

SEAL = ',\n "digest": "'
"""Text between the content of a record and its digest."""

REMEDY = "delete it to repeat the run"

R = TypeVar("R", bound=Recorded)


class Trial(Recorded):
    """One configuration and its training under the scheduler."""

    index: int
    """Position in the order of proposals, from 0."""
    configuration: dict[str, Any]
    rungs: list[int]
    """Epochs at which the trial reports its score; it ends at the last unless it is stopped."""
    status: Literal["completed", "stopped", "failed", "drawn"]
    """`drawn`: the configuration was never trained."""
    progress: Progress

    @property
    def score(self) -> float:
        """The latest validation score; trials are compared by `Progress.standing`."""
        return self.progress.score


class Segment(Recorded):
    """An uninterrupted part of a phase: one measured window."""

    host: str
    setup_seconds: float = 0.0
    """Seconds before the window: start of Ray and the first worker, imports, data."""
    measurement: Measurement
    """If the segment was interrupted, this ends with the last work that was saved."""


class Tuning(Recorded):
    """The search, measured from the start of the first trial to the end of the last."""

    segments: list[Segment]
    """One, or more after interruptions; none without a search."""
    trials: list[Trial]
    best: int
    """Index of the trial with the best score; of equally good ones the earliest. Under
    `Scheduler.most_rungs_win` only trials with most rungs count."""
    cluster: dict[str, Any] | None = None
    """`address` of the user's Ray cluster; None if the job started Ray itself."""

    @property
    def measurement(self) -> Measurement | None:
        """The segments combined; None without a search."""
        return combined([segment.measurement for segment in self.segments])

    def elapsed(self, at: float) -> float:
        """Return the seconds of search until `at`, a Unix time, without interruptions."""
        before, current = 0.0, self.segments[0].measurement
        for segment in self.segments[1:]:
            if at >= segment.measurement.started_at:
                before += current.wall_seconds
                current = segment.measurement
        return before + at - current.started_at


class Finalist(Recorded):
    """A configuration that was trained on all data, but was not the best of the finalists."""

    trial: int
    """Index of the trial with this configuration."""
    progress: Progress


class FinalTraining(Recorded):
    """The training of the best configuration on all data, measured separately from the search."""

    segments: Annotated[list[Segment], Field(min_length=1)]
    """One, or more after interruptions."""
    progress: Progress
    trial: Annotated[int | None, added(None)] = None
    """Index of the trial whose configuration it trains; None: the best of the search."""
    lost: Annotated[list[Finalist], added([])] = []
    """The other finalists; the measurement includes their training."""
    slots: Annotated[int, added(1)] = 1
    """How many finalists trained at once; 1 in earlier records."""

    @property
    def measurement(self) -> Measurement:
        """The segments combined."""
        measurement = combined([segment.measurement for segment in self.segments])
        assert measurement is not None
        return measurement


class Test(Scores):
    """The evaluation on the test set, which is not measured."""

    __test__ = False  # not a pytest class

    rows: int
    answers: Annotated[list[tuple[int, int, int]], added([])] = []
    """(class, answer, rows) for each pair that occurs; answer `Data.classes` is none at all."""


class Data(Recorded):
    """The prepared data set."""

    sha256: str
    classes: int
    counts: dict[str, int]
    source: str
    read: Annotated[list[str], added([])] = []
    """Notes on how the user's own files were read."""
    class_names: Annotated[list[str], added([])] = []
    """By number of the class."""


class Record(Recorded):
    """The record of a run."""

    schema_version: Literal[2] = 2
    job: Job
    data: Data
    tuning: Tuning
    final: FinalTraining | None
    """None for `full` and `full-again`, whose best trial is tested."""
    test: Test
    resumed: bool
    """Whether the run was interrupted and resumed, or began with results of a smaller search."""
    peak_disk_bytes: object = Field(default=None, exclude=True)
    """A field of earlier records; nothing reads it."""
    lock_wait_seconds: float
    """Seconds that the last process waited for the host's lock."""
    provenance: dict[str, Any]

    @property
    def best(self) -> Trial:
        """The trial whose configuration the run chose."""
        chosen = self.final.trial if self.final else None
        return self.tuning.trials[self.tuning.best if chosen is None else chosen]

    @property
    def segments(self) -> list[Segment]:
        """The segments of both phases."""
        return [*self.tuning.segments, *(self.final.segments if self.final else [])]

    @property
    def phases(self) -> list[Measurement]:
        """Measurements of the search and of the final training, without missing ones."""
        windows = (self.tuning.measurement, self.final.measurement if self.final else None)
        return [window for window in windows if window is not None]

    def version(self, part: str) -> int:
        """Return the measurement version of a part (see `provenance`); 1 if the record has none."""
        return int(self.provenance.get("measurement", {}).get(part, 1))


def write_record(record: Recorded, path: Path) -> None:
    """Write `record` to `path` as JSON that ends with a digest, atomically."""
    write_text(path, sealed(json.loads(record.model_dump_json())))


def sealed(content: dict[str, Any]) -> str:
    """Return `content` as JSON, with a digest of this text as the last entry."""
    text = json.dumps(content, indent=1, ensure_ascii=False).removesuffix("\n}")
    return f"{text}{SEAL}{_end(text)}"


def _end(text: str) -> str:
    """Return the end of a file that begins with `text`: its digest and the last bracket."""
    return f'{hashlib.sha256(text.encode()).hexdigest()}"\n}}\n'


def read_record(path: Path) -> Record:
    """Read the record of a run; raises UserError if the file is not one."""
    return read_as(Record, path, REMEDY)


def read_as(kind: type[R], path: Path, remedy: str) -> R:
    """Read a record of this `kind`; otherwise raise UserError, which ends with `remedy`."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path}: not a record: {error}") from error
    return parse_as(kind, text, str(path), remedy)


def unsealed(text: str, name: str, remedy: str) -> str:
    """Return the content, JSON, of a `sealed` file `name`; raises UserError if it was altered."""
    content, _, end = text.rpartition(SEAL)
    if end != _end(content):
        raise UserError(
            f"{name}: its content does not match its digest: cut off, edited or damaged; {remedy}"
        )
    return f"{content}\n}}"


def parse_as(kind: type[R], text: str, name: str, remedy: str) -> R:
    """Parse the `text` of the file `name`; otherwise raise UserError, which ends with `remedy`."""
    content = unsealed(text, name, remedy)
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        if key == "schema_version":
            remedy = f"use the version of the project that made it, or {remedy}"
        raise UserError(f"{name}: not a record: {key}: {first['msg']}; {remedy}") from error
