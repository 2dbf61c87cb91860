"""A data set as its source has it, before scaling, vocabulary and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=Sequence[Any] | NDArray[Any])

SPLIT_SEED = 42
"""Seed of all random splits."""

Numbers = NDArray[np.floating]  # rows of a table (n, d)
Tokens = list[list[str]]  # the words of each text
Images = NDArray[np.uint8]  # (n, channels, height, width), 0 to 255


@dataclass(frozen=True)
class Rows(Generic[T]):
    """Rows of one split: n `inputs`, and `labels` (n,) int64, from 0."""

    inputs: T
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, rows: NDArray[np.int64]) -> Rows[T]:
        """Return the rows with these numbers, in this order."""
        inputs = self.inputs
        chosen = inputs[rows] if isinstance(inputs, np.ndarray) else [inputs[i] for i in rows]
        return Rows(chosen, self.labels[rows])  # type: ignore[arg-type]


@dataclass(frozen=True)
class RawSplits(Generic[T]):
    """The splits of one data set."""

    train: Rows[T]
    validation: Rows[T]
    test: Rows[T]
    classes: list[str]
    """Name of each label."""
    source: str
    """The origin of the rows, for the record."""
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file that was read, by file name."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Further facts for the record, as plain JSON values."""
    encoding: dict[str, Any] = field(default_factory=dict)
    """How `inputs` come from a user's files, as plain JSON values."""


def split_rows(rows: int, *sizes: int) -> list[NDArray[np.int64]]:
    """Return random row numbers in parts of these sizes, then the rest.

    The seed is fixed, so the same arguments always give the same parts.
    """
    order = np.random.default_rng(SPLIT_SEED).permutation(rows)
    return np.split(order, np.cumsum(sizes))
