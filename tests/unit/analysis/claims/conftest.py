"""Small studies made by hand, from runs that state only what a test is about."""

from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.claims import parse_claims
from automata.analysis.ratios import COLUMNS
from automata.analysis.study import PANEL, Panel, Study
from automata.analysis.tables import write
from automata.analysis.tradeoff import tradeoff

from ..conftest import run as row

HYPERBAND, ASHA = Panel("satimage", "tpe", "hyperband"), Panel("satimage", "tpe", "asha")
GRID = {
    "datasets": ["satimage"],
    "searches": ["tpe"],
    "schedulers": ["hyperband"],
    "fractions": [0.1],
}


def run(speedup=4.0, error=1.0, *, panel=HYPERBAND, **changes):
    """Make a run of AUTOMATA: a speedup and an error in points."""
    accuracy = 0.9 - error / 100
    values = {
        **dict(zip(PANEL, panel, strict=True)),
        "speedup": speedup,
        "energy_ratio": speedup,
        "total_seconds": 100.0 / speedup,
        "relative_test_error": error,
        "test_accuracy": accuracy,
        "best_validation_accuracy": accuracy,
        "train_rows": 1000,
        "configurations": 27,
        "model": "mlp",
        "data_sha256": panel[0],
        "protocol_hash": panel[2],
    }
    return row(**{**values, **changes})


def runs(speedups, errors=1.0, **more):
    """Make the runs of several seeds, one per speedup."""
    values = [errors] * len(speedups) if isinstance(errors, int | float) else errors
    pairs = enumerate(zip(speedups, values, strict=True))
    return [run(fast, bad, seed=seed, **more) for seed, (fast, bad) in pairs]


def claim(**keys):
    """Parse a claim about one panel and a fraction of 10 %, except for the axes that are given."""
    grid = {axis: keys.pop(axis, values) for axis, values in GRID.items()}
    content = {"quote": "as they say", "location": "Section 1", "grid": grid, **keys}
    return parse_claims({"claims": {"mine": content}}, Path("claims.yaml"))["mine"]


@pytest.fixture
def check(tmp_path):
    """Give a function that checks a claim against runs."""

    def check(rows, **keys):
        table = pd.DataFrame(rows, columns=list(run()))
        write(table[COLUMNS], tmp_path / "ratios.csv")
        write(tradeoff(table[COLUMNS]), tmp_path / "tradeoff.csv")
        write(table, tmp_path / "runs.parquet")
        return claim(**keys).check(Study(tmp_path))

    return check
