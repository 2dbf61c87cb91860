"""The published searches of the study of docs/study.md."""

from __future__ import annotations

import io
import json
import lzma
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESULTS = Path("results/reference/study")
PANELS = ("optdigits", "penbased", "magic", "fashion-mlp", "fashion-convnet")
CONFIGURATIONS, SEARCHES = 27, 24
SIZES = (CONFIGURATIONS, 81, 243)
"""Configurations of a search."""

Floats = NDArray[np.float64]


def searches(size: int) -> range:
    """Return the numbers of the searches of `size` configurations."""
    return range(SEARCHES * CONFIGURATIONS // size)


@dataclass(frozen=True)
class Panel:
    """The searches of a panel; each method is compared with FULL, or with `other`."""

    name: str
    lines: dict[tuple[int, int], dict[str, Any]]
    """By size and number of the search."""

    @cached_property
    def bits(self) -> dict[str, NDArray[np.uint8]]:
        """The test rows that are right, packed: "size-number-kind" to a row for each training."""
        path = RESULTS / f"{self.name}-rows.npz.xz"
        with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as arrays:
            return dict(arrays)

    @property
    def gain(self) -> float:
        """By how many points FULL is better than the mean of all configurations."""
        whole = [self.lines[CONFIGURATIONS, number] for number in searches(CONFIGURATIONS)]
        full = np.mean([line["test_right"][line["methods"]["full"]["trial"]] for line in whole])
        every = np.mean([line["test_right"] for line in whole])
        return float(100 * (full - every) / whole[0]["test_rows"])

    def losses(self, method: str, size: int, other: str = "full") -> Floats:
        """Return 1 if `other` alone is right, -1 if `method` alone is: (searches, test rows)."""
        one, two = ([self.right(it, size, k) for k in searches(size)] for it in (other, method))
        return np.array(one) - np.array(two)

    def points(self, method: str, size: int, other: str = "full") -> Floats:
        """Return how many points of test accuracy a method loses in each search."""
        losses = self.losses(method, size, other)
        return np.asarray(100 * losses.sum(axis=1) / losses.shape[1])

    def speedup(self, method: str, size: int, other: str = "full", by: str = "samples") -> float:
        """Return by which factor `other` takes more, by `samples` or `cpu_seconds`."""
        taken = [self.lines[size, number]["methods"] for number in searches(size)]
        return float(sum(it[other][by] for it in taken) / sum(it[method][by] for it in taken))

    def right(self, method: str, size: int, number: int) -> Floats:
        """Return for each test row 1 if the choice of a method is right, else 0."""
        line = self.lines[size, number]
        choice, kind = line["methods"][method], "full"
        place = choice["trial"]
        if choice["fresh"]:
            kind, place = "fresh", sorted(map(int, line["fresh_test_right"])).index(place)
        else:
            member, place = divmod(place, CONFIGURATIONS)
            size, number = CONFIGURATIONS, number * (size // CONFIGURATIONS) + member
        bits = self.bits[f"{size}-{number}-{kind}"][place]
        return np.unpackbits(bits, count=line["test_rows"]).astype(np.float64)


def read(name: str) -> Panel:
    """Return the searches of a panel."""
    text = lzma.decompress((RESULTS / f"{name}.jsonl.xz").read_bytes()).decode()
    lines = map(json.loads, text.splitlines())
    return Panel(name, {(line["size"], line["number"]): line for line in lines})
