"""Images: bytes, and the mean and scale that models see them by."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from automata.datasets.prepared import SPLITS, Normalisation, Split
from automata.datasets.raw import Images, RawSplits, Rows

CHUNK = 4096
"""Images that are counted at a time, which bounds the memory for it."""


def tensors(raw: RawSplits[Images]) -> tuple[dict[str, Split], dict[str, Tensor], dict[str, Any]]:
    """Return the splits of `raw` by name, extras, and facts for the record.

    Inputs stay (n, channels, height, width) uint8; each split carries the normalisation. Extras
    are its `mean` and `scale` (channels,) float32, of values in [0, 1] of the training split.
    """
    mean, scale = (torch.from_numpy(m.astype(np.float32)) for m in moments(raw.train.inputs))
    normalisation = Normalisation(mean, scale)
    splits = {name: _split(getattr(raw, name), normalisation) for name in SPLITS}
    facts = {"normalised": "by mean and standard deviation per channel of the training split"}
    return splits, {"mean": mean, "scale": scale}, facts


def encoding(raw: RawSplits[Images]) -> dict[str, Any]:
    """Return width and height of the images, in pixels, and their normalisation."""
    mean, scale = (m.astype(np.float32).tolist() for m in moments(raw.train.inputs))
    height, width = raw.train.inputs.shape[2:]
    return {"size": [width, height], "mean": mean, "scale": scale}


def moments(images: Images) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation per channel of `images` / 255, both (channels,).

    A constant channel gets scale 1, so that it becomes 0 and not NaN.
    """
    # There are 256 values: how often each occurs says it all, exactly.
    counts = np.zeros((images.shape[1], 256))
    for start in range(0, len(images), CHUNK):
        for channel, count in enumerate(counts):
            pixels = images[start : start + CHUNK, channel].ravel()
            count += np.bincount(pixels, minlength=256)
    weights = counts / counts.sum(axis=1, keepdims=True)
    values = np.arange(256) / 255
    mean = weights @ values
    scale = np.sqrt((weights * (values - mean[:, None]) ** 2).sum(axis=1))
    constant = (counts > 0).sum(axis=1) == 1
    return mean, np.where(constant, 1.0, scale)


def _split(rows: Rows[Images], normalisation: Normalisation) -> Split:
    # Torch wants memory that it may write to.
    inputs = torch.from_numpy(np.require(rows.inputs, requirements=["C", "W"]))
    return Split(inputs, torch.from_numpy(rows.labels.astype(np.int64)), normalisation)
