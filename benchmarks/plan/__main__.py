"""`python -m benchmarks.plan`: seconds of `snakemake -n`, by runs and by finished runs."""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from automata.config.files import read_experiments
from automata.experiment.grid import Grid
from benchmarks.report import parser_of, write_table
from benchmarks.timing import python

ROOT = Path(__file__).parents[2]
PACKAGES = ("snakemake",)
PUBLISHED = ROOT / "results/reference/default/records.tar.xz"
GRIDS: dict[int, dict[str, Any]] = {572: {"seeds": [0]}, 2548: {}}
"""Number of runs -> changes of config/paper.yaml."""


def main() -> None:
    """Write the table."""
    parser = parser_of("plan", __doc__)
    parser.add_argument("--runs", type=int, nargs="+", choices=GRIDS, default=[*GRIDS])
    parser.add_argument("--repeats", type=int, default=5, help="rounds that are timed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="automata-plan-") as name:
        folders = {runs: _folders(Path(name) / str(runs), runs) for runs in options.runs}
        costs = []
        for _, runs in product(range(options.repeats), folders):
            for state, folder in folders[runs].items():
                cost = snakemake(folder, configuration(folder, runs), "-n")
                costs.append({"runs": runs, "records there": state, **cost})
    medians = pd.DataFrame(costs).groupby(["runs", "records there"], sort=False).median()
    rows, title = medians.reset_index().to_dict("records"), f"medians of {options.repeats}"
    write_table(rows, options.results, "plan", f"snakemake -n: {title}", packages=PACKAGES)
    print((options.results / "plan.md").read_text(encoding="utf-8"))


def configuration(folder: Path, runs: int) -> list[str]:
    """Return the configuration files of a grid."""
    own = folder / "own.yaml"
    own.write_text(json.dumps({"experiment": "benchmark", **GRIDS[runs]}), encoding="utf-8")
    return [str(ROOT / "config/paper.yaml"), str(own)]


def snakemake(folder: Path, files: Sequence[str], *arguments: str) -> dict[str, float]:
    """Run `snakemake` in `folder` with these configuration files; return its seconds."""
    where = ["--directory", folder, "--snakefile", ROOT / "workflow/Snakefile"]
    return python(folder, "-m", "snakemake", *where, *arguments, "--configfile", *files)


def _folders(folder: Path, runs: int) -> dict[str, Path]:
    """Return a folder in which no run is finished, and one in which all are."""
    empty, whole = folder / "none", folder / "all"
    empty.mkdir(parents=True)
    whole.mkdir()
    files = configuration(whole, runs)
    grid = Grid(read_experiments([ROOT / "config/config.yaml", *map(Path, files)]), [])
    with tarfile.open(PUBLISHED) as archive:  # plans read no record, so one serves all runs
        record = next(file.read() for entry in archive if (file := archive.extractfile(entry)))
    for path in (*map(grid.prepared, grid.datasets), *grid.records):
        (whole / path).parent.mkdir(parents=True, exist_ok=True)
        (whole / path).write_bytes(record if path in grid.records else b"")
    forced = ("--forcerun", "tune", "--until", "tune")
    snakemake(whole, files, "--touch", "--cores", "1", *forced)  # writes metadata, as a run does
    return {"none": empty, "all": whole}


if __name__ == "__main__":
    main()
