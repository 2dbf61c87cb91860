"""From raw splits to the prepared form: checked, standardised, as tensors."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from automata.datasets.catalog import DATASETS, DatasetSpec
from automata.datasets.packaged import RawSplits, load_packaged
from automata.datasets.prepared import Dataset, Split
from automata.errors import UserError


def prepare(name: str) -> Dataset:
    """Return the data set `name` of the catalog, ready for training.

    Raises UserError for another name, or when a count is not what the paper's tables give.
    """
    if name not in DATASETS:
        raise UserError(f"dataset '{name}' is not one of {', '.join(DATASETS)}")
    spec = DATASETS[name]
    raw = load_packaged(name)
    check_counts(name, raw, spec)
    mean, scale = standardisation(raw.train_features)
    splits = {
        "train": _split(raw.train_features, raw.train_labels, mean, scale),
        "validation": _split(raw.validation_features, raw.validation_labels, mean, scale),
        "test": _split(raw.test_features, raw.test_labels, mean, scale),
    }
    metadata = {
        "source": "packaged",
        "standardised": "by mean and standard deviation of the training split",
        "counts": {split: len(rows) for split, rows in splits.items()},
    }
    return Dataset(name, spec.kind, spec.classes, metadata=metadata, **splits)


def check_counts(name: str, raw: RawSplits, spec: DatasetSpec) -> None:
    """Raise UserError when rows, features or classes of `raw` differ from `spec`."""
    labels = np.concatenate([raw.train_labels, raw.validation_labels, raw.test_labels])
    found = {
        "train": len(raw.train_labels),
        "validation": len(raw.validation_labels),
        "test": len(raw.test_labels),
        "features": raw.train_features.shape[1],
        "classes": len(np.unique(labels)),
    }
    for key, count in found.items():
        expected = getattr(spec, key)
        if count != expected:
            raise UserError(f"dataset {name}: {key}: expected {expected}, found {count}")


def standardisation(
    features: NDArray[np.float32],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation per column of `features` (n, d), both (d,).

    A constant column gets scale 1, so that it becomes 0 and not NaN.
    """
    mean = features.mean(axis=0, dtype=np.float64)
    scale = features.std(axis=0, dtype=np.float64)
    return mean, np.where(scale > 0, scale, 1.0)


def _split(
    features: NDArray[np.float32],
    labels: NDArray[np.int64],
    mean: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> Split:
    inputs = ((features - mean) / scale).astype(np.float32)
    return Split(torch.from_numpy(inputs), torch.from_numpy(labels.astype(np.int64)))
