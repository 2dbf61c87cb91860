"""Street View House Numbers: cropped digits in MATLAB files."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from automata.datasets.raw import Images, RawSplits, Rows, split_rows
from automata.datasets.sources import Source
from automata.errors import UserError

TRAIN, TEST = "train_32x32.mat", "test_32x32.mat"
CLASSES = [str(digit) for digit in range(10)]


def load(source: Source) -> RawSplits[Images]:
    """Return SVHN's cropped digits, uint8 images (n, 3, 32, 32); labels are the digits.

    A tenth of the training rows (rounded down), drawn with a fixed seed, are the validation rows.

    Raises UserError if a file does not hold `X` (32, 32, 3, n) and `y` (n, 1).
    """
    known = _read(source, TRAIN)
    validation, train = split_rows(len(known), len(known) // 10)
    return RawSplits(
        train=known[train],
        validation=known[validation],
        test=_read(source, TEST),
        classes=list(CLASSES),
        source=f"Stanford UFLDL, housenumbers/{TRAIN} and {TEST}",
        files=dict(source.checksums),
    )


def _read(source: Source, name: str) -> Rows[Images]:
    """Return the digits of one file, in its order."""
    images, labels = _variables(source, name)
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[:3] != (32, 32, 3):
        raise _malformed(source, name, f"X of {images.dtype} with shape {images.shape}")
    if labels.shape != (images.shape[3], 1) or not len(labels):
        raise _malformed(source, name, f"X with shape {images.shape}, y with shape {labels.shape}")
    strange = labels[~np.isin(labels, np.arange(1, 11))]
    if len(strange):
        raise _malformed(source, name, f"label {strange[0]}")
    # The files call the digit 0 "10", as MATLAB counts from 1.
    digits = labels[:, 0].astype(np.int64) % 10
    return Rows(np.ascontiguousarray(images.transpose(3, 2, 0, 1)), digits)


def _variables(source: Source, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `X` and `y` as they are stored."""
    try:
        stored = loadmat(source.paths[name], variable_names=["X", "y"])
    except _UNREADABLE as error:
        raise _malformed(source, name, str(error)) from error
    missing = [key for key in ("X", "y") if key not in stored]
    if missing:
        raise _malformed(source, name, f"no {' and no '.join(missing)}")
    return stored["X"], stored["y"]


# What scipy raises for files that are cut off, of another version, or no MATLAB files at all.
_UNREADABLE = (
    MatReadError,
    NotImplementedError,
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    EOFError,
    OSError,
    zlib.error,
)


def _malformed(source: Source, name: str, found: str) -> UserError:
    text = (
        f"{source.name}: {source.paths[name]}: expected a MATLAB 5 file with uint8 X (32, 32, 3, n)"
        f" and labels y (n, 1) from 1 to 10, found: {found}"
    )
    return UserError(" ".join(text.split()))
