"""Street View House Numbers: cropped digits in MATLAB files."""

from __future__ import annotations

import numpy as np
from scipy.io import loadmat

from automata.datasets.raw import Images, RawSplits, Rows, split_rows
from automata.datasets.sources import Source

TRAIN, TEST = "train_32x32.mat", "test_32x32.mat"
CLASSES = [str(digit) for digit in range(10)]


def load(source: Source) -> RawSplits[Images]:
    """Return SVHN's cropped digits, uint8 images (n, 3, 32, 32); labels are the digits.

    A tenth of the training rows (rounded down), drawn with a fixed seed, are the validation rows.
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
    """Return the digits of one file, in its order: `X` (32, 32, 3, n) and `y` (n, 1)."""
    stored = loadmat(source.paths[name], variable_names=["X", "y"])
    # The files call the digit 0 "10", as MATLAB counts from 1.
    digits = stored["y"][:, 0].astype(np.int64) % 10
    return Rows(np.ascontiguousarray(stored["X"].transpose(3, 2, 0, 1)), digits)
