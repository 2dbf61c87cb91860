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
"""Size limit of a record in an archive; records have less than a megabyte."""

NAME = re.compile(rf"(?:(?!\.)[^/\0]+/){{{DEPTH - 1}}}{re.escape(RECORD)}")
"""Name of a record in an archive; it cannot lead out of the folder."""


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
    found: dict[Path, tuple[Path, bytes]] = {}
    for archive in archives:
        for name, content in _records(archive):
            path = folder / name
            if place_of is not None:
                record = parse_record(content.decode(errors="replace"), f"{archive}: {name}")
                path = folder / place_of(record).stem / RECORD
            if path in found:
                raise UserError(f"{archive}: {name}: its run is also in {found[path][0]}")
            if path.exists() and path.read_bytes() != content:
                raise UserError(f"{archive}: {path} exists already, with other content")
            found[path] = archive, content
    for path, (_, content) in found.items():
        with replacing(path) as temporary:
            temporary.write_bytes(content)


def _records(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each entry of `archive`."""
    try:
        with lzma.open(archive) as file, tarfile.open(fileobj=file, mode="r:") as tar:
            for entry in tar:
                content = tar.extractfile(entry) if entry.isreg() else None
                if content is None or not NAME.fullmatch(entry.name):
                    raise UserError(f"{archive}: {entry.name!r} is not the record of a run")
                if entry.size > MOST_BYTES:  # a small sparse or compressed file may be one
                    raise UserError(f"{archive}: {entry.name}: larger than {MOST_BYTES} bytes")
                yield entry.name, content.read()
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
        raise UserError(f"{archive}: not an archive of records: {error}") from error


def publish(source: Path, files: Iterable[Path], target: Path) -> None:
    """Copy `files` of the folder `source` to the same paths in `target`."""
    for path in files:
        with replacing(target / path.relative_to(source)) as temporary:
            shutil.copyfile(path, temporary)
