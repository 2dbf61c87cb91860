"""Records in one compressed file: what is published of an experiment, and drawn again from."""

from __future__ import annotations

import lzma
import shutil
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from automata.errors import UserError
from automata.files import replacing
from automata.records import Record, parse_record
from automata.runs import DEPTH, RECORD, Place

Placing = Callable[[Record], Place]
"""Says where a record belongs."""

PRESET = 9 | lzma.PRESET_EXTREME
"""A minute for a thousand records, which are packed once and then carried by every clone."""

MOST_BYTES = 64 * 2**20
"""The largest entry of an archive that is read; a record has less than a megabyte."""


class _Bounded(lzma.LZMAFile):
    """Reads no entry that is too large, nor what tarfile reads by itself: names and attributes."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= MOST_BYTES:
            raise OSError(f"an entry has more than {MOST_BYTES // 2**20} MiB")
        return super().read(size)


def pack(records: Iterable[Path], archive: Path) -> None:
    """Write `records` to `archive`, a .tar.xz, by the names of their runs.

    The same records make the same bytes: dates and owners are left out.
    """
    with (
        replacing(archive) as temporary,
        lzma.open(temporary, "wb", preset=PRESET) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as tar,
    ):
        for path in sorted(records):
            entry = tarfile.TarInfo(PurePosixPath(*path.parts[-DEPTH:]).as_posix())
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                tar.addfile(entry, file)


def unpack(archives: Iterable[Path], folder: Path, place: Placing | None = None) -> None:
    """Write the records in `archives` to `folder`; all are looked at before one is written.

    Each has the path that it has in the archive, or one by its `place`, where Snakemake looks for
    it. Raises UserError for a file that is no such archive, for one with anything but records in
    it, for a run that is in two places, and for one of which `folder` has another record.
    """
    found: dict[str, Path] = {}
    for archive in archives:
        for name, record in _records(archive, place):
            if name in found:
                where = "twice" if found[name] == archive else f"and in {found[name]}"
                raise UserError(f"{archive}: {name} is in it {where}")
            if (path := folder / name).exists() and path.read_bytes() != record:
                raise UserError(f"{archive}: {path} is there already, and another record")
            found[name] = archive
    for archive in dict.fromkeys(found.values()):
        for name, record in _records(archive, place):
            with replacing(folder / name) as temporary:
                temporary.write_bytes(record)


def _records(archive: Path, place: Placing | None) -> Iterator[tuple[str, bytes]]:
    """Yield the path of each record in `archive`, below a folder of runs, and what it says."""
    try:
        with _Bounded(archive) as bounded, tarfile.open(fileobj=bounded, mode="r:") as tar:
            for entry in tar:
                file = tar.extractfile(entry) if _is_record(entry) else None
                if file is None:
                    raise UserError(f"{archive}: {entry.name!r} is not the record of a run")
                text = file.read()
                name = entry.name
                if place is not None:
                    name = _path_of(text, place, f"{archive}: {name}")
                yield name, text
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
        raise UserError(f"{archive}: not an archive of records: {error}") from error


def _path_of(text: bytes, place: Placing, name: str) -> str:
    """Return where the record with that text belongs, below a folder of runs."""
    try:
        record = parse_record(text.decode(), name)
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: not a record: {error}") from error
    return f"{place(record).stem}/{RECORD}"


def _is_record(entry: tarfile.TarInfo) -> bool:
    """Return whether `entry` is a file whose name says which run it is, and leads nowhere else."""
    path = PurePosixPath(entry.name)
    leads_away = path.is_absolute() or ".." in path.parts
    whole = entry.isreg() and not entry.issparse()  # holes cost nothing until they are read
    return whole and len(path.parts) == DEPTH and path.name == RECORD and not leads_away


def publish(source: Path, files: Iterable[Path], target: Path) -> None:
    """Copy `files`, which lie in the folder `source`, to the same places in `target`."""
    for path in files:
        with replacing(target / path.relative_to(source)) as temporary:
            shutil.copyfile(path, temporary)
