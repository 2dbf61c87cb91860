"""How a process computes: its threads, and numbers next to zero."""

from __future__ import annotations

import os

import torch
from threadpoolctl import threadpool_limits


def limit_threads(count: int) -> None:
    """Let this thread compute with `count` threads: torch, and NumPy's and SciPy's BLAS.

    They take numbers below 1e-38 for zero: Adam's squares of gradients fall there, and
    processors are slow with them (satimage: 7 % of an epoch).
    """
    torch.set_num_threads(count)
    torch.set_flush_denormal(True)
    threadpool_limits(count)
    os.environ["OPENBLAS_NUM_THREADS"] = str(count)  # of a library that is loaded later
