"""`python -m benchmarks.plan`: seconds of `snakemake -n`, by runs and by finished runs."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.grids import GRIDS, ROOT, TIMED, Grid, configuration, prepared_files
from benchmarks.records import write_records
from benchmarks.report import Row, write_table

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("snakemake",)


class Cost(NamedTuple):
    """The time of a command."""

    wall_seconds: float
    cpu_seconds: float


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plan", description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", choices=GRIDS, default=TIMED)
    parser.add_argument("--repeats", type=int, default=5, help="rounds that are timed")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="automata-plan-") as name:
        folders = {runs: _folders(Path(name) / str(runs), GRIDS[runs]) for runs in options.runs}
        costs: dict[tuple[int, str], list[Cost]] = {}
        for _ in range(options.repeats):
            for runs, states in folders.items():
                for state, folder in states.items():
                    files = configuration(folder, GRIDS[runs])
                    costs.setdefault((runs, state), []).append(snakemake(folder, files, "-n"))
        rows = [_row(*key, folders[key[0]][key[1]], some) for key, some in costs.items()]
    title = f"snakemake -n: medians of {options.repeats}"
    write_table(rows, options.results, "plan", title=title, packages=PACKAGES)
    print((options.results / "plan.md").read_text(encoding="utf-8"))


def snakemake(folder: Path, files: Sequence[str], *arguments: str) -> Cost:
    """Run `snakemake` in `folder` with these configuration files; return its cost.

    Raises RuntimeError, with the end of its output, if it fails.
    """
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder)]
    command += ["--snakefile", str(ROOT / "workflow/Snakefile"), *arguments]
    output = folder / "output.txt"
    start = time.perf_counter()
    with output.open("wb") as file:
        process = subprocess.Popen([*command, "--configfile", *files], stdout=file, stderr=file)
        _, status, usage = os.wait4(process.pid, 0)
    cost = Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(output.read_text(encoding="utf-8")[-2000:])
    return cost


def _folders(folder: Path, grid: Grid) -> dict[str, Path]:
    """Return a folder for each state of the runs: none, half or all of them are finished."""
    empty, half, whole = (folder / name for name in ("none", "half", "all"))
    empty.mkdir(parents=True)
    write_records(whole, grid)
    for path in prepared_files(whole):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    command = [sys.executable, "-m", "benchmarks.plan.metadata", str(whole)]
    subprocess.run([*command, *configuration(whole, grid)], check=True, capture_output=True)
    shutil.copytree(whole, half)
    for path in sorted(half.rglob("record.json"))[::2]:
        path.unlink()
    return {"none": empty, "half": half, "all": whole}


def _row(runs: int, state: str, folder: Path, costs: list[Cost]) -> Row:
    return {
        "runs": runs,
        "records there": state,
        "wall s": median(cost.wall_seconds for cost in costs),
        "CPU s": median(cost.cpu_seconds for cost in costs),
        "records MiB": _mib(folder / "results/runs"),
        "metadata MiB": _mib(folder / ".snakemake/metadata"),
    }


def _mib(folder: Path) -> float:
    """Return the size on disk of the files in a folder."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*")) / 2**20


if __name__ == "__main__":
    main()
