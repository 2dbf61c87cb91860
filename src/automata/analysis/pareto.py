"""The tradeoff of speedup and error: which points are best, and how much of it they cover."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def on_front(speedups: Values, errors: Values) -> NDArray[np.bool_]:
    """Return which of n points are on the Pareto front.

    Those that no other point beats: at least as fast and at most as bad, and better in one.
    Equal points are on the front together. Any ratio where more is better may stand for the
    speedup.
    """
    faster = speedups[:, None] - speedups[None, :]  # of the row's point, over the column's
    better = errors[None, :] - errors[:, None]
    beats = (faster >= 0) & (better >= 0) & ((faster > 0) | (better > 0))
    front: NDArray[np.bool_] = ~np.any(beats, axis=0)
    return front


def hypervolume(
    speedups: Values, errors: Values, reference: tuple[float, float] | Values
) -> Values:
    """Return the area between n points and a reference point that is slower and worse.

    The area of all (x, y) with reference speedup <= x and y <= reference error that some point
    beats or equals (x <= its speedup, y >= its error), in speedups x the unit of the errors; a
    point that is slower or worse than the reference adds nothing. The points lie along the last
    axis; further axes before it, of all three arguments (the reference's last axis has length
    2), are separate problems.
    """
    corner = np.asarray(reference, dtype=np.float64)
    slowest, worst = corner[..., 0:1], corner[..., 1:2]
    order = np.argsort(speedups, axis=-1)
    fast = np.maximum(np.take_along_axis(speedups, order, axis=-1), slowest)
    bad = np.take_along_axis(errors, order, axis=-1)
    # Up to a point's speedup, the best error is that of it and of all that are faster.
    best = np.minimum.accumulate(bad[..., ::-1], axis=-1)[..., ::-1]
    start = np.broadcast_to(slowest, (*fast.shape[:-1], 1))
    widths = np.diff(fast, axis=-1, prepend=start)
    area: Values = (widths * np.maximum(worst - best, 0)).sum(axis=-1)
    return area
