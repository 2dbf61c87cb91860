"""Timing that a busy machine disturbs little: interleaved rounds, medians, paired ratios."""

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
    """Give torch and every BLAS of this process so many threads in the body."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with threadpool_limits(threads):
            yield
    finally:
        torch.set_num_threads(before)


def interleaved(contenders: Mapping[str, Callable[[], object]], rounds: int) -> Seconds:
    """Time every contender once a round, in turn, after a round that does not count.

    What slows the machine down for a while slows the neighbours of a round down alike, so that
    their ratio is worth more than that of two separate series.
    """
    seconds: Seconds = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, run in contenders.items():
            elapsed = stopwatch(run)
            if number:
                seconds[name].append(elapsed)
    return seconds


def stopwatch(run: Callable[[], object]) -> float:
    """Return the wall seconds of `run`, the work on the GPU included."""
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
