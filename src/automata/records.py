"""The record of one run: all that later tables and figures may rest on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from automata.config.base import added
from automata.config.job import Job
from automata.errors import UserError
from automata.files import write_text

# What reads records needs of what makes them, it takes from here: `as` says so.
from automata.metering.measurement import CONTAMINATED_SHARE as CONTAMINATED_SHARE
from automata.metering.measurement import JOULES_PER_KWH as JOULES_PER_KWH
from automata.metering.measurement import Measurement as Measurement
from automata.metering.measurement import combined
from automata.metering.measurement import complete_sum as complete_sum
from automata.metering.measurement import foreign_share as foreign_share
from automata.recorded import Recorded
from automata.training.progress import Evaluation as Evaluation
from automata.training.progress import Progress as Progress

REMEDY = "delete it, to repeat the run"

SEAL = ',\n "digest": "'
"""What stands between the content of a record and its digest."""


class Trial(Recorded):
    """One configuration and what its training did under the scheduler."""

    index: int
    """Position in the order of proposal, from 0."""
    configuration: dict[str, Any]
    rungs: list[int]
    """Epochs at which it reports; the last is where it would end if never stopped."""
    status: Literal["completed", "stopped", "failed", "drawn"]
    """`drawn`: a configuration that nothing was tried with."""
    progress: Progress

    @property
    def score(self) -> float:
        """The score that the search and the choice of the best saw."""
        return self.progress.score


class Segment(Recorded):
    """A part of a phase that nothing interrupted: one measured window."""

    host: str
    setup_seconds: float = 0.0
    """Before the window, in the same process: start of Ray, first worker, imports, data."""
    measurement: Measurement
    """Of a segment that was interrupted: up to the last work that was not lost."""


class Tuning(Recorded):
    """The search: measured from the first trial's start to the last one's end."""

    segments: list[Segment]
    """One, more after interruptions; none where nothing was searched."""
    trials: list[Trial]
    best: int
    """Index of the trial with the best score; the earlier one wins a tie."""
    cluster: dict[str, Any] | None = None
    """The `address` of the user's Ray that trials ran on; None: a Ray of the job's own."""

    @property
    def measurement(self) -> Measurement | None:
        """The segments as one account, None where nothing was searched."""
        return combined([segment.measurement for segment in self.segments])

    @property
    def setup_seconds(self) -> float:
        """What it took to get ready, each time."""
        return sum(segment.setup_seconds for segment in self.segments)

    def elapsed(self, at: float) -> float:
        """Return the seconds of searching until `at`, a Unix time; interruptions do not count."""
        before, current = 0.0, self.segments[0].measurement
        for segment in self.segments[1:]:
            if at >= segment.measurement.started_at:
                before += current.wall_seconds
                current = segment.measurement
        return before + at - current.started_at


class Finalist(Recorded):
    """A configuration that was trained on all data, and did not stay the best."""

    trial: int
    """Index of the trial that chose it."""
    progress: Progress


class FinalTraining(Recorded):
    """The training of the best configuration on all data, a measured window of its own."""

    segments: Annotated[list[Segment], Field(min_length=1)]
    """One, more after interruptions."""
    progress: Progress
    trial: Annotated[int | None, added(None)] = None
    """Index of the trial with its configuration; None: the best of the search."""
    lost: Annotated[list[Finalist], added([])] = []
    """The other finalists; their training is in the window."""

    @property
    def measurement(self) -> Measurement:
        """The segments, of which there is one at least, as one account."""
        account = combined([segment.measurement for segment in self.segments])
        assert account is not None
        return account


class Test(Recorded):
    """The one evaluation on the test set; its time is in no window."""

    __test__ = False  # not a pytest class

    accuracy: float
    loss: float
    rows: int
    balanced_accuracy: float | None = None
    """As of an `Evaluation`."""
    macro_f1: float | None = None


class Data(Recorded):
    """The prepared file that was read."""

    sha256: str
    classes: int
    counts: dict[str, int]
    source: str
    read: Annotated[list[str], added([])] = []
    """What was read of the user's own files, a sentence each."""


class Record(Recorded):
    """Everything about one run."""

    schema_version: Literal[2] = 2
    job: Job
    data: Data
    tuning: Tuning
    final: FinalTraining | None
    """None for FULL, whose best trial's own weights are tested."""
    test: Test
    resumed: bool
    """Whether an interruption lies inside: parts of the work are of another process."""
    peak_disk_bytes: int
    """Most that the unfinished work took on disk, seen by the process that finished it."""
    lock_wait_seconds: float
    """Of that process."""
    provenance: dict[str, Any]

    @property
    def best(self) -> Trial:
        """The trial with the configuration that the run chose."""
        chosen = self.final.trial if self.final else None
        return self.tuning.trials[self.tuning.best if chosen is None else chosen]

    @property
    def segments(self) -> list[Segment]:
        """The segments of both phases."""
        return [*self.tuning.segments, *(self.final.segments if self.final else [])]

    @property
    def phases(self) -> list[Measurement]:
        """What was measured: the search, the final training, or both."""
        windows = (self.tuning.measurement, self.final.measurement if self.final else None)
        return [window for window in windows if window is not None]

    def version(self, part: str) -> int:
        """Return the measurement version of a part; 1 where a record does not say."""
        return int(self.provenance.get("measurement", {}).get(part, 1))


def write_record(record: Record, path: Path) -> None:
    """Write `record` to `path` as JSON with a digest of all else in it, atomically."""
    write_text(path, sealed(json.loads(record.model_dump_json())))


def read_record(path: Path) -> Record:
    """Read a record; raises UserError, naming the file, for anything else."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path}: not a record: {error}") from error
    return parse_record(text, str(path))


def parse_record(text: str, path: str) -> Record:
    """Return the record that a file says; raises UserError, naming it, for anything else."""
    try:
        return Record.model_validate_json(unsealed(text, path, REMEDY))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        other = "use the version of the project that made it, or "
        remedy = f"{other if key == 'schema_version' else ''}{REMEDY}"
        raise UserError(f"{path}: not a record: {key}: {first['msg']}; {remedy}") from error


def sealed(content: dict[str, Any]) -> str:
    """Return the text of a file: its last entry is a digest of the text before."""
    text = json.dumps(content, indent=1, ensure_ascii=False).removesuffix("\n}")
    return f"{text}{SEAL}{_digest(text)}"


def unsealed(text: str, path: Path | str, remedy: str) -> str:
    """Return the JSON that was sealed; UserError, which names its file, if it has changed since."""
    content, _, digest = text.rpartition(SEAL)
    if digest != _digest(content):
        raise UserError(
            f"{path}: its content does not fit its digest: cut off, edited or damaged; {remedy}"
        )
    return f"{content}\n}}"


def _digest(text: str) -> str:
    """Return what stands behind the seal, to the end of the file."""
    return f'{hashlib.sha256(text.encode()).hexdigest()}"\n}}\n'
