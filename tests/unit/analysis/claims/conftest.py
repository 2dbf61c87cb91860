"""Small studies made by hand, from runs that state only what a test is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automata.analysis import differences
from automata.analysis.claims import parse_claims
from automata.analysis.claims.claim import Finding
from automata.analysis.claims.table import Claim
from automata.analysis.ratios import COLUMNS
from automata.analysis.study import Panel, Study
from automata.analysis.tables import write
from automata.analysis.tradeoff import tradeoff

Row = dict[str, Any]

HYPERBAND, ASHA = Panel("satimage", "tpe", "hyperband"), Panel("satimage", "tpe", "asha")
GRID = {
    "datasets": ["satimage"],
    "searches": ["tpe"],
    "schedulers": ["hyperband"],
    "fractions": [0.1],
}


def run(
    speedup: float = 4.0,
    error: float = 1.0,
    *,
    selector: str = "gradmatch",
    fraction: float = 0.1,
    seed: int = 0,
    panel: tuple[str, str, str] = HYPERBAND,
    **changes: Any,
) -> Row:
    """Make a run of AUTOMATA: a speedup and an error in points."""
    stem = "/".join([*panel, f"{selector}-{fraction}", f"seed-{seed}"])
    return {
        **dict.fromkeys(COLUMNS, 1.0),
        **dict(zip(("dataset", "search", "scheduler"), panel, strict=True)),
        "selector": selector,
        "fraction": fraction,
        "seed": seed,
        "speedup": speedup,
        "relative_test_error": error,
        "test_accuracy": 0.9 - error / 100,
        "best_validation_accuracy": 0.9 - error / 100,
        "energy_ratio": speedup,
        "energy_method": "measured",
        "energy_source": "pyJoules RAPL",
        "refused": None,
        "record": stem,
        "full_record": "/".join([*panel, "full-1", f"seed-{seed}"]),
        "total_seconds": 100.0 / speedup,
        "train_rows": 1000,
        "configurations": 27,
        "model": "mlp",
        "device": "cpu",
        "machine": "here",
        "software": "torch",
        "threads_per_trial": 1,
        "concurrent_trials": 1,
        "training_version": 1,
        "metering_version": 1,
        "exclusive": True,
        "data_sha256": panel[0],
        "own_model_sha256": None,
        "protocol_hash": panel[2],
        **changes,
    }


def runs(
    speedups: Sequence[float], errors: Sequence[float] | float = 1.0, **more: Any
) -> list[Row]:
    """Make the runs of several seeds, one per speedup."""
    values = [errors] * len(speedups) if isinstance(errors, int | float) else errors
    pairs = enumerate(zip(speedups, values, strict=True))
    return [run(fast, bad, seed=seed, **more) for seed, (fast, bad) in pairs]


def claim(**keys: Any) -> Claim:
    """Parse a claim about one panel and a fraction of 10 %, except for the axes that are given."""
    grid = {axis: keys.pop(axis, values) for axis, values in GRID.items()}
    where = {"grid": grid} if keys["shape"] != "stated" else {}
    content = {"quote": "as they say", "location": "Section 1", **where, **keys}
    return parse_claims({"claims": {"mine": content}}, Path("claims.yaml"))["mine"]


@pytest.fixture
def study(tmp_path: Path) -> Callable[..., Study]:
    """Give a function that writes the tables of runs."""

    def make(rows: list[Row], differing: Sequence[Sequence[str]] = ()) -> Study:
        table = pd.DataFrame(rows, columns=list(run()))
        write(table[COLUMNS], tmp_path / "ratios.csv")
        write(tradeoff(table[COLUMNS]), tmp_path / "tradeoff.csv")
        write(table, tmp_path / "runs.parquet")
        other = pd.DataFrame(differing, columns=differences.COLUMNS)
        write(other, tmp_path / "differences.csv")
        return Study(tmp_path)

    return make


@pytest.fixture
def check(study: Callable[..., Study]) -> Callable[..., Finding]:
    """Give a function that checks a claim against runs."""
    return lambda rows, **keys: claim(**keys).check(study(rows))
