"""CIFAR-10 and CIFAR-100, from their archives of Python pickles."""

from __future__ import annotations

import io
import pickle
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automata.datasets.raw import Images, RawSplits, Rows, split_rows
from automata.datasets.sources import Source
from automata.errors import UserError

PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class _Archive:
    """Where an archive has what."""

    file: str
    folder: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    meta: str
    labels: bytes
    names: bytes
    classes: int

    @property
    def members(self) -> list[str]:
        return [*self.train, *self.test, self.meta]


ARCHIVES = {
    "cifar10": _Archive(
        file="cifar-10-python.tar.gz",
        folder="cifar-10-batches-py",
        train=tuple(f"data_batch_{number}" for number in range(1, 6)),
        test=("test_batch",),
        meta="batches.meta",
        labels=b"labels",
        names=b"label_names",
        classes=10,
    ),
    "cifar100": _Archive(
        file="cifar-100-python.tar.gz",
        folder="cifar-100-python",
        train=("train",),
        test=("test",),
        meta="meta",
        labels=b"fine_labels",
        names=b"fine_label_names",
        classes=100,
    ),
}


def load(source: Source) -> RawSplits[Images]:
    """Return "cifar10" or "cifar100" (with its fine labels), uint8 images (n, 3, 32, 32).

    A tenth of the training rows, drawn with a fixed seed, are the validation rows.

    Raises UserError if the archive is incomplete, or a pickle holds anything but numpy arrays and
    plain values: an archive is data, and nothing in it is run.
    """
    archive = ARCHIVES[source.name]
    reader = _Reader(source, archive)
    batches = reader.batches()
    known = reader.rows(archive.train, batches)
    validation, train = split_rows(len(known), round(0.1 * len(known)))
    return RawSplits(
        train=known[train],
        validation=known[validation],
        test=reader.rows(archive.test, batches),
        classes=reader.classes(batches),
        source=f"A. Krizhevsky, University of Toronto, {archive.file}",
        files=dict(source.checksums),
    )


@dataclass(frozen=True)
class _Reader:
    """Reads one archive; every error names it."""

    source: Source
    archive: _Archive

    def batches(self) -> dict[str, dict[bytes, Any]]:
        """Return the dictionaries of the archive, by member."""
        found = {name: self._unpickled(name, data) for name, data in self._members().items()}
        missing = [name for name in self.archive.members if name not in found]
        if missing:
            raise self._malformed(missing[0], "no such member")
        return found

    def rows(self, members: tuple[str, ...], batches: dict[str, dict[bytes, Any]]) -> Rows[Images]:
        """Return the rows of these members, one after the other."""
        parts = [self._part(member, batches[member]) for member in members]
        images = np.concatenate([part.inputs for part in parts])
        return Rows(images, np.concatenate([part.labels for part in parts]))

    def classes(self, batches: dict[str, dict[bytes, Any]]) -> list[str]:
        """Return the names of the classes, by label."""
        member, expected = self.archive.meta, self.archive.classes
        names = batches[member].get(self.archive.names)
        if not isinstance(names, list) or not all(isinstance(name, bytes) for name in names):
            raise self._malformed(member, f"no list {self.archive.names.decode()}")
        if len(names) != expected:
            raise self._malformed(member, f"{len(names)} names, not {expected}")
        return [name.decode("ascii", errors="replace") for name in names]

    def _part(self, member: str, batch: dict[bytes, Any]) -> Rows[Images]:
        """Return the rows of one member."""
        stored, labels = batch.get(b"data"), batch.get(self.archive.labels)
        if not isinstance(stored, _Array) or stored.values is None:
            raise self._malformed(member, "no array 'data'")
        data = stored.values
        if data.ndim != 2 or data.shape[1] != PIXELS:
            raise self._malformed(member, f"data with shape {data.shape}, not (n, {PIXELS})")
        if not isinstance(labels, list) or len(labels) != len(data):
            raise self._malformed(member, f"no {self.archive.labels.decode()} for {len(data)} rows")
        if any(label not in range(self.archive.classes) for label in labels):
            raise self._malformed(member, f"labels beyond 0 to {self.archive.classes - 1}")
        return Rows(data.reshape(-1, 3, 32, 32), np.array(labels, dtype=np.int64))

    def _members(self) -> dict[str, bytes]:
        """Return the bytes of the members, by name without folder; nothing is extracted."""
        wanted = {f"{self.archive.folder}/{name}": name for name in self.archive.members}
        found = {}
        try:
            with tarfile.open(self.source.paths[self.archive.file], "r:gz") as tar:
                for entry in tar:
                    # Only a plain file: a link could point out of the archive.
                    if entry.isreg() and entry.name in wanted:
                        content = tar.extractfile(entry)
                        assert content is not None  # true of every plain file
                        found[wanted[entry.name]] = content.read()
        except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
            raise self._malformed(None, str(error)) from error
        return found

    def _unpickled(self, member: str, data: bytes) -> dict[bytes, Any]:
        """Return the dictionary in `data`."""
        unpickler = _ArraysOnly(data, lambda name: self._malformed(member, f"a call of {name}"))
        try:
            batch = unpickler.load()
        except _NOT_A_PICKLE as error:
            raise self._malformed(member, f"no pickle ({error})") from error
        if not isinstance(batch, dict):
            raise self._malformed(member, f"{type(batch).__name__}, not dict")
        return batch

    def _malformed(self, member: str | None, found: str) -> UserError:
        path = self.source.paths[self.archive.file]
        place = f", {self.archive.folder}/{member}" if member else ""
        text = (
            f"{self.source.name}: {path}{place}: expected a tar.gz archive whose pickles hold "
            f"numpy arrays and plain values, found: {found}"
        )
        return UserError(" ".join(text.split()))


# What the standard library and numpy raise for bytes that only begin like a pickle.
_NOT_A_PICKLE = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    MemoryError,
    OverflowError,
    TypeError,
    ValueError,
)


class _Dtype:
    """Stands in for numpy.dtype, whose own state could make numpy take bytes for pointers."""

    def __init__(self, code: bytes | str, *_: object) -> None:
        self.code = code

    def __setstate__(self, _: object) -> None:
        """Ignore byte order and alignment: a single byte has none."""


class _Array:
    """Stands in for numpy.ndarray and for the function that pickles make one with."""

    def __init__(self, *_: object) -> None:
        self.values: NDArray[np.uint8] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Take an array's version, shape, type, order and bytes; the oldest have no version."""
        *_, shape, dtype, fortran, content = state
        if not isinstance(dtype, _Dtype) or dtype.code not in (b"u1", "u1"):
            raise pickle.UnpicklingError("an array of another type than uint8")
        self.values = np.frombuffer(content, np.uint8).reshape(shape, order="F" if fortran else "C")


_ALLOWED: dict[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
}


class _ArraysOnly(pickle.Unpickler):
    """Unpickles what Python 2 wrote, if it needs nothing but what an array is made of."""

    def __init__(self, data: bytes, refusal: Callable[[str], UserError]) -> None:
        super().__init__(io.BytesIO(data), encoding="bytes")
        self._refusal = refusal

    def find_class(self, module: str, name: str) -> type:
        """Return what stands in for an allowed global; raise UserError for any other."""
        if (module, name) not in _ALLOWED:
            raise self._refusal(f"{module}.{name}")
        return _ALLOWED[module, name]
