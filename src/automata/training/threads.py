"""The threads that a process computes with."""

from __future__ import annotations

import os

import torch
from threadpoolctl import threadpool_limits


def limit_threads(count: int) -> None:
    """Let this process compute with `count` threads: torch, and NumPy's and SciPy's BLAS."""
    torch.set_num_threads(count)
    threadpool_limits(count)
    os.environ["OPENBLAS_NUM_THREADS"] = str(count)  # of a library that is loaded later
