"""`python -m benchmarks.slots`: simulated times of tuning jobs on 1 to 16 slots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean

from benchmarks.report import Row, parser_of, write_table
from benchmarks.slots import simulation
from benchmarks.slots.simulation import COSTS, FULL, METHODS

SLOTS = (1, 2, 4, 8, 16)
KINDS = {"equal": dict.fromkeys(COSTS, 1.0), "unequal": COSTS}
"""Name of a kind of costs -> the costs of epochs by batch size."""


def main() -> None:
    """Write the table of methods."""
    parser = parser_of("slots", __doc__)
    parser.add_argument("--configurations", nargs="+", type=int, default=[27, 81])
    parser.add_argument("--orders", type=int, default=60, help="number of seeds of each mean")
    options = parser.parse_args()
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


if __name__ == "__main__":
    main()
