"""A whole selection beside one plain evaluation pass over the same training set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

from automata.training.evaluation import evaluate
from benchmarks.report import Row
from benchmarks.timing import ratio, stopwatch
from benchmarks.workloads import Workload

SELECTORS = ("gradmatch", "craig", "glister")
FRACTIONS = (0.01, 0.05, 0.1)
WARM_EPOCHS = 3


def cost_rows(
    workload: Workload, batch_sizes: Sequence[int], rounds: int, warm_epochs: int = WARM_EPOCHS
) -> Iterator[Row]:
    """Yield a row per selector, fraction and batch size: seconds and their ratio."""
    for batch_size in batch_sizes:
        warm = workload.run(batch_size)
        warm.train_to(warm_epochs)
        for selector in SELECTORS:
            for fraction in FRACTIONS:
                run = workload.run(batch_size, selector, fraction)
                run.model.load_state_dict(warm.model.state_dict())
                passes, selections = [], []
                run.train_to(2)  # the first subset is random, the second warms up
                whole_set = partial(evaluate, run.model, run.data.train)
                whole_set()
                for _ in range(rounds):
                    passes.append(stopwatch(whole_set))
                    before = run.progress.seconds.selection
                    run.train_to(run.progress.epochs + 1)
                    selections.append(run.progress.seconds.selection - before)
                if run.progress.failure is not None:
                    raise RuntimeError(run.progress.failure)
                yield {
                    "data": workload.dataset.name,
                    "rows": len(workload.dataset.train),
                    "selector": selector,
                    "fraction": fraction,
                    "batch size": batch_size,
                    "pass ms": 1e3 * median(passes),
                    "selection ms": 1e3 * median(selections),
                    "selection / pass": ratio(selections, passes),
                }
