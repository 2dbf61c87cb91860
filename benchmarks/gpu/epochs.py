"""Seconds of full epochs, epochs on subsets and selections, with the memory they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median

import torch

from automata.config.machine import Compute
from automata.selection.problem import subset_size
from automata.training.run import TrainingRun
from benchmarks.gpu.variants import VARIANTS, training_run, without_channels_last
from benchmarks.report import Row
from benchmarks.timing import ratio, stopwatch
from benchmarks.training import plain
from benchmarks.workloads import Workload

FRACTION = 0.1
BASELINE = next(iter(VARIANTS))
EAGER = "plain eager loop"
UNKNOWN = "-"
QUANTITIES = ("full epoch", "10 % epoch", "selection")

Measured = dict[str, float]
"""Quantity -> seconds; on a GPU "memory", too, in bytes."""


def epoch_rows(
    workload: Workload, batch_size: int, device: torch.device, rounds: int, compiled: bool
) -> Iterator[Row]:
    """Yield a row per variant, after epochs on subsets that do not count.

    Steps by torch.compile, which takes minutes before the first, are there if `compiled`.
    """
    contenders = {
        name: _variant(workload, name, batch_size, device)
        for name, variant in VARIANTS.items()
        if (compiled or not variant.compute.compiled) and possible(variant.compute, device)
    }
    contenders[EAGER] = _eager(workload, batch_size, device)
    measured: dict[str, list[Measured]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            measured[name].append(_with_memory(measure, device))
    for name, rounds_of in measured.items():
        yield {
            "batch size": batch_size,
            "images": len(workload.dataset.train),
            "variant": name,
            **{f"{quantity} s": _median(rounds_of, quantity) for quantity in QUANTITIES},
            **{
                f"{quantity}: times as fast": _speedup(measured[BASELINE], rounds_of, quantity)
                for quantity in QUANTITIES
            },
            "MiB of an epoch": _peak(rounds_of),
        }


def possible(compute: Compute, device: torch.device) -> bool:
    """Say whether `device` has the arithmetic that `compute` asks for."""
    reduced = compute.precision == "bfloat16" and device.type == "cuda"
    return not reduced or torch.cuda.is_bf16_supported(including_emulation=False)


def _variant(
    workload: Workload, name: str, batch_size: int, device: torch.device
) -> Callable[[], Measured]:
    """Return what trains one full epoch, then selects and trains on the selection."""
    full = training_run(workload, VARIANTS[name], device, batch_size)
    part = training_run(workload, VARIANTS[name], device, batch_size, "gradmatch", FRACTION)
    part.train_to(2)  # the first subset is random, the second warms up

    def measure() -> Measured:
        training, _ = _next_epoch(full)
        subset_training, selection = _next_epoch(part)
        return dict(zip(QUANTITIES, (training, subset_training, selection), strict=True))

    return measure


def _eager(workload: Workload, batch_size: int, device: torch.device) -> Callable[[], Measured]:
    """Return what trains a full epoch and one on random rows, without a training run."""
    model = workload.run(batch_size, device=device).model
    without_channels_last(model)
    optimizer = plain.default_optimizer(model, workload.configuration)
    train = workload.dataset.train.to(device)
    subset = subset_size(len(train), FRACTION)

    def epoch(rows: int) -> None:
        plain.train_on(model, optimizer, plain.resident(train, batch_size, rows))

    epoch(subset)

    def measure() -> Measured:
        seconds = [stopwatch(lambda rows=rows: epoch(rows)) for rows in (len(train), subset)]
        return dict(zip(QUANTITIES, seconds, strict=False))

    return measure


def _next_epoch(run: TrainingRun) -> tuple[float, float]:
    """Train one more epoch; return the seconds of training and of selection."""
    before = run.progress.seconds.model_copy()
    run.train_to(run.progress.epochs + 1)
    if run.progress.failure is not None:
        raise RuntimeError(run.progress.failure)
    after = run.progress.seconds
    return after.training - before.training, after.selection - before.selection


def _with_memory(measure: Callable[[], Measured], device: torch.device) -> Measured:
    cuda = device.type == "cuda"
    if cuda:
        torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device) if cuda else 0  # of all contenders
    measured = measure()
    if cuda:
        measured["memory"] = float(torch.cuda.max_memory_allocated(device) - before)
    return measured


def _peak(rounds: list[Measured]) -> float | str:
    if "memory" not in rounds[0]:
        return UNKNOWN
    return max(one["memory"] for one in rounds) / 2**20


def _median(rounds: list[Measured], quantity: str) -> float | str:
    return median(one[quantity] for one in rounds) if quantity in rounds[0] else UNKNOWN


def _speedup(baseline: list[Measured], rounds: list[Measured], quantity: str) -> float | str:
    if quantity not in rounds[0]:
        return UNKNOWN
    return ratio([one[quantity] for one in baseline], [one[quantity] for one in rounds])
