"""Tables made by hand, from runs that say only what a test is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automata.analysis import differences
from automata.analysis.claims import KINDS, Finding, parse_claims
from automata.analysis.claims.claim import Claim, GridClaim
from automata.analysis.ratios import COLUMNS
from automata.analysis.study import Panel, Study
from automata.analysis.tables import write_csv, write_parquet
from automata.analysis.tradeoff import tradeoff
from automata.config.reading import read

Row = dict[str, Any]

YES, NO, NOT_RUN = "reproduced", "not reproduced", "not run"
FIRM, OPEN, FEW = "interval", "within the interval", "too few seeds"
HYPERBAND, ASHA = Panel("satimage", "tpe", "hyperband"), Panel("satimage", "tpe", "asha")
BOTH = {"schedulers": ["hyperband", "asha"]}
WORDS = {"quote": "as they say", "location": "Section 1"}


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
        "training_version": 1,
        "metering_version": 1,
        "selector_version": 1,
        "resumed": False,
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


def read_claims(file: Path) -> dict[str, Claim]:
    """Return the claims in `file`, as the command reads them."""
    return parse_claims(read(file), file)


def claim(kind: str, **said: Any) -> Claim:
    """Make a claim of one panel and a fraction of 10 %, but for the axes that are given."""
    grid = {name: [value] for name, value in HYPERBAND._asdict().items()}
    axes = {
        "datasets": grid["dataset"],
        "searches": grid["search"],
        "schedulers": grid["scheduler"],
    }
    axes = {name: said.pop(name, value) for name, value in {**axes, "fractions": [0.1]}.items()}
    where = {"grid": axes} if issubclass(KINDS[kind], GridClaim) else {}
    return KINDS[kind].model_validate({**WORDS, **where, **said})


@pytest.fixture
def tables(tmp_path: Path) -> Callable[..., Study]:
    """Give a function that writes the tables of runs."""

    def make(rows: list[Row], differing: list[list[str]] | None = None) -> Study:
        table = pd.DataFrame(rows, columns=list(run()))
        ratios = table[table["selector"] != "untuned"][COLUMNS]
        write_csv(ratios, tmp_path / "ratios.csv")
        write_csv(tradeoff(ratios), tmp_path / "tradeoff.csv")
        write_parquet(table, tmp_path / "runs.parquet")
        other = pd.DataFrame(differing or [], columns=differences.COLUMNS)
        write_csv(other, tmp_path / "differences.csv")
        return Study(tmp_path)

    return make


@pytest.fixture
def check(tables: Callable[..., Study]) -> Callable[..., Finding]:
    """Give a function that checks a claim of some kind against runs."""

    def checked(kind: str, rows: list[Row], **said: Any) -> Finding:
        return claim(kind, **said).check(tables(rows))

    return checked
