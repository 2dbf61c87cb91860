"""Archives of published records."""

from __future__ import annotations

import lzma
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from automata.errors import UserError
from automata.files import replacing
from automata.records.paths import DEPTH, RECORD, place_of
from automata.records.record import REMEDY, Record, parse_as

NAME = re.compile(rf"(?:(?!\.)[^/\0]+/){{{DEPTH - 1}}}{re.escape(RECORD)}")
"""Name of a record in an archive; it cannot lead out of the folder."""

PRESET = 9 | lzma.PRESET_EXTREME
"""The strongest: packing a thousand records takes a minute, but every clone has the file."""

MOST_BYTES = 64 * 2**20
"""Size limit of an entry of an archive; a record has less than a megabyte."""


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


def unpack(archives: Iterable[Path], folder: Path, as_named: bool = False) -> None:
    """Write the records in `archives` to `folder`, after all of them were checked.

    A record gets the path of its run, or `as_named` its path in the archive. Raises UserError if a
    file is not an archive of records alone, if a run is in the archives twice, or if `folder` has a
    different record of a run.
    """
    origins: dict[str, Path] = {}
    for archive in archives:
        for name, content in _records(archive, as_named):
            if name in origins:
                where = "twice in it" if origins[name] == archive else f"also in {origins[name]}"
                raise UserError(f"{archive}: {name} is {where}")
            if (path := folder / name).exists() and path.read_bytes() != content:
                raise UserError(f"{archive}: {path} exists already, with other content")
            origins[name] = archive
    for archive in dict.fromkeys(origins.values()):
        for name, content in _records(archive, as_named):
            with replacing(folder / name) as temporary:
                temporary.write_bytes(content)


def _records(archive: Path, as_named: bool) -> Iterator[tuple[str, bytes]]:
    """Yield the path of each record in `archive`, relative to a folder of runs, and its bytes."""
    try:
        with _Bounded(archive) as bounded, tarfile.open(fileobj=bounded, mode="r:") as tar:
            for entry in tar:
                # A small sparse file could fill the memory when it is read.
                regular = entry.isreg() and not entry.issparse() and NAME.fullmatch(entry.name)
                file = tar.extractfile(entry) if regular and entry.name.isprintable() else None
                if file is None:
                    raise UserError(f"{archive}: {entry.name!r} is not the record of a run")
                name, content = entry.name, file.read()
                if not as_named:
                    text = content.decode(errors="replace")
                    record = parse_as(Record, text, f"{archive}: {name}", REMEDY)
                    name = f"{place_of(record.job).stem}/{RECORD}"
                yield name, content
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
        raise UserError(f"{archive}: not an archive of records: {error}") from error
