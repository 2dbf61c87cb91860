"""Seconds of full epochs, epochs on subsets and selections of ResNet18, beside a plain loop."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from statistics import median

import torch

from automata.config.sections import Compute
from automata.selection.problem import subset_size
from automata.training.run import TrainingRun
from benchmarks.report import Row
from benchmarks.timing import ratio, stopwatch
from benchmarks.training import plain
from benchmarks.workloads import Workload

CUDA = torch.device("cuda")
BATCH_SIZE = 20
FRACTION = 0.1
PLAIN = "plain loop of torch"
LOSS = "loss of the first epoch"
QUANTITIES = ("full epoch", "10 % epoch", "selection")

Measured = dict[str, float]
"""Quantity -> seconds; also the LOSS."""


def epoch_rows(workload: Workload, ways: dict[str, Compute], rounds: int) -> list[Row]:
    """Return a row of a plain loop, the baseline, and one of each way."""
    contenders = {PLAIN: _plain(workload)}
    for name, compute in ways.items():
        if compute.precision == "float32" or torch.cuda.is_bf16_supported(False):
            contenders[name] = _way(workload, compute)
    measured: dict[str, list[Measured]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            measured[name].append(measure())
    return [
        {
            "by": name,
            **{f"{it} s": median(one[it] for one in found) for it in QUANTITIES},
            **{f"{it}: times as fast": _ratio(measured[PLAIN], found, it) for it in QUANTITIES[:2]},
            LOSS: found[0][LOSS],
        }
        for name, found in measured.items()
    ]


def _way(workload: Workload, compute: Compute) -> Callable[[], Measured]:
    """Return a function that times a full epoch, a selection, and an epoch on the selection."""
    full = workload.run(BATCH_SIZE, device=CUDA, compute=compute)
    part = workload.run(BATCH_SIZE, "gradmatch", FRACTION, device=CUDA, compute=compute)
    part.train_to(2)  # the first subset is random, the second warms up

    def measure() -> Measured:
        training, _ = _next_epoch(full)
        measured = dict(zip(QUANTITIES, (training, *_next_epoch(part)), strict=True))
        return measured | {LOSS: full.progress.training_loss[0]}

    return measure


def _plain(workload: Workload) -> Callable[[], Measured]:
    """Return a function that times a full epoch and one on random rows in a plain loop."""
    model = workload.run(BATCH_SIZE, device=CUDA).model
    model.memory_format = torch.contiguous_format  # torch's default
    model.to(memory_format=model.memory_format)
    optimizer = plain.default_optimizer(model, workload.configuration)
    train = workload.dataset.train.to(CUDA)
    subset = subset_size(len(train), FRACTION)

    def epoch(rows: int) -> None:
        plain.train_on(model, optimizer, plain.resident(train, BATCH_SIZE, rows))

    epoch(subset)

    def measure() -> Measured:
        seconds = [stopwatch(lambda rows=rows: epoch(rows)) for rows in (len(train), subset)]
        return dict(zip([*QUANTITIES, LOSS], [*seconds, nan, nan], strict=True))

    return measure


def _next_epoch(run: TrainingRun) -> tuple[float, float]:
    """Train one more epoch; return the seconds of training and of selection."""
    before = run.progress.seconds.model_copy()
    run.train_to(run.progress.epochs + 1)
    after = run.progress.seconds
    return after.training - before.training, after.selection - before.selection


def _ratio(of_plain: list[Measured], found: list[Measured], quantity: str) -> float:
    return ratio([one[quantity] for one in of_plain], [one[quantity] for one in found])
