"""A step of the MLP: ours, a plain eager one, and its matrix products alone."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from benchmarks.report import Row
from benchmarks.timing import interleaved, ratio
from benchmarks.training import plain
from benchmarks.workloads import Workload


def step_rows(workload: Workload, batch_size: int, rounds: int) -> Iterator[Row]:
    """Yield one row: milliseconds a step of each, and their ratios.

    Ours is a whole epoch of a training run, whatever it does besides its steps.
    """
    train = workload.dataset.train
    rows = len(train) // batch_size * batch_size
    run = workload.run(batch_size)
    eager = workload.run(batch_size).model
    optimizer = plain.default_optimizer(eager, workload.configuration)
    batches = list(train.inputs[:rows].split(batch_size))
    contenders = {
        "ours": lambda: run.train_to(run.progress.epochs + 1),
        "eager": lambda: plain.train_on(eager, optimizer, plain.resident(train, batch_size, rows)),
        "products": plain.matrix_products(workload.run(batch_size).model, batches),
    }
    seconds = interleaved(contenders, rounds)
    steps = {name: len(batches) for name in contenders}
    steps["ours"] = run.progress.steps // run.progress.epochs
    per_step = {name: [s / steps[name] for s in seconds[name]] for name in contenders}
    yield {
        "data": workload.dataset.name,
        "optimizer": workload.configuration["optimizer"],
        "batch size": batch_size,
        **{f"{name} ms": 1e3 * median(per_step[name]) for name in contenders},
        "ours / eager": ratio(per_step["ours"], per_step["eager"]),
        "ours / products": ratio(per_step["ours"], per_step["products"]),
        "eager / products": ratio(per_step["eager"], per_step["products"]),
    }
