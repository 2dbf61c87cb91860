"""Records in one compressed file: what is published of an experiment, and drawn again from."""

from __future__ import annotations

import lzma
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from automata.errors import UserError
from automata.files import replacing

DEPTH = 5
"""Parts of a record's path that say which run it is: dataset, search-scheduler, and so on."""


PRESET = 9 | lzma.PRESET_EXTREME
"""Minutes for a thousand records, which are packed once and then carried by every clone."""


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


def unpack(archives: Iterable[Path], folder: Path) -> None:
    """Write the records in `archives` to `folder`.

    Raises UserError for a file that is no such archive, for one with anything but records in
    it, and for a run that is in it twice, or in two of them.
    """
    for archive in archives:
        try:
            with tarfile.open(archive, "r:xz") as tar:
                for entry in tar:
                    _unpack(tar, entry, folder, archive)
        except (OSError, EOFError, tarfile.TarError, lzma.LZMAError) as error:
            raise UserError(f"{archive}: not an archive of records: {error}") from error


def _unpack(tar: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path, archive: Path) -> None:
    parts = PurePosixPath(entry.name).parts
    if not entry.isreg() or len(parts) != DEPTH or parts[-1] != "record.json":
        raise UserError(f"{archive}: {entry.name!r} is not the record of a run")
    if folder.joinpath(*parts).exists():
        raise UserError(f"{archive}: {entry.name} is in it twice, or in another archive too")
    tar.extract(entry, folder, set_attrs=False, filter="data")


def publish(source: Path, files: Iterable[Path], target: Path) -> None:
    """Copy `files`, which lie in the folder `source`, to the same places in `target`."""
    for path in files:
        with replacing(target / path.relative_to(source)) as temporary:
            shutil.copyfile(path, temporary)
