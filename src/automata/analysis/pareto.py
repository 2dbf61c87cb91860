"""The front of speedup and error: what nothing else beats, and how much a set of points covers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def on_front(speedups: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of the n points are on the front: (n,).

    A point is off it where another one is at least as fast and at most as bad, and better in one
    of the two. Equal points are on it together.
    """
    faster_or_equal = speedups[:, None] >= speedups[None, :]
    better_or_equal = errors[:, None] <= errors[None, :]
    differs = (speedups[:, None] != speedups[None, :]) | (errors[:, None] != errors[None, :])
    dominated: NDArray[np.bool_] = (faster_or_equal & better_or_equal & differs).any(axis=0)
    return ~dominated


def hypervolume(
    speedups: NDArray[np.float64], errors: NDArray[np.float64], reference: tuple[float, float]
) -> float:
    """Return the area that points cover of what is faster and less wrong than `reference`.

    `reference` is (speedup, error); the unit is that of the two axes' product. Points slower or
    worse than the reference cover nothing.
    """
    slowest, worst = reference
    inside = errors < worst
    area, covered = 0.0, slowest
    # From the least error to the largest: each point adds what it is faster than those before.
    for error, speedup in sorted(zip(errors[inside], speedups[inside], strict=True)):
        if speedup > covered:
            area += float((speedup - covered) * (worst - error))
            covered = speedup
    return area
