"""What earlier processes did of a search, and how a trial finds its part of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from automata.metering.measurement import Measurement
from automata.records import Segment
from automata.tuning.journal import Begun, Closed, Entry, Journal, Opened, Reported
from automata.tuning.work import WorkFolder

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


def recall(work: WorkFolder, begun: Begun) -> History:
    """Return what `work` has of the search `begun`; that of another search is removed.

    States that are ahead of the journal, which is written later, are removed as well: the
    search would never hear of a rung that a trial has left behind.
    """
    journal = Journal(work.journal)
    entries = journal.read()
    if not entries or entries[0] != begun:
        work.clear()
        journal.write([begun])
        return History()
    reported = [entry for entry in entries if isinstance(entry, Reported)]
    rungs = Counter(result.index for result in reported)
    for state in work.states():
        if state.rungs > rungs[state.trial]:
            state.path.unlink()
    return History(reported, list(_segments(entries)))


def forget(work: WorkFolder, index: int) -> None:
    """Take all of trial `index` out of `work`: it will train again."""
    work.search.unlink(missing_ok=True)
    for state in work.states(index):
        state.path.unlink()
    journal = Journal(work.journal)
    kept = [e for e in journal.read() if not isinstance(e, Reported) or e.index != index]
    journal.write(kept)


def _segments(entries: list[Entry]) -> Iterator[Segment]:
    """Yield each segment with the last account of it; one without any has kept nothing."""
    opened: Opened | None = None
    account: Measurement | None = None
    for entry in [*entries, None]:
        if isinstance(entry, Reported | Closed):
            account = entry.account or account
        elif entry is None or isinstance(entry, Opened):
            if opened is not None and account is not None:
                yield Segment(
                    host=opened.host, setup_seconds=opened.setup_seconds, measurement=account
                )
            opened, account = entry, None


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
