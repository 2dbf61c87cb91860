"""`python -m benchmarks.selection`: tables of the costs of solvers and whole selections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median

from automata.training.device import limit_threads
from automata.training.evaluation import evaluate
from benchmarks import workloads
from benchmarks.report import Row, parser_of, write_table
from benchmarks.selection import solvers
from benchmarks.timing import ratio, stopwatch
from benchmarks.workloads import Workload

PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "apricot-select", "numba")
PASS = "one evaluation pass over the training set"
UNSIGNED = "scikit-learn and per-step lstsq allow negative weights"
SELECTORS = ("gradmatch", "craig", "glister")
FRACTIONS = (0.01, 0.05, 0.1)


def main() -> None:
    """Write the tables of the named parts."""
    parser = parser_of("selection", __doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help="all")
    parser.add_argument("--repeats", type=int, default=5, help="number of rounds")
    parser.add_argument("--threads", type=int, help="threads: 2 for solvers, 1 for selections")
    options = parser.parse_args()
    for part in options.parts or PARTS:
        rows_of, usual, title = PARTS[part]
        threads = options.threads or usual
        limit_threads(threads)
        rows, host = list(rows_of(options.repeats)), {"threads": threads, "packages": PACKAGES}
        write_table(rows, options.results, part, title, **host)


def selection_rows(rounds: int) -> Iterator[Row]:
    """Yield the rows of whole selections beside evaluation passes."""
    for name in ("satimage", "dna", "letter"):
        yield from cost_rows(workloads.tabular(name), (16, 32, 64), rounds)
    yield from cost_rows(workloads.images(240), (20,), min(rounds, 3), warm_epochs=1)


def cost_rows(
    workload: Workload, batch_sizes: Sequence[int], rounds: int, warm_epochs: int = 3
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


PARTS: dict[str, tuple[Callable[[int], Iterator[Row]], int, str]] = {
    "matching": (solvers.matching_rows, 2, f"Matching pursuit ({UNSIGNED})"),
    "facility": (solvers.facility_rows, 2, "Facility location, from given similarities"),
    "cost": (
        selection_rows,
        1,
        f"Whole selections beside {PASS}",
    ),
}
"""Name of a part -> rounds to the rows of its table, its number of threads, and its title."""


if __name__ == "__main__":
    main()
