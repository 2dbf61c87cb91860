"""`python -m benchmarks.training`: tables of epochs and steps beside plain ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks import workloads
from benchmarks.report import Row, write_table
from benchmarks.timing import fixed_threads
from benchmarks.training.epochs import Case, epoch_rows
from benchmarks.training.steps import step_rows

RESULTS = Path(__file__).parent / "results"
PARTS = ("epochs", "steps")
PACKAGES = ("torch", "numpy")


def main() -> None:
    """Run the parts that are asked for and write their tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all")
    parser.add_argument("--threads", type=int, default=1, help="as a trial has")
    parser.add_argument("--repeats", type=int, default=9, help="rounds that are timed")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    wanted = options.parts or PARTS
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
