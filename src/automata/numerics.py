"""What decides the last digits of a number: libraries, their threads and their switches."""

from __future__ import annotations

import os
from typing import Any

import torch
from threadpoolctl import threadpool_info

ENVIRONMENT = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "PYTHONHASHSEED",
)
"""Variables that decide results or threads."""

BLAS = ("internal_api", "version", "threading_layer", "architecture", "num_threads")
"""What is kept of NumPy's and SciPy's libraries; torch brings its own."""


def numerics() -> dict[str, Any]:
    """Return the settings of this thread and process as plain JSON values.

    Ask after `limit_threads` and `choose_device`: the trials of a search set the same.
    """
    return {
        "blas": [
            {key: library.get(key) for key in BLAS}
            for library in sorted(threadpool_info(), key=str)
            if library["user_api"] == "blas"
        ],
        "torch": {
            "num_threads": torch.get_num_threads(),
            "num_interop_threads": torch.get_num_interop_threads(),
            "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "flush_denormal": torch.tensor(1e-39).mul(1.0).item() == 0,
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "matmul_precision": torch.get_float32_matmul_precision(),
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
            "cudnn_deterministic": torch.backends.cudnn.deterministic,
            "cudnn_benchmark": torch.backends.cudnn.benchmark,
            "tf32_matmul": torch.backends.cuda.matmul.allow_tf32,
            "tf32_cudnn": torch.backends.cudnn.allow_tf32,
        },
        "environment": {name: os.environ.get(name) for name in ENVIRONMENT},
    }
