"""Runs the second study, docs/study-2.md: `python -m benchmarks.study.second`.

`data/` has the files of `benchmarks.study.data`, and gets a configuration for each data set and
way. Call it again to go on. It prints no score.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from automata.config.files import DEFAULTS, Config, combine, command, read_experiments
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.experiment.recommended import (
    ASHA,
    HEDGE,
    HYPERBAND,
    RATES,
    SPACES,
    base_of,
    job_of,
    keys_of,
)
from automata.files import replacing, sha256
from automata.grid import Grid
from automata.tuning.sizes import Size
from benchmarks.study.data import FOLDER, TABLES

SETS = (
    *("vietnam-urban", "twoyear-female", "run-sex", "loans-verified", "loans-term"),
    *("yrbss-gender", "packages-roxygen", "crash-deploy", "flights-origin", "gss-gender"),
    *("labsup-worked", "movies-drama", "mpls-problem", "tv16-vote", "wives-insurance"),
    *("packages", "images"),
)
"""In the order of their runs."""
SEEDS, SLOTS = 3, 2
WAYS = {
    "A": (HYPERBAND, Size(27, 81, SEEDS)),
    "B": (HEDGE, Size(27, 81, SEEDS)),
    "D": (HEDGE, Size(81, 81, SEEDS)),
    "E": (ASHA, Size(27, 81, SEEDS)),
    "C": (HYPERBAND, Size(81, 81, 1)),
}
"""C runs last."""
NET: Config = {
    "model": {"factory": "docs.examples.small_convnet:build"},
    "search_space": {
        "learning_rate": RATES,
        "weight_decay": SPACES["image"]["weight_decay"],
        "nesterov": {"choice": [True, False]},
        "schedule": {"choice": ["cosine", "step"]},
        "decay_factor": {"uniform": [0.05, 0.5]},
    },
}
"""The model of images; its space is that of `automata new`, with one learning rate."""
SUMS = Path(__file__).with_name("SHA256SUMS")
APART: Config = {
    "metering": {"exclusive": False},
    "models": {"keep": "none"},
    "compute": {"device": "cpu"},
}
"""The host's lock is left to others, no model is kept, and no GPU is used."""


def main() -> None:
    """Write the configurations, and run those whose records are missing."""
    for line in SUMS.read_text().splitlines():
        expected, name = line.split()
        if (found := sha256(FOLDER / name)) != expected:
            sys.exit(f"{FOLDER / name}: its SHA-256 is {found}, not {expected}")
    failed = []
    for name, way in order():
        path = FOLDER / f"{name}-{way}.yaml"
        if not path.exists():
            with replacing(path) as unfinished:
                unfinished.write_text(yaml.safe_dump(configuration(name, way)), "utf-8")
        if missing := sum(not record.exists() for record in records(path)):
            print(f"{path.stem}: {missing} runs", flush=True)
            options = ["--quiet", "all", "--until", "tune", "--keep-going", "--nolock"]
            ended = subprocess.run([*command([str(path)]).split(), *options], check=False)
            failed += [path.stem] if ended.returncode else []
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def order() -> Iterator[tuple[str, str]]:
    """Yield data sets and ways in the order of their runs."""
    yield from ((name, way) for name in SETS for way in WAYS if way != "C")
    yield from ((name, "C") for name in SETS)


def configuration(name: str, way: str) -> Config:
    """Return what `automata new` writes for a data set, by the method and size of a way."""
    path = FOLDER / f"{name}.{'npz' if name == 'images' else 'csv'}"
    target = {"packages": "section", "images": None}.get(name, TABLES.get(name, {}).get("target"))
    base = base_of(name, guess(path, target, None).own)
    data = prepare(name, job_of(base).settings.data, FOLDER)
    method, size = WAYS[way]
    keys = combine(base, keys_of(method, size, SLOTS, data))
    if name == "images":
        keys = combine(keys, {"protocol": {"image": NET}})
    return combine(keys, APART) | {"experiment": f"{name}-{way}".lower()}


def records(path: Path) -> list[Path]:
    """Return the records of a configuration, whether they exist or not."""
    return [Path(it) for it in Grid(read_experiments([DEFAULTS, path]), sys.path).records]


if __name__ == "__main__":
    os.nice(10)
    main()
