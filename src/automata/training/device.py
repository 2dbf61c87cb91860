"""The device and the threads of a job."""

from __future__ import annotations

import logging
import os
import platform

import torch
from threadpoolctl import threadpool_limits

from automata.allocation import gpu_models
from automata.config.sections import Compute
from automata.errors import UserError, first_line, ran_out_of_memory

logger = logging.getLogger(__name__)

HIDDEN = ("", "-1", "NoDevFiles")
"""Values of CUDA_VISIBLE_DEVICES that hide all GPUs."""

NO_GPU = "torch sees no GPU here (valid: auto, cpu, cuda)"

REMEDY = "(docs/gpu.md), or set compute.device: cpu"


def choose_device(compute: Compute, kind: str) -> torch.device:
    """Return the device of a job on data of `kind`, without starting CUDA.

    Raises UserError if torch cannot use an installed GPU, or if the GPU lacks the precision.
    """
    wanted = wants_gpu(compute, kind)
    if compute.device != "cpu" and not torch.cuda.is_available():
        trouble = unusable_gpus()
        if compute.device == "cuda" or (trouble and wanted):
            raise UserError(f"compute.device: {compute.device}: {trouble or NO_GPU}")
        if trouble:
            logger.warning("compute.device: auto: %s; tables train on the CPU", trouble)
        wanted = False
    if not wanted:
        return torch.device("cpu")
    if compute.precision == "bfloat16" and not torch.cuda.is_bf16_supported(
        including_emulation=False
    ):
        raise UserError(
            f"compute.precision: bfloat16: {_card()} lacks it: it needs compute capability 8.0; "
            "set compute.precision: float32"
        )
    _make_repeatable()
    return torch.device("cuda")


def wants_gpu(compute: Compute, kind: str) -> bool:
    """Return whether a job on data of `kind` trains on a GPU where there is one."""
    # No measurement shows that the small models of tables gain from a GPU.
    return compute.device == "cuda" or (compute.device == "auto" and kind != "tabular")


def take_device(device: torch.device) -> torch.device:
    """Prepare this process to train on `device`, and return it.

    Raises UserError if this process does not see the device, or if no kernel runs on it.
    """
    if device.type != "cuda":
        return device
    if not torch.cuda.is_available():
        raise UserError(f"compute.device: cuda: {platform.node()}: {unusable_gpus() or NO_GPU}")
    _make_repeatable()
    try:
        torch.ones(1, device=device).add_(1).item()
    except RuntimeError as error:
        if ran_out_of_memory(error):
            raise
        raise UserError(
            f"compute.device: cuda: {_card()} cannot run kernels of {_build()}: "
            f"{first_line(error)}; install a torch for it {REMEDY}"
        ) from error
    return device


def unusable_gpus() -> str | None:
    """Return why a torch without GPUs cannot use those that NVML lists; None if none is visible."""
    known = ", ".join(sorted(set(gpu_models())))
    if not known or os.environ.get("CUDA_VISIBLE_DEVICES") in HIDDEN:
        return None
    remedy = "update the driver or install a torch for it"
    if torch.version.cuda is None:
        remedy = "install one with CUDA"
    return f"NVML knows {known}, which {_build()} cannot use: {remedy} {REMEDY}"


def seen() -> str:
    """Return one line that names this torch and the device that it sees."""
    if torch.cuda.is_available():
        return f"{_build()} sees {_card()}"
    return unusable_gpus() or f"{_build()} sees no GPU, and trains on the CPU"


def gpus_in_use(device: torch.device, most: int = 1) -> list[str]:
    """Return the UUIDs of the first `most` GPUs of this process, in the order of Ray."""
    count = min(most, torch.cuda.device_count()) if device.type == "cuda" else 0
    return [str(torch.cuda.get_device_properties(index).uuid) for index in range(count)]


def _make_repeatable() -> None:
    """Make CUDA's libraries deterministic; this must happen before CUDA starts in this process."""
    # cuDNN's LSTM reads it too. torch's notes give `:4096:2` for it; `make gpu` checks `:4096:8`.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def limit_threads(count: int) -> None:
    """Limit torch and the BLAS of NumPy and SciPy to `count` threads.

    torch then also treats numbers below 1e-38 as zero. Adam's squared gradients become so small,
    and processors compute slowly with them (satimage: 7 % of an epoch).
    """
    torch.set_num_threads(count)
    torch.set_flush_denormal(True)
    threadpool_limits(count)
    os.environ["OPENBLAS_NUM_THREADS"] = str(count)  # for a library that is loaded later


def _build() -> str:
    """Return the versions of torch and of its CUDA."""
    cuda = torch.version.cuda
    return f"torch {torch.__version__} ({f'CUDA {cuda}' if cuda else 'built without CUDA'})"


def _card() -> str:
    """Return the name and the compute capability of the GPU in use."""
    generation = ".".join(map(str, torch.cuda.get_device_capability()))
    return f"{torch.cuda.get_device_name()} (compute capability {generation})"
