"""`python -m benchmarks.selection`: tables of the costs of solvers and whole selections."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import workloads
from benchmarks.report import Row, write_table
from benchmarks.selection import cost, solvers
from benchmarks.timing import fixed_threads

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "apricot-select", "numba")


def main() -> None:
    """Write the tables of the named parts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.selection", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help="all")
    parser.add_argument("--repeats", type=int, default=5, help="number of rounds")
    parser.add_argument("--threads", type=int, help="threads: 2 for solvers, 1 for selections")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        write, usual = PARTS[part]
        threads = options.threads or usual
        with fixed_threads(threads):
            write(argparse.Namespace(**{**vars(options), "threads": threads}))


def matching(options: argparse.Namespace) -> None:
    """Write the table of matching pursuits."""
    sizes, hard = solvers.SIZES, solvers.HARD_SIZES
    if options.quick:
        sizes, hard = sizes[:1], hard[:1]
    rows = list(solvers.matching_rows(sizes, hard, options.repeats))
    title = "Matching pursuit (scikit-learn and per-step lstsq allow negative weights)"
    _write(rows, options, "matching", title)


def facility(options: argparse.Namespace) -> None:
    """Write the table of facility locations."""
    sizes = solvers.FACILITY_SIZES[:1] if options.quick else solvers.FACILITY_SIZES
    rows = list(solvers.facility_rows(sizes, options.repeats))
    _write(rows, options, "facility", "Facility location, from given similarities")


def whole_selections(options: argparse.Namespace) -> None:
    """Write the table of whole selections beside evaluation passes."""
    names = ("satimage",) if options.quick else ("satimage", "dna", "letter")
    rows: list[Row] = []
    for name in names:
        rows += cost.cost_rows(workloads.tabular(name), (16, 32, 64), options.repeats)
    pictures = workloads.images(40 if options.quick else 240)
    rows += cost.cost_rows(pictures, (20,), min(options.repeats, 3), warm_epochs=1)
    title = "Whole selections beside one evaluation pass over the training set"
    _write(rows, options, "cost", title)


PARTS = {"matching": (matching, 2), "facility": (facility, 2), "cost": (whole_selections, 1)}
"""Name of a part -> the function that writes its tables, and its number of threads."""


def _write(rows: list[Row], options: argparse.Namespace, name: str, title: str) -> None:
    write_table(
        rows, options.results, name, title=title, threads=options.threads, packages=PACKAGES
    )


if __name__ == "__main__":
    main()
