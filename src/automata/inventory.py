"""What runs there are on disk: listed by protocol, removed on request, adopted from before."""

from __future__ import annotations

import csv
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from automata.config import OwnModel, Protocol
from automata.errors import UserError
from automata.experiments.inputs import content_of, data_files
from automata.files import bytes_below, sha256
from automata.records import Record, read_record
from automata.runs import RECORD, parse_place, recorded_place, records_below

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


def panels(folders: Iterable[Path]) -> list[Panel]:
    """Return the panels in `folders`: folders of runs, or parts of such.

    Raises UserError for a folder without records.
    """
    found: set[Path] = set()
    for folder in folders:
        records = {folder} if folder.name == RECORD else set(folder.rglob(RECORD))
        if not records:
            raise UserError(f"{folder}: no records in it")
        found |= records
    placed = sorted(path for path in found if parse_place(path))
    users = _users()
    return [
        Panel(panel, paths, sorted({user for path in paths for user in users[path]}))
        for panel, paths in (
            (panel, list(group)) for panel, group in groupby(placed, lambda path: path.parents[2])
        )
    ]


def listing(folders: Sequence[Path]) -> str:
    """Return a table of the panels in `folders`, and what to do with records that are in none."""
    rows = [HEADINGS, *(panel.cells for panel in panels(folders))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    old = sum(place is None for folder in folders for place in records_below(folder).values())
    if old:
        lines.append(
            f"{old} records are of an earlier version, and no configuration finds them: "
            "`automata runs --adopt` moves them to where it does"
        )
    return "".join(f"{line}\n" for line in lines)


def remove(folders: Sequence[Path], runs: Path, *, confirmed: bool) -> None:
    """Delete the runs in `folders`, which lie in the folder `runs`, after saying which.

    Without `confirmed` the user is asked. Raises UserError for no folder, for one elsewhere, and
    where nobody can answer.
    """
    if not folders:
        raise UserError(f"--remove: name folders below {runs}, or {runs} itself")
    for folder in folders:
        if not folder.resolve().is_relative_to(runs.resolve()):
            raise UserError(f"{folder}: does not lie in {runs}")
    sys.stderr.write(listing(folders))
    if not confirmed and not _agreed(f"Delete {' '.join(map(str, folders))}? [y/N] "):
        raise UserError("nothing was deleted")
    for folder in folders:
        shutil.rmtree(folder.parent if folder.name == RECORD else folder)


def adopt(runs: Path, cache: Path) -> list[Path]:
    """Move the records of earlier versions in the folder `runs` to their places.

    Returns where they are. Nothing is replaced: a record whose place is taken stays where it is.
    Where records are of the user's own files, their data sets are prepared once more, with
    downloads from `cache`, to see whether the files are still the same. Raises UserError for a
    damaged record.
    """
    moved = []
    contents = _Contents(cache)
    for path, place in records_below(runs).items():
        if place is None:
            record = read_record(path)
            target = runs / recorded_place(record, contents.of(record)).stem / RECORD
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                moved.append(path.rename(target))
                _remove_empty(path.parent, runs)
    return moved


class _Contents:
    """What the user's own files hold, as far as they are those that records are of."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._prepared: dict[str, str | None] = {}

    def of(self, record: Record) -> dict[str, str]:
        """Return the SHA-256 of the files by role, none where other content was prepared."""
        preparation = record.job.settings.data
        paths = data_files(preparation.model_dump(mode="json"))
        if not paths or self._checksum(record) != record.data.sha256:
            return {}
        return {role: content_of(Path(path)) for role, path in paths.items()}

    def _checksum(self, record: Record) -> str | None:
        """Return the SHA-256 of what is prepared today; None where nothing can be."""
        from automata.datasets.prepare import prepare
        from automata.datasets.prepared import write_dataset

        name, preparation = record.job.run.dataset, record.job.settings.data
        key = f"{name} {preparation.model_dump_json()}"
        if key not in self._prepared:
            with TemporaryDirectory() as folder:
                file = Path(folder, "prepared.safetensors")
                try:
                    write_dataset(prepare(name, preparation, self._cache), file)
                    self._prepared[key] = sha256(file)
                except UserError:  # files are gone, or others
                    self._prepared[key] = None
        return self._prepared[key]


def _users() -> dict[Path, list[str]]:
    """Return the experiments that have each record in their tables."""
    users: dict[Path, list[str]] = defaultdict(list)
    for table in sorted(Path("results").glob("*/tables/runs.csv")):
        try:
            with table.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    users[Path(row["record"])].append(table.parts[-3])
        except (OSError, ValueError, KeyError, csv.Error) as error:
            raise UserError(
                f"{table}: damaged, or no table of runs: delete it, to make it anew ({error})"
            ) from error
    return users


def _agreed(question: str) -> bool:
    """Ask the person at the terminal; nobody there does not agree."""
    if not sys.stdin.isatty():
        raise UserError("nothing was deleted: nobody to ask; --yes deletes")
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _remove_empty(folder: Path, end: Path) -> None:
    """Remove `folder` and what it lies in, up to `end`, as far as nothing is in it."""
    while folder != end and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
