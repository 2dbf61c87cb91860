"""Copies of dna, satimage and letter that travel with the code (origin: PROVENANCE.md).

They hold the rows of LIBSVM's files before LIBSVM's scaling, in the order of those files. For dna
and letter the first training rows are LIBSVM's .tr and the rest its .val. satimage has the order
of the undivided satimage.scale, so its split is drawn here, with a fixed seed and LIBSVM's sizes.
"""

from __future__ import annotations

from importlib import resources

import numpy as np
from numpy.typing import NDArray

from automata.datasets.raw import Numbers, RawSplits, Rows, split_rows
from automata.datasets.sources import Source

TRAIN_ROWS = {"dna": 1400, "satimage": 3104, "letter": 10500}


def load_packaged(source: Source) -> RawSplits[Numbers]:
    """Return the splits of "dna", "satimage" or "letter": features as in the source, unscaled.

    Raises KeyError for any other name.
    """
    name = source.name
    train_rows = TRAIN_ROWS[name]
    arrays = _read(name)
    rows = _rows(arrays["features"], arrays["labels"])
    if name == "satimage":
        rows = rows[np.concatenate(split_rows(len(rows), train_rows))]
    order = np.arange(len(rows))
    return RawSplits(
        train=rows[order[:train_rows]],
        validation=rows[order[train_rows:]],
        test=_rows(arrays["test_features"], arrays["test_labels"]),
        classes=[str(label) for label in np.unique(rows.labels)],
        source="packaged",
    )


def _rows(features: NDArray[np.uint8], labels: NDArray[np.uint8]) -> Rows[Numbers]:
    return Rows(features.astype(np.float32), labels.astype(np.int64))


def _read(name: str) -> dict[str, NDArray[np.uint8]]:
    """Return the stored arrays: features (n, d), labels (n,), test_features and test_labels."""
    with (
        resources.files(__name__).joinpath(f"{name}.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as stored,
    ):
        return dict(stored)
