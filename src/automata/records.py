"""The record of one run: all that later tables and figures may rest on."""

from __future__ import annotations

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

SCHEMA_VERSION = 1


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


class Node(Recorded):
    """A node of a Ray cluster, and the trials that it trained, or trained in part."""

    name: str
    host: str
    cpu: str
    resources: dict[str, float]
    """As Ray counts them."""
    trials: list[int]


class Cluster(Recorded):
    """The Ray cluster that trials ran on; its software was that of the provenance."""

    address: str
    nodes: list[Node]

    @property
    def hosts(self) -> list[str]:
        """The hosts that trained trials."""
        return sorted({node.host for node in self.nodes if node.trials})


class Tuning(Recorded):
    """The search: one measured window from the first trial's start to the last one's end."""

    measurement: Measurement | None
    """None where nothing was searched."""
    setup_seconds: float
    """Before the window: start of Ray, first worker, imports, data."""
    trials: list[Trial]
    best: int
    """Index of the trial with the best score; the earlier one wins a tie."""
    cluster: Cluster | None = None
    """None where trials ran in a Ray of the job's own, on its host."""


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
    """Write `record` to `path` as JSON, atomically."""
    write_text(path, record.model_dump_json(indent=1) + "\n")


def read_record(path: Path) -> Record:
    """Read a record; raises UserError, naming the file, for anything else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content.get("schema_version") if isinstance(content, dict) else None
        if version != SCHEMA_VERSION:
            raise UserError(f"{path}: record of schema version {version}, not {SCHEMA_VERSION}")
        return Record.model_validate(content)
    except (OSError, ValueError) as error:
        reason = _first(error) if isinstance(error, ValidationError) else error
        raise UserError(f"{path}: not a record: {reason}") from error


def _first(error: ValidationError) -> str:
    """Return the first problem of a validation, with its place, in one line."""
    problem = error.errors()[0]
    return f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
