"""Tables made by hand, from runs that say only what a test is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automata.analysis import differences
from automata.analysis.ratios import COLUMNS
from automata.analysis.study import Study
from automata.analysis.tables import write_csv, write_parquet
from automata.analysis.tradeoff import tradeoff

Row = dict[str, Any]
PANEL = {"datasets": ["satimage"], "searches": ["tpe"], "schedulers": ["hyperband"]}
WORDS = {"quote": "as they say", "location": "Section 1"}


def _run(
    speedup: float = 4.0,
    error: float = 1.0,
    *,
    selector: str = "gradmatch",
    fraction: float = 0.1,
    seed: int = 0,
    panel: tuple[str, str, str] = ("satimage", "tpe", "hyperband"),
    **changes: Any,
) -> Row:
    dataset, search, scheduler = panel
    stem = "/".join([*panel, f"{selector}-{fraction}", f"seed-{seed}"])
    return {
        **dict.fromkeys(COLUMNS, 1.0),
        "dataset": dataset,
        "search": search,
        "scheduler": scheduler,
        "selector": selector,
        "fraction": fraction,
        "seed": seed,
        "speedup": speedup,
        "relative_test_error": error,
        "test_accuracy": 0.9 - error / 100,
        "best_validation_accuracy": 0.9 - error / 100,
        "energy_ratio": speedup,
        "co2_measured_ratio": speedup,
        "co2_time_ratio": speedup,
        "energy_method": "measured",
        "energy_source": "pyJoules RAPL",
        "refused": None,
        "record": stem,
        "full_record": "/".join([*panel, "full-1", f"seed-{seed}"]),
        "total_seconds": 100.0 / speedup,
        "final_seconds": 3600.0,
        "final_epochs": 300,
        "final_failure": None,
        "train_rows": 1000,
        "configurations": 27,
        "model": "mlp",
        "device": "cpu",
        "machine": "here",
        "set_aside": "",
        "software": "torch",
        "threads_per_trial": 1,
        "concurrent_trials": 1,
        "exclusive": True,
        "selection_code": "5e1ec710",
        "training_code": "7ea1a1a6",
        "metering_code": "3e7e41a6",
        "other_code": "",
        "resumed": False,
        "data_sha256": dataset,
        "own_model_sha256": None,
        "protocol_hash": scheduler,
        **changes,
    }


@pytest.fixture
def run() -> Callable[..., Row]:
    """Give a function that makes a run of AUTOMATA: a speedup and an error in points."""
    return _run


@pytest.fixture
def runs() -> Callable[..., list[Row]]:
    """Give a function that makes the runs of several seeds, one per speedup."""

    def make(speedups: list[float], errors: list[float] | float = 1.0, **changes: Any) -> list[Row]:
        values = [errors] * len(speedups) if isinstance(errors, (int, float)) else errors
        pairs = enumerate(zip(speedups, values, strict=True))
        return [_run(fast, bad, seed=seed, **changes) for seed, (fast, bad) in pairs]

    return make


@pytest.fixture
def tables(tmp_path: Path) -> Callable[..., Study]:
    """Give a function that writes the tables of runs."""

    def make(rows: list[Row], differing: list[list[str]] | None = None) -> Study:
        table = pd.DataFrame(rows, columns=list(_run()))
        ratios = table[table["selector"] != "untuned"][COLUMNS]
        write_csv(ratios, tmp_path / "ratios.csv")
        write_csv(tradeoff(ratios), tmp_path / "tradeoff.csv")
        write_parquet(table, tmp_path / "runs.parquet")
        other = pd.DataFrame(differing or [], columns=differences.COLUMNS)
        write_csv(other, tmp_path / "differences.csv")
        return Study(tmp_path)

    return make


@pytest.fixture
def grid() -> Callable[..., dict[str, Any]]:
    """Give a function that makes the grid of one panel, with changes."""

    def make(**changes: Any) -> dict[str, Any]:
        return {**PANEL, "fractions": [0.1], **changes}

    return make


@pytest.fixture
def words() -> dict[str, str]:
    """What every claim has to say."""
    return dict(WORDS)
