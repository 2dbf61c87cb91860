"""`python -m benchmarks.selection`: tables and a plot of what selecting costs."""

from __future__ import annotations

import argparse
from pathlib import Path

from automata.datasets.prepared import read_dataset
from automata.figures.style import save
from benchmarks import workloads
from benchmarks.parts import parser_of_parts, wanted_parts
from benchmarks.report import Row, write_table
from benchmarks.selection import cost, growth, solvers
from benchmarks.timing import fixed_threads

RESULTS = Path(__file__).parent / "results"
PARTS = ("matching", "facility", "growth", "cost")
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "apricot-select", "numba")


def main() -> None:
    """Run the parts that are asked for and write their tables."""
    parser = parser_of_parts("selection", __doc__, PARTS, repeats=5, results=RESULTS)
    parser.add_argument("--threads", type=int, default=2, help="of the solvers")
    parser.add_argument("--selection-threads", type=int, default=1, help="of whole selections")
    parser.add_argument("--prepared", type=Path, nargs="*", default=[], help="more tables")
    options = parser.parse_args()
    wanted = wanted_parts(parser, options, PARTS)
    with fixed_threads(options.threads):
        if "matching" in wanted:
            matching(options)
        if "facility" in wanted:
            facility(options)
        if "growth" in wanted:
            grow(options)
    if "cost" in wanted:
        with fixed_threads(options.selection_threads):
            whole_selections(options)


def matching(options: argparse.Namespace) -> None:
    """Write the table of matching pursuits."""
    sizes, hard = solvers.SIZES, solvers.HARD_SIZES
    if options.quick:
        sizes, hard = sizes[:1], hard[:1]
    title = "Matching pursuit (scikit-learn and per-step lstsq allow negative weights)"
    rows: list[Row] = []
    for row in solvers.matching_rows(sizes, hard, options.repeats):
        rows.append(row)
        _write(rows, options, "matching", title)  # what is there outlives a stop


def facility(options: argparse.Namespace) -> None:
    """Write the table of facility locations."""
    sizes = solvers.FACILITY_SIZES[:1] if options.quick else solvers.FACILITY_SIZES
    rows = list(solvers.facility_rows(sizes, options.repeats))
    _write(rows, options, "facility", "Facility location, from given similarities")


def grow(options: argparse.Namespace) -> None:
    """Write table and plot of how cost grows."""
    sizes = (growth.MINI_BATCHES, growth.BUDGETS, growth.BUDGETS_OF)
    if options.quick:
        sizes = ((100, 200), (10, 20), 200)
    rows = list(growth.growth_rows(*sizes, rounds=min(options.repeats, 3)))
    _write(rows, options, "growth", "Seconds by mini-batches and by budget")
    save(growth.figure(rows), options.results / "growth.png")


def whole_selections(options: argparse.Namespace) -> None:
    """Write the tables of whole selections beside evaluation passes."""
    names = ("satimage",) if options.quick else ("satimage", "dna", "letter")
    tables = [workloads.tabular(name) for name in names]
    tables += [workloads.prepared_table(read_dataset(path)) for path in options.prepared]
    rows: list[Row] = []
    for table in tables:
        rows += cost.cost_rows(table, (16, 32, 64), options.repeats)
    pictures = workloads.images(40 if options.quick else 240)
    rows += cost.cost_rows(pictures, (20,), min(options.repeats, 3), warm_epochs=1)
    threads = options.selection_threads
    title = "Whole selections beside one evaluation pass over the training set"
    _write(rows, options, "cost", title, threads)
    title = "Whole selections beside one evaluation pass, mean over batch sizes"
    _write(list(cost.means(rows)), options, "cost-means", title, threads)


def _write(
    rows: list[Row],
    options: argparse.Namespace,
    name: str,
    title: str,
    threads: int | None = None,
) -> None:
    write_table(
        rows,
        options.results,
        name,
        title=title,
        threads=threads or options.threads,
        packages=PACKAGES,
    )


if __name__ == "__main__":
    main()
