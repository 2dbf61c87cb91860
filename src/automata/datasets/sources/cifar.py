"""CIFAR-10 and CIFAR-100, from their archives of Python pickles."""

from __future__ import annotations

import pickle
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automata.datasets.raw import Images, RawSplits, Rows, split_rows
from automata.datasets.sources import Source
from automata.errors import UserError


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
    ),
    "cifar100": _Archive(
        file="cifar-100-python.tar.gz",
        folder="cifar-100-python",
        train=("train",),
        test=("test",),
        meta="meta",
        labels=b"fine_labels",
        names=b"fine_label_names",
    ),
}


def load(source: Source) -> RawSplits[Images]:
    """Return "cifar10" or "cifar100" (with its fine labels), uint8 images (n, 3, 32, 32).

    A tenth of the training rows, drawn with a fixed seed, are the validation rows.

    Raises UserError if a pickle holds anything but numpy arrays and plain values: an archive is
    data, and nothing in it is run.
    """
    archive = ARCHIVES[source.name]
    batches = _batches(source.paths[archive.file], archive)
    known = _rows(archive, [batches[member] for member in archive.train])
    validation, train = split_rows(len(known), round(0.1 * len(known)))
    return RawSplits(
        train=known[train],
        validation=known[validation],
        test=_rows(archive, [batches[member] for member in archive.test]),
        classes=[name.decode("ascii") for name in batches[archive.meta][archive.names]],
        source=f"A. Krizhevsky, University of Toronto, {archive.file}",
        files=dict(source.checksums),
    )


def _batches(path: Path, archive: _Archive) -> dict[str, dict[bytes, Any]]:
    """Return the dictionaries of the archive, by member; nothing is extracted."""
    wanted = {f"{archive.folder}/{name}": name for name in archive.members}
    found = {}
    with tarfile.open(path, "r:gz") as tar:
        for entry in tar:  # in their order, as the archive is compressed
            content = tar.extractfile(entry) if entry.name in wanted else None
            if content is not None:
                found[wanted[entry.name]] = _ArraysOnly(content, encoding="bytes").load()
    return found


def _rows(archive: _Archive, batches: list[dict[bytes, Any]]) -> Rows[Images]:
    """Return the rows of these members, one after the other."""
    images = np.concatenate([batch[b"data"].values for batch in batches])
    labels = np.concatenate([batch[archive.labels] for batch in batches])
    return Rows(images.reshape(-1, 3, 32, 32), labels.astype(np.int64))


class _Dtype:
    """Stands in for numpy.dtype, whose own state could make numpy take bytes for pointers."""

    def __init__(self, *_: object) -> None:
        pass

    def __setstate__(self, _: object) -> None:
        """Ignore byte order and alignment: a single byte has none."""


class _Array:
    """Stands in for numpy.ndarray and for the function that pickles make one with."""

    def __init__(self, *_: object) -> None:
        self.values: NDArray[np.uint8]

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Take an array's version, shape, type, order and bytes; the oldest have no version."""
        *_, shape, _, fortran, content = state
        self.values = np.frombuffer(content, np.uint8).reshape(shape, order="F" if fortran else "C")


_ALLOWED: dict[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
}


class _ArraysOnly(pickle.Unpickler):
    """Unpickles what Python 2 wrote, if it needs nothing but what an array is made of."""

    def find_class(self, module: str, name: str) -> type:
        """Return what stands in for an allowed global; raise UserError for any other."""
        if (module, name) not in _ALLOWED:
            raise UserError(
                f"CIFAR: expected pickles of numpy arrays and plain values, found: a call of "
                f"{module}.{name}"
            )
        return _ALLOWED[module, name]
