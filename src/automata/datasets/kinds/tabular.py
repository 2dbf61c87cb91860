"""Tables: columns of mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from automata.datasets.prepared import SPLITS, Split
from automata.datasets.raw import Numbers, RawSplits, Rows


def tensors(raw: RawSplits[Numbers]) -> tuple[dict[str, Split], dict[str, Any]]:
    """Return the splits of `raw` by name, inputs (n, features) float32, and facts for the record.

    Every split is scaled by the mean and standard deviation of the training split.
    """
    mean, scale = standardisation(raw.train.inputs)
    splits = {name: _split(getattr(raw, name), mean, scale) for name in SPLITS}
    return splits, {"standardised": "by mean and standard deviation of the training split"}


def standardisation(features: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation per column of `features` (n, d), both (d,).

    A constant column gets scale 1, so that it becomes 0 and not NaN.
    """
    mean = features.mean(axis=0, dtype=np.float64)
    scale = features.std(axis=0, dtype=np.float64)
    return mean, np.where(scale > 0, scale, 1.0)


def _split(rows: Rows[Numbers], mean: NDArray[np.float64], scale: NDArray[np.float64]) -> Split:
    inputs = ((rows.inputs - mean) / scale).astype(np.float32)
    return Split(torch.from_numpy(inputs), torch.from_numpy(rows.labels.astype(np.int64)))
