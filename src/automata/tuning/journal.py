"""An account of a search on disk, written as it goes: an interrupted one goes on from it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from automata.config import Job
from automata.files import replacing
from automata.metering.measurement import Measurement
from automata.recorded import Recorded
from automata.training.progress import Progress

logger = logging.getLogger(__name__)

DIGITS = 16
"""Of the checksum that begins a line."""


class Begun(Recorded):
    """The first line: what the search is of. Another job, data or software starts over."""

    kind: Literal["begun"] = "begun"
    job: Job
    data_sha256: str
    place: dict[str, Any]


class Opened(Recorded):
    """A process started to measure: the lines up to the next of these are its segment."""

    kind: Literal["opened"] = "opened"
    host: str
    setup_seconds: float


class Reported(Recorded):
    """A trial reached a rung."""

    kind: Literal["reported"] = "reported"
    index: int
    configuration: dict[str, Any]
    progress: Progress
    node: str
    """Address of the host that trained it."""
    account: Measurement | None
    """What the segment measured up to here: in the same line, so that none is without the other.

    None shortly after another: see `ledger.ACCOUNT_SECONDS`.
    """


class Closed(Recorded):
    """All trials have ended; the last line."""

    kind: Literal["closed"] = "closed"
    account: Measurement


Entry = Begun | Opened | Reported | Closed

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])


class Journal:
    """A file of entries, one a line, each with its checksum.

    Entries reach the kernel one by one, so that a killed process loses none; a power cut may
    lose or tear the last ones. What follows a damaged line is not believed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[Entry]:
        """Return the entries, none if there is no file, and cut off what is damaged."""
        if not self._path.exists():
            return []
        *lines, rest = self._path.read_bytes().split(b"\n")
        entries = list(_sound(lines))
        if rest or len(entries) < len(lines):
            logger.warning("%s: damaged after line %d: cut off", self._path, len(entries))
            self._rewrite(b"".join(line + b"\n" for line in lines[: len(entries)]))
        return entries

    def write(self, entries: list[Entry]) -> None:
        """Replace the file by one with these entries."""
        self._rewrite(b"".join(map(_line, entries)))

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        with self._path.open("ab") as file:
            file.write(_line(entry))

    def _rewrite(self, content: bytes) -> None:
        with replacing(self._path) as temporary:
            temporary.write_bytes(content)


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
        except ValidationError:  # of another version of the project
            return
