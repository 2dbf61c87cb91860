"""Published records: one compressed file, from which the results are made again."""

from __future__ import annotations

import lzma
import re
import shutil
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from automata.errors import UserError
from automata.files import replacing
from automata.records import Record, parse_record
from automata.runs import DEPTH, RECORD, Place

PRESET = 9 | lzma.PRESET_EXTREME
"""Packing a thousand records takes a minute; every clone carries the file."""

MOST_BYTES = 64 * 2**20
"""Size limit of an entry of an archive; a record has less than a megabyte."""

NAME = re.compile(rf"(?:(?!\.)[^/\0]+/){{{DEPTH - 1}}}{re.escape(RECORD)}")
"""Name of a record in an archive: it leads to no other folder."""


class _Bounded(lzma.LZMAFile):
    """Refuses to read large entries, also names and attributes, which tarfile reads by itself."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= MOST_BYTES:
            raise OSError(f"an entry has more than {MOST_BYTES // 2**20} MiB")
        return super().read(size)


def pack(records: Iterable[Path], archive: Path) -> None:
    """Write `records` to `archive`, a .tar.xz, under the names of their runs.

    Dates and owners are left out, so that the same records make the same bytes.
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


def unpack(
    archives: Iterable[Path], folder: Path, place_of: Callable[[Record], Place] | None = None
) -> None:
    """Write the records in `archives` to `folder`, after all of them were checked.

    A record is written to its path in the archive, or to the one that `place_of` gives for it.
    Raises UserError for a file that is no archive or has anything but records in it, for a run in
    two places, and if `folder` has another record of a run.
    """
    found: dict[str, Path] = {}
    for archive in archives:
        for name, text in _records(archive, place_of):
            if name in found:
                where = "twice" if found[name] == archive else f"and in {found[name]}"
                raise UserError(f"{archive}: {name} is in it {where}")
            if (path := folder / name).exists() and path.read_bytes() != text:
                raise UserError(f"{archive}: {path} exists already, with other content")
            found[name] = archive
    for archive in dict.fromkeys(found.values()):
        for name, text in _records(archive, place_of):
            with replacing(folder / name) as temporary:
                temporary.write_bytes(text)


def _records(
    archive: Path, place_of: Callable[[Record], Place] | None
) -> Iterator[tuple[str, bytes]]:
    """Yield the path of each record in `archive`, relative to a folder of runs, and its text."""
    try:
        with _Bounded(archive) as bounded, tarfile.open(fileobj=bounded, mode="r:") as tar:
            for entry in tar:
                # The holes of a sparse file take no space until they are read.
                regular = entry.isreg() and not entry.issparse() and NAME.fullmatch(entry.name)
                file = tar.extractfile(entry) if regular else None
                if file is None:
                    raise UserError(f"{archive}: {entry.name!r} is not the record of a run")
                name, text = entry.name, file.read()
                if place_of is not None:
                    record = parse_record(text.decode(errors="replace"), f"{archive}: {name}")
                    name = f"{place_of(record).stem}/{RECORD}"
                yield name, text
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
        raise UserError(f"{archive}: not an archive of records: {error}") from error


def publish(source: Path, files: Iterable[Path], target: Path) -> None:
    """Copy `files` of the folder `source` to the same paths in `target`."""
    for path in files:
        with replacing(target / path.relative_to(source)) as temporary:
            shutil.copyfile(path, temporary)
