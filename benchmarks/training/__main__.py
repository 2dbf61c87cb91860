"""`python -m benchmarks.training`: epochs of each model, ours and those of a DataLoader."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks import workloads
from benchmarks.report import Row, write_table
from benchmarks.timing import fixed_threads
from benchmarks.training.epochs import Case, epoch_rows

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Time the epochs and write their table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="number of rounds")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args()
    with fixed_threads(options.threads):
        rows = list(epochs(options.repeats, options.quick))
    write_table(
        rows,
        options.results,
        "epochs",
        title="Our epochs beside those of a DataLoader",
        threads=options.threads,
        packages=("torch", "numpy"),
    )


def epochs(rounds: int, quick: bool) -> Iterator[Row]:
    """Yield the rows of the table; the slow models have fewer rounds."""
    for optimizer in ("sgd", "adam"):
        case = Case("MLP", workloads.tabular("satimage", optimizer), 32, at_once=10)
        yield from epoch_rows(case, rounds)
    few = min(rounds, 3)
    for words in (500,) if quick else (8_000, 16_000):
        texts = workloads.sentences(160 if quick else 1600, words)
        yield from epoch_rows(Case("LSTM", texts, 16, at_once=3), few)
    pictures = workloads.images(40 if quick else 300)
    yield from epoch_rows(Case("ResNet18", pictures, 20, at_once=2), few)


if __name__ == "__main__":
    main()
