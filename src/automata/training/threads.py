"""Threads of a process, and numbers close to zero."""

from __future__ import annotations

import os

import torch
from threadpoolctl import threadpool_limits


def limit_threads(count: int) -> None:
    """Let torch, and the BLAS of NumPy and SciPy, compute with `count` threads.

    torch treats numbers below 1e-38 as zero: Adam's squared gradients become as small, and
    processors compute slowly with them (satimage: 7 % of an epoch).
    """
    torch.set_num_threads(count)
    torch.set_flush_denormal(True)
    threadpool_limits(count)
    os.environ["OPENBLAS_NUM_THREADS"] = str(count)  # for a library that is loaded later
