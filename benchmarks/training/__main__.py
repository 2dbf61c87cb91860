"""`python -m benchmarks.training`: tables of epochs and steps beside plain ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks import workloads
from benchmarks.parts import parser_of_parts, wanted_parts
from benchmarks.report import Row, write_table
from benchmarks.timing import fixed_threads
from benchmarks.training.epochs import Case, epoch_rows
from benchmarks.training.steps import step_rows

RESULTS = Path(__file__).parent / "results"
PARTS = ("epochs", "steps")
PACKAGES = ("torch", "numpy")


def main() -> None:
    """Run the parts that are asked for and write their tables."""
    parser = parser_of_parts("training", __doc__, PARTS, repeats=9, results=RESULTS)
    parser.add_argument("--threads", type=int, default=1, help="as a trial has")
    options = parser.parse_args()
    wanted = wanted_parts(parser, options, PARTS)
    with fixed_threads(options.threads):
        if "steps" in wanted:
            rows = list(steps(options))
            _write(rows, options, "steps", "A step of the MLP on satimage (225 + 225 hidden units)")
        if "epochs" in wanted:
            rows = list(epochs(options))
            _write(rows, options, "epochs", "Our epochs beside a DataLoader's")


def steps(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows of the table of steps."""
    for optimizer in ("sgd", "adam"):
        workload = workloads.tabular("satimage", optimizer)
        for batch_size in (32,) if options.quick else (16, 32, 64):
            yield from step_rows(workload, batch_size, options.repeats)


def epochs(options: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows of the table of epochs; the slow models have fewer rounds."""
    for optimizer in ("sgd", "adam"):
        case = Case("MLP", workloads.tabular("satimage", optimizer), 32, at_once=10)
        yield from epoch_rows(case, options.repeats)
    few = min(options.repeats, 3)
    for words in (500,) if options.quick else (8_000, 16_000):
        texts = workloads.sentences(160 if options.quick else 1600, words)
        yield from epoch_rows(Case("LSTM", texts, 16, at_once=3), few)
    pictures = workloads.images(40 if options.quick else 300)
    yield from epoch_rows(Case("ResNet18", pictures, 20, at_once=2), few)


def _write(rows: list[Row], options: argparse.Namespace, name: str, title: str) -> None:
    write_table(
        rows, options.results, name, title=title, threads=options.threads, packages=PACKAGES
    )


if __name__ == "__main__":
    main()
