"""`python -m benchmarks.slots`: simulated times of tuning jobs on 1 to 16 slots.

With records it prints the simulated times of their final trainings beside the recorded ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean

from automata.records.record import read_record
from benchmarks.report import Row, markdown_table, parser_of, write_table
from benchmarks.slots import simulation
from benchmarks.slots.simulation import COSTS, FULL, METHODS, end_of_final_training

SLOTS = (1, 2, 4, 8, 16)
KINDS = {"equal": dict.fromkeys(COSTS, 1.0), "unequal": COSTS}
"""Name of a kind of costs -> the costs of epochs by batch size."""


def main() -> None:
    """Write the table of methods, or print that of the given records."""
    parser = parser_of("slots", __doc__)
    parser.add_argument("records", nargs="*", type=Path, metavar="RECORD")
    parser.add_argument("--configurations", nargs="+", type=int, default=[27, 81])
    parser.add_argument("--orders", type=int, default=60, help="number of seeds of each mean")
    options = parser.parse_args()
    if options.records:
        print(*markdown_table([_of_record(path) for path in options.records]), sep="\n")
        return
    rows = list(_of_methods(options.configurations, options.orders))
    title = f"Simulated times of tuning jobs, means over {options.orders} orders"
    write_table(rows, options.results, "slots", title, packages=("ray", "numpy"))


def _of_methods(sizes: Sequence[int], orders: int) -> Iterator[Row]:
    """Yield a row for each size of a search, number of slots, kind of costs and method."""
    for size, slots, kind in product(sizes, SLOTS, KINDS):
        ends = {}
        for method in METHODS:
            jobs = [simulation.job_of(method, size, slots, seed) for seed in range(orders)]
            ends[method] = fmean(simulation.end_of_job(it, KINDS[kind]) for it in jobs)
            yield {
                "configurations": size,
                "slots": slots,
                "costs": kind,
                "method": method,
                "end (T)": ends[method],
                "times as fast": ends[FULL] / ends[method],
            }


def _of_record(path: Path) -> Row:
    """Return the row of a record: the final training on its own slots, and on more."""
    record = read_record(path)
    assert record.final is not None, f"{path}: the run has no final training"
    simulated = end_of_final_training(record, record.final.slots)
    recorded = record.final.measurement.wall_seconds
    return {
        "record": path,
        "finalists": len(record.final.lost) + 1,
        "slots": record.final.slots,
        "simulated s": simulated,
        "recorded s": recorded,
        "recorded / simulated": recorded / simulated,
        **{f"on {it} slots s": end_of_final_training(record, it) for it in SLOTS[2:]},
    }


if __name__ == "__main__":
    main()
