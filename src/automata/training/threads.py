"""Settings of a process that trains: its threads, and tiny numbers as zero."""

from __future__ import annotations

import os

import torch
from threadpoolctl import threadpool_limits


def limit_threads(count: int) -> None:
    """Limit torch and the BLAS of NumPy and SciPy to `count` threads.

    torch then also treats numbers below 1e-38 as zero. Adam's squared gradients become so small,
    and processors compute slowly with them (satimage: 7 % of an epoch).
    """
    torch.set_num_threads(count)
    torch.set_flush_denormal(True)
    threadpool_limits(count)
    os.environ["OPENBLAS_NUM_THREADS"] = str(count)  # for a library that is loaded later
