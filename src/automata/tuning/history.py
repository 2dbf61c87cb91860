"""What earlier processes did of a search, and how a trial finds its part of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from automata.records import Segment
from automata.tuning.journal import Begun, Entry, Journal, Measured, Opened, Reported

TURN_SECONDS = 5.0
"""How long a known result waits for those that came before it. It is sent anyway then: with
several trials at once the outcome may depend on the order, but no search hangs on it."""

POLL_SECONDS = 0.002


@dataclass(frozen=True)
class History:
    """The results that are known, in the order in which the search saw them."""

    reported: list[Reported] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)

    def known(self, index: int, configuration: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the results of trial `index`, each with its turn among all results.

        There are none where the search proposes another configuration than it did.
        """
        return [
            {"turn": turn, "progress": result.progress.model_dump_json()}
            for turn, result in enumerate(self.reported)
            if result.index == index and result.configuration == configuration
        ]


def recall(journal: Journal, begun: Begun) -> History:
    """Return what `journal` has of the search `begun`; one of another search is begun anew."""
    entries = journal.read()
    if not entries or entries[0] != begun:
        journal.write([begun])
        return History()
    return History(
        [entry for entry in entries if isinstance(entry, Reported)], list(_segments(entries))
    )


def forget(journal: Journal, index: int) -> None:
    """Take the results of trial `index` out of `journal`: it will train again."""
    kept = [e for e in journal.read() if not isinstance(e, Reported) or e.index != index]
    journal.write(kept)


def _segments(entries: list[Entry]) -> Iterator[Segment]:
    """Yield each segment with the last account of it; one without any has done nothing."""
    opened: Opened | None = None
    measured: Measured | None = None
    for entry in [*entries, None]:
        if isinstance(entry, Measured):
            measured = entry
        elif entry is None or isinstance(entry, Opened):
            if opened is not None and measured is not None:
                yield Segment(
                    host=opened.host,
                    setup_seconds=opened.setup_seconds,
                    measurement=measured.measurement,
                )
            opened, measured = entry, None


class Deliveries:
    """Which known results the search has seen again: a file that its process writes.

    Any process may train a trial, so that this says where in the trial it stands.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def clear(self) -> None:
        """Begin with none."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text("", encoding="utf-8")

    def add(self, index: int) -> None:
        """Note that the search has seen the next known result of trial `index`."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{index}\n")

    def next_of(self, index: int, known: list[dict[str, Any]]) -> str | None:
        """Return the next known result of trial `index` at its turn, None after the last."""
        if not known:
            return None
        delivered = self._read()
        position = delivered.count(str(index))
        if position >= len(known):
            return None
        result = known[position]
        deadline = time.monotonic() + TURN_SECONDS
        while len(delivered) < result["turn"] and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            delivered = self._read()
        return str(result["progress"])

    def left(self, index: int, known: list[dict[str, Any]]) -> int:
        """Return how many known results of trial `index` the search has not seen again."""
        return len(known) - self._read().count(str(index)) if known else 0

    def _read(self) -> list[str]:
        return self._path.read_text(encoding="utf-8").splitlines()
