"""The paper's grid, and the same with other numbers of seeds."""

from __future__ import annotations

import json
from pathlib import Path

from automata.experiments.files import ConfigFiles
from automata.experiments.settings import Config, fingerprint, preparation_of

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "config"
PAPER = CONFIG / "paper.yaml"

SEEDS = {572: 1, 2548: None, 10296: 18}
"""Runs of a grid -> seeds of each of its 572 combinations; None: the paper's."""


def paper() -> list[Config]:
    """Return the parts of the paper's configuration."""
    return ConfigFiles([CONFIG / "config.yaml", PAPER], {}, CONFIG / "schema.json").experiments()


def configuration(folder: Path, seeds: int | None) -> list[str]:
    """Return the files that give Snakemake the paper's grid with so many seeds."""
    own = folder / "own.yaml"
    change = {"experiment": "benchmark"} | ({"seeds": list(range(seeds))} if seeds else {})
    own.write_text(json.dumps(change), encoding="utf-8")
    return [str(PAPER), str(own)]


def prepared_files(folder: Path) -> list[Path]:
    """Return where the prepared files of the paper's data sets would lie."""
    return [
        folder / "results/data" / f"{dataset}{_version(preparation_of(part, dataset))}.safetensors"
        for part in paper()
        for dataset in part["datasets"]
    ]


def _version(preparation: Config) -> str:
    return f"-{fingerprint(preparation)}" if preparation else ""
