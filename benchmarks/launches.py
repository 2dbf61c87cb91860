"""`PYTHONPATH=tests python -m benchmarks.launches`: what a training step asks of a GPU.

Counted without one, on the pretended GPU of tests/pretence.py, and in operations of torch: one is
a kernel or a few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import torch

from automata.config.machine import Compute
from automata.datasets.prepared import Dataset, Split
from benchmarks.workloads import Workload, images, prepared_table, sentences
from pretence import LAUNCHES, SYNCHRONISATIONS, TO_DEVICE, VIEWS, pretended_cuda

BATCH_SIZE = 4
"""Rows of a mini-batch: they change no count."""

STEPS = 2

COMPUTE = Compute()

WAYS = {
    "float32": COMPUTE,
    "bfloat16": Compute(precision="bfloat16"),
    "float32, graph": Compute(cuda_graph=True),
    "bfloat16, graph": Compute(precision="bfloat16", cuda_graph=True),
}

COLUMNS = (LAUNCHES, VIEWS, SYNCHRONISATIONS, TO_DEVICE)


def table(rows: int, optimizer: str = "adam") -> Workload:
    """Return an MLP for noise."""
    generator = torch.Generator().manual_seed(0)

    def split(count: int) -> Split:
        labels = torch.randint(3, (count,), generator=generator)
        return Split(torch.randn(count, 6, generator=generator), labels)

    dataset = Dataset("noise", "tabular", 3, split(rows), split(8), split(8), metadata={})
    return prepared_table(dataset, optimizer)


MODELS: dict[str, Callable[[int], Workload]] = {
    "MLP, Adam": table,
    "MLP, SGD": lambda rows: table(rows, "sgd"),
    "LSTM, Adam": lambda rows: sentences(rows, words=2000, dimension=8, hidden=6),
    "ResNet18, SGD": lambda rows: images(rows, size=8),
}


def per_step(workload: Callable[[int], Workload], compute: Compute = COMPUTE) -> Counter[str]:
    """Return what one more mini-batch adds to an epoch on so many rows as are asked for."""
    few, many = (_epoch(workload, steps, compute) for steps in (STEPS, 2 * STEPS))
    return Counter({name: (many[name] - few[name]) // STEPS for name in many})


def _epoch(workload: Callable[[int], Workload], steps: int, compute: Compute) -> Counter[str]:
    """Return the counts of an epoch after the first one, which allocates more."""
    with pretended_cuda() as counts:
        run = workload(steps * BATCH_SIZE).run(
            BATCH_SIZE, device=torch.device("cuda"), compute=compute
        )
        run.train_to(1)
        before = counts.copy()
        run.train_to(2)
        return counts - before


def main() -> None:
    """Print the table as Markdown."""
    print(f"| model | by | {' | '.join(COLUMNS)} |")
    print(f"| --- | --- |{' --- |' * len(COLUMNS)}")
    for name, workload in MODELS.items():
        for way, compute in WAYS.items():
            if not compute.cuda_graph or name.startswith("ResNet"):
                counts = per_step(workload, compute)
                numbers = " | ".join(str(counts[column]) for column in COLUMNS)
                print(f"| {name} | {way} | {numbers} |")


if __name__ == "__main__":
    main()
