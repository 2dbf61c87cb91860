"""The record of one run: all that later tables and figures may rest on."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from automata.config import Job
from automata.errors import UserError
from automata.files import write_text
from automata.metering.measurement import Measurement
from automata.recorded import Recorded
from automata.training.progress import Progress

SCHEMA_VERSION = 2

_HEAD = 1 << 15
"""Characters at the beginning of a file among which version and provenance are."""


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


class Tuning(Recorded):
    """The search: one measured window from the first trial's start to the last one's end."""

    measurement: Measurement | None
    """None where nothing was searched."""
    setup_seconds: float
    """Before the window: start of Ray, first worker, imports, data."""
    trials: list[Trial]
    best: int
    """Index of the trial with the best score; the earlier one wins a tie."""


class FinalTraining(Recorded):
    """The training of the best configuration on all data, a measured window of its own."""

    measurement: Measurement
    progress: Progress


class Test(Recorded):
    """The one evaluation on the test set; its time is in no window."""

    __test__ = False  # not a pytest class

    accuracy: float
    loss: float
    rows: int


class Data(Recorded):
    """The prepared file that was read."""

    sha256: str
    classes: int
    counts: dict[str, int]
    source: str


class Record(Recorded):
    """Everything about one run."""

    schema_version: int = SCHEMA_VERSION
    job: Job
    data: Data
    tuning: Tuning
    final: FinalTraining | None
    """None for FULL, whose best trial's own weights are tested."""
    test: Test
    lock_wait_seconds: float
    provenance: dict[str, Any]

    @property
    def best(self) -> Trial:
        """The best trial."""
        return self.tuning.trials[self.tuning.best]


def write_record(record: Record, path: Path) -> None:
    """Write `record` to `path` as JSON with a digest of all else in it, atomically.

    Where and with what it was made comes first: `read_code` reads no further.
    """
    content = json.loads(record.model_dump_json())
    first = {key: content[key] for key in ("schema_version", "provenance")}
    content = {**first, **content, "digest": digest(content)}
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_record(path: Path) -> Record:
    """Read a record; raises UserError, naming the file, for anything else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content.get("schema_version") if isinstance(content, dict) else None
        if version != SCHEMA_VERSION:
            raise UserError(f"{path}: record of schema version {version}, not {SCHEMA_VERSION}")
        if content.pop("digest", None) != digest(content):
            raise UserError(
                f"{path}: its content does not fit its digest: edited or damaged; "
                "delete it, to repeat the run"
            )
        return Record.model_validate(content)
    except (OSError, ValueError, RecursionError) as error:
        reason = _first(error) if isinstance(error, ValidationError) else error
        raise UserError(f"{path}: not a record: {reason}") from error


def read_code(path: Path) -> dict[str, str]:
    """Return which code made a record, by part; nothing for one of another schema version.

    Reads the beginning of the file only and checks no digest: thousands take a second. Raises
    UserError, naming the file, where it does not begin like a record.
    """
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(_HEAD)
        if _at(head, "schema_version") != SCHEMA_VERSION:
            return {}
        code: dict[str, str] = _at(head, "provenance")["code"]
        return code
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(f"{path}: not a record: it does not begin like one") from error


def _at(head: str, key: str) -> Any:
    """Return the value of the first `key` in the beginning of a file; ValueError without one."""
    mark = f'"{key}": '
    return json.JSONDecoder().raw_decode(head, head.index(mark) + len(mark))[0]


def digest(content: dict[str, Any]) -> str:
    """Return the SHA-256 of parsed JSON: how a file is laid out does not count."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _first(error: ValidationError) -> str:
    """Return the first problem of a validation, with its place, in one line."""
    problem = error.errors()[0]
    return f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
