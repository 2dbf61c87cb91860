"""What runs there are on disk, listed by protocol."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from automata.config import OwnModel, Protocol
from automata.errors import UserError
from automata.files import bytes_below
from automata.records import read_record
from automata.runs import records_below

HEADINGS = ("panel", "runs", "MB", "protocol", "used by")


@dataclass(frozen=True)
class Panel:
    """The runs of a data set, search and scheduler under one protocol."""

    folder: Path
    records: list[Path]
    experiments: list[str]
    """Those whose tables have any of them."""

    @property
    def cells(self) -> tuple[str, ...]:
        """What a list says of it, below HEADINGS."""
        protocol = read_record(self.records[0]).job.settings.protocol
        size = f"{bytes_below(self.folder) / 1e6:.1f}"
        used = ", ".join(self.experiments) or "nothing"
        return "/".join(self.folder.parts[-2:]), str(len(self.records)), size, brief(protocol), used


def brief(protocol: Protocol) -> str:
    """Return what tells protocols apart at a glance; the fingerprint in the path tells the rest."""
    model = protocol.model.factory if isinstance(protocol.model, OwnModel) else protocol.model
    return (
        f"{model}, {protocol.configurations} configurations, {protocol.epochs} epochs, "
        f"selection every {protocol.reselect_every}"
    )


def panels(runs: Path) -> list[Panel]:
    """Return the panels in the folder `runs`."""
    users = _users()
    return [
        Panel(panel, paths, sorted({user for path in paths for user in users[path.resolve()]}))
        for panel, paths in (
            (panel, list(group))
            for panel, group in groupby(records_below(runs), lambda path: path.parents[2])
        )
    ]


def listing(found: Sequence[Panel]) -> str:
    """Return a table of panels."""
    rows = [HEADINGS, *(panel.cells for panel in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _users() -> dict[Path, list[str]]:
    """Return the experiments that have each record in their tables."""
    users: dict[Path, list[str]] = defaultdict(list)
    for table in sorted(Path("results").glob("*/tables/runs.csv")):
        try:
            with table.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    users[Path(row["record"]).resolve()].append(table.parts[-3])
        except (OSError, ValueError, KeyError, csv.Error) as error:
            raise UserError(
                f"{table}: damaged, or no table of runs: delete it, to make it anew ({error})"
            ) from error
    return users
