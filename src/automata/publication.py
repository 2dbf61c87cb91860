"""Published records: packs them into one compressed file, and unpacks them."""

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
"""The strongest: packing a thousand records takes a minute, but every clone has the file."""

MOST_BYTES = 64 * 2**20
"""Size limit of an entry of an archive; a record has less than a megabyte."""

NAME = re.compile(rf"(?:(?!\.)[^/\0]+/){{{DEPTH - 1}}}{re.escape(RECORD)}")
"""Name of a record in an archive; it cannot lead out of the folder."""


class _Bounded(lzma.LZMAFile):
    """Refuses large entries, also names and attributes, which tarfile itself reads."""

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

    A record keeps its path in the archive, unless `place_of` gives its place. Raises UserError if a
    file is not an archive of records alone, if a run is in the archives twice, or if `folder` has a
    different record of a run.
    """
    found: dict[str, Path] = {}
    for archive in archives:
        for name, content in _records(archive, place_of):
            if name in found:
                where = "twice in it" if found[name] == archive else f"also in {found[name]}"
                raise UserError(f"{archive}: {name} is {where}")
            if (path := folder / name).exists() and path.read_bytes() != content:
                raise UserError(f"{archive}: {path} exists already, with other content")
            found[name] = archive
    for archive in dict.fromkeys(found.values()):
        for name, content in _records(archive, place_of):
            with replacing(folder / name) as temporary:
                temporary.write_bytes(content)


def _records(
    archive: Path, place_of: Callable[[Record], Place] | None
) -> Iterator[tuple[str, bytes]]:
    """Yield the path of each record in `archive`, relative to a folder of runs, and its bytes."""
    try:
        with _Bounded(archive) as bounded, tarfile.open(fileobj=bounded, mode="r:") as tar:
            for entry in tar:
                # A small sparse file could fill the memory when it is read.
                regular = entry.isreg() and not entry.issparse() and NAME.fullmatch(entry.name)
                file = tar.extractfile(entry) if regular else None
                if file is None:
                    raise UserError(f"{archive}: {entry.name!r} is not the record of a run")
                name, content = entry.name, file.read()
                if place_of is not None:
                    record = parse_record(content.decode(errors="replace"), f"{archive}: {name}")
                    name = f"{place_of(record).stem}/{RECORD}"
                yield name, content
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
        raise UserError(f"{archive}: not an archive of records: {error}") from error


def publish(source: Path, files: Iterable[Path], target: Path) -> None:
    """Copy `files` of the folder `source` to the same paths in `target`."""
    for path in files:
        with replacing(target / path.relative_to(source)) as temporary:
            shutil.copyfile(path, temporary)
