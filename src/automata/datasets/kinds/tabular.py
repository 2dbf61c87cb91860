"""Tables: columns of mean 0 and standard deviation 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from automata.datasets.prepared import SPLITS, Split
from automata.datasets.raw import Numbers, RawSplits


def tensors(raw: RawSplits[Numbers]) -> tuple[dict[str, Split], dict[str, Any]]:
    """Return the splits of `raw` by name, inputs (n, features) float32, and facts for the record.

    Every split is scaled by the mean and standard deviation of the training split.
    """
    mean, scale = standardisation(raw.train.inputs)
    splits = {
        name: Split(
            torch.from_numpy(standardised(rows.inputs, mean, scale)),
            torch.from_numpy(rows.labels.astype(np.int64)),
        )
        for name in SPLITS
        for rows in [getattr(raw, name)]
    }
    return splits, {"standardised": "by mean and standard deviation of the training split"}


def encoding(raw: RawSplits[Numbers]) -> dict[str, Any]:
    """Return what `standardised` needs, as plain values."""
    mean, scale = standardisation(raw.train.inputs)
    return {"mean": mean.tolist(), "scale": scale.tolist()}


def standardisation(features: Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation per column of `features` (n, d), both (d,).

    A constant column gets scale 1, so that it becomes 0 and not NaN.
    """
    mean = features.mean(axis=0, dtype=np.float64)
    scale = features.std(axis=0, dtype=np.float64)
    return mean, np.where(scale > 0, scale, 1.0)


def standardised(
    features: Numbers, mean: NDArray[np.float64], scale: NDArray[np.float64]
) -> Numbers:
    """Return `features` (n, d) less the `mean`, in units of the `scale`, both (d,)."""
    return ((features - mean) / scale).astype(np.float32)
