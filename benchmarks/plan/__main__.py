"""`python -m benchmarks.plan`: seconds of `snakemake -n`, by runs and by finished runs."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from automata.config.files import read_experiments
from automata.grid import Grid
from benchmarks.report import write_table

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results"
PACKAGES = ("snakemake",)
PUBLISHED = ROOT / "results/reference/default/records.tar.xz"

GRIDS: dict[int, dict[str, Any]] = {
    104: {"seeds": [0], "datasets": ["dna", "trec6"]},
    572: {"seeds": [0]},
    2548: {},
}
"""Number of runs -> changes of config/paper.yaml; the smallest grid is for the tests."""


class Cost(NamedTuple):
    """The time of a command."""

    wall_seconds: float
    cpu_seconds: float


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plan", description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", choices=GRIDS, default=[*GRIDS][1:])
    parser.add_argument("--repeats", type=int, default=5, help="rounds that are timed")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="automata-plan-") as name:
        folders = {runs: _folders(Path(name) / str(runs), runs) for runs in options.runs}
        costs: dict[tuple[int, str], list[Cost]] = {}
        for _ in range(options.repeats):
            for runs, states in folders.items():
                for state, folder in states.items():
                    files = configuration(folder, runs)
                    costs.setdefault((runs, state), []).append(snakemake(folder, files, "-n"))
    rows = [
        {
            "runs": runs,
            "records there": state,
            "wall s": median(cost.wall_seconds for cost in some),
            "CPU s": median(cost.cpu_seconds for cost in some),
        }
        for (runs, state), some in costs.items()
    ]
    title = f"snakemake -n: medians of {options.repeats}"
    write_table(rows, options.results, "plan", title=title, packages=PACKAGES)
    print((options.results / "plan.md").read_text(encoding="utf-8"))


def configuration(folder: Path, runs: int) -> list[str]:
    """Return the configuration files of a grid."""
    own = folder / "own.yaml"
    own.write_text(json.dumps({"experiment": "benchmark", **GRIDS[runs]}), encoding="utf-8")
    return [str(ROOT / "config/paper.yaml"), str(own)]


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


def _folders(folder: Path, runs: int) -> dict[str, Path]:
    """Return a folder in which no run is finished, and one in which all are."""
    empty, whole = folder / "none", folder / "all"
    empty.mkdir(parents=True)
    whole.mkdir()
    files = configuration(whole, runs)
    grid = Grid(read_experiments([ROOT / "config/config.yaml", *map(Path, files)]), [])
    contents = dict.fromkeys(map(grid.prepared, grid.datasets), b"")
    contents |= dict.fromkeys(grid.records, _published_record())
    for path, content in contents.items():
        (whole / path).parent.mkdir(parents=True, exist_ok=True)
        (whole / path).write_bytes(content)
    forced = ("--forcerun", "tune", "--until", "tune")
    snakemake(whole, files, "--touch", "--cores", "1", *forced)  # writes metadata, as a run does
    return {"none": empty, "all": whole}


def _published_record() -> bytes:
    """Return a real record; plans read no record, so it serves all runs."""
    with tarfile.open(PUBLISHED) as archive:
        for entry in archive:
            if file := archive.extractfile(entry):
                return file.read()
    raise RuntimeError(f"{PUBLISHED}: no record")


if __name__ == "__main__":
    main()
