"""Copies of dna, satimage and letter that travel with the code (origin: PROVENANCE.md).

They hold the rows of LIBSVM's files before LIBSVM's scaling, in the order of those files. For dna
and letter the first training rows are LIBSVM's .tr and the rest its .val. satimage has the order
of the undivided satimage.scale, so its split is drawn here, with a fixed seed and LIBSVM's sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

SPLIT_SEED = 42
TRAIN_ROWS = {"dna": 1400, "satimage": 3104, "letter": 10500}


@dataclass(frozen=True)
class RawSplits:
    """Unscaled rows of one data set, n rows of d features in each split.

    Features are float32 (n, d) and hold the source's integers; labels are int64 (n,), from 0.
    """

    train_features: NDArray[np.float32]
    train_labels: NDArray[np.int64]
    validation_features: NDArray[np.float32]
    validation_labels: NDArray[np.int64]
    test_features: NDArray[np.float32]
    test_labels: NDArray[np.int64]


def split_rows(rows: int, train_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw satimage's row numbers of train (train_rows,) and validation (rows - train_rows,).

    The same arguments always give the same split.
    """
    order = np.random.default_rng(SPLIT_SEED).permutation(rows)
    return order[:train_rows], order[train_rows:]


def load_packaged(name: str) -> RawSplits:
    """Return the splits of "dna", "satimage" or "letter".

    Raises KeyError for any other name.
    """
    train_rows = TRAIN_ROWS[name]
    arrays = _read(name)
    features = arrays["features"].astype(np.float32)
    labels = arrays["labels"].astype(np.int64)
    if name == "satimage":
        order = np.concatenate(split_rows(len(labels), train_rows))
        features, labels = features[order], labels[order]
    return RawSplits(
        train_features=features[:train_rows],
        train_labels=labels[:train_rows],
        validation_features=features[train_rows:],
        validation_labels=labels[train_rows:],
        test_features=arrays["test_features"].astype(np.float32),
        test_labels=arrays["test_labels"].astype(np.int64),
    )


def _read(name: str) -> dict[str, NDArray[np.uint8]]:
    """Return the stored arrays: features (n, d), labels (n,), test_features and test_labels."""
    with (
        resources.files(__name__).joinpath(f"{name}.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        return dict(stored)
