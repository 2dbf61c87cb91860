"""`python -m benchmarks.reductions`: from made-up records to tables, figures and page."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.commands import Cost, snakemake
from benchmarks.grids import GRIDS, TIMED, Grid, configuration
from benchmarks.records import write_records
from benchmarks.report import Row, write_table

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("snakemake", "pandas", "pydantic", "scipy", "matplotlib", "vl-convert-python")

Rules = dict[str, list[float]]
"""Rule -> wall seconds of each of its jobs."""


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reductions", description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", choices=GRIDS, default=TIMED)
    parser.add_argument("--cores", type=int, default=2, help="that Snakemake gives to jobs")
    parser.add_argument("--repeats", type=int, default=3, help="rounds that are timed")
    parser.add_argument("--keep", type=Path, help="folder that the experiments are kept in")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    options = parser.parse_args()
    costs: dict[int, list[tuple[Cost, Rules]]] = {runs: [] for runs in options.runs}
    with tempfile.TemporaryDirectory(prefix="automata-reductions-") as temporary:
        place = options.keep or Path(temporary)
        for runs in options.runs:
            write_records(place / str(runs), GRIDS[runs])
        for _ in range(options.repeats):
            for runs, some in costs.items():
                some.append(_reduced(place / str(runs), GRIDS[runs], options.cores))
    medians = f"medians of {options.repeats}"
    title = f"snakemake --cores {options.cores} from made-up records to the page: {medians}"
    rows = [_row(runs, [cost for cost, _ in some]) for runs, some in costs.items()]
    write_table(rows, options.results, "reductions", title=title, packages=PACKAGES)
    title = f"Wall seconds of these jobs by rule: {medians}"
    rows = [row for runs, some in costs.items() for row in _by_rule(runs, [r for _, r in some])]
    write_table(rows, options.results, "rules", title=title, packages=PACKAGES)
    for name in ("reductions", "rules"):
        print((options.results / f"{name}.md").read_text(encoding="utf-8"))


def _reduced(folder: Path, grid: Grid, cores: int) -> tuple[Cost, Rules]:
    """Make everything behind the records in `folder` anew; return what it cost."""
    for made in ("results/benchmark", ".snakemake", "logs"):
        shutil.rmtree(folder / made, ignore_errors=True)
    cost = snakemake(folder, configuration(folder, grid), "--cores", str(cores))
    return cost, _rules(folder / ".snakemake/metadata")


def _rules(metadata: Path) -> Rules:
    """Return what Snakemake says of the jobs' times; each output of a job says the same."""
    jobs = {}
    for path in metadata.iterdir():
        said = json.loads(path.read_text(encoding="utf-8"))
        jobs[said["log"][0]] = (said["rule"], said["endtime"] - said["starttime"])
    rules: Rules = {}
    for rule, seconds in jobs.values():
        rules.setdefault(rule, []).append(seconds)
    return rules


def _row(runs: int, costs: Sequence[Cost]) -> Row:
    return {
        "records": runs,
        "wall s": median(cost.wall_seconds for cost in costs),
        "CPU s": median(cost.cpu_seconds for cost in costs),
        "peak MiB of a process": max(cost.peak_mib for cost in costs),
    }


def _by_rule(runs: int, rounds: Sequence[Rules]) -> list[Row]:
    return [
        {
            "records": runs,
            "rule": rule,
            "jobs": len(rounds[0][rule]),
            "wall s of all": median(sum(rules[rule]) for rules in rounds),
        }
        for rule in sorted(rounds[0])
    ]


if __name__ == "__main__":
    main()
