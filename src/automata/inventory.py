"""What runs there are on disk, listed by protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from automata.config import OwnModel, Protocol
from automata.files import bytes_below
from automata.records import read_record
from automata.runs import records_below

HEADINGS = ("panel", "runs", "MB", "protocol")


@dataclass(frozen=True)
class Panel:
    """The runs of a data set, search and scheduler under one protocol."""

    folder: Path
    records: list[Path]

    @property
    def cells(self) -> tuple[str, ...]:
        """What a list says of it, below HEADINGS."""
        protocol = read_record(self.records[0]).job.settings.protocol
        size = f"{bytes_below(self.folder) / 1e6:.1f}"
        return "/".join(self.folder.parts[-2:]), str(len(self.records)), size, brief(protocol)


def brief(protocol: Protocol) -> str:
    """Return what tells protocols apart at a glance; the fingerprint in the path tells the rest."""
    model = protocol.model.factory if isinstance(protocol.model, OwnModel) else protocol.model
    return (
        f"{model}, {protocol.configurations} configurations, {protocol.epochs} epochs, "
        f"selection every {protocol.reselect_every}"
    )


def panels(runs: Path) -> list[Panel]:
    """Return the panels in the folder `runs`."""
    found = groupby(records_below(runs), lambda path: path.parents[2])
    return [Panel(folder, list(records)) for folder, records in found]


def listing(found: Sequence[Panel]) -> str:
    """Return a table of panels."""
    rows = [HEADINGS, *(panel.cells for panel in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "".join(f"{line}\n" for line in lines)
