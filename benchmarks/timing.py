"""Timing on a busy machine: interleaved rounds, medians, ratios within a round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median

import torch
from threadpoolctl import threadpool_limits

Seconds = dict[str, list[float]]
"""Name of a contender -> its seconds in each round."""


@contextmanager
def fixed_threads(threads: int) -> Iterator[None]:
    """Limit torch and every BLAS of this process to `threads` during the body."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> Seconds:
    """Time every contender once a round, in turn, after a warm-up round.

    Other work of the machine slows the contenders of a round alike.
    """
    seconds: Seconds = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, run in contenders.items():
            elapsed = stopwatch(run)
            if number:
                seconds[name].append(elapsed)
    return seconds


def stopwatch(run: Callable[[], object]) -> float:
    """Return the wall seconds of `run`, with its work on the GPU."""
    _wait()
    start = time.perf_counter()
    run()
    _wait()
    return time.perf_counter() - start


def ratio(numerator: Sequence[float], denominator: Sequence[float]) -> float:
    """Return the median of the ratios within each round."""
    return median(a / b for a, b in zip(numerator, denominator, strict=True))


def _wait() -> None:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
