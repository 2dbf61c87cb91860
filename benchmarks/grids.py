"""The paper's grid, and the same with other numbers of seeds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automata.config.experiment import Experiment
from automata.config.files import read_experiments
from automata.grid import Grid as Cells
from benchmarks.synthetic import DATASETS

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "config"
PAPER = CONFIG / "paper.yaml"


@dataclass(frozen=True)
class Grid:
    """The paper's grid with another number of seeds, or its own if None, and some data sets."""

    seeds: int | None = None
    datasets: tuple[str, ...] = tuple(DATASETS)


GRIDS = {104: Grid(1, ("dna", "trec6")), 572: Grid(1), 2548: Grid(), 10296: Grid(18)}
"""Number of runs -> their grid; the smallest is for the tests."""

TIMED = [572, 2548, 10296]


def paper() -> list[Experiment]:
    """Return the parts of the paper's configuration."""
    return read_experiments([CONFIG / "config.yaml", PAPER])


def configuration(folder: Path, grid: Grid) -> list[str]:
    """Return the configuration files of a grid."""
    own = folder / "own.yaml"
    change: dict[str, Any] = {"experiment": "benchmark", "datasets": list(grid.datasets)}
    if grid.seeds is not None:
        change["seeds"] = list(range(grid.seeds))
    own.write_text(json.dumps(change), encoding="utf-8")
    return [str(PAPER), str(own)]


def prepared_files(folder: Path) -> list[Path]:
    """Return the paths of the prepared files of the paper's data sets."""
    grid = Cells(paper(), [])
    return [folder / grid.prepared(dataset) for dataset in grid.datasets]
