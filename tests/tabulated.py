"""The tables of an experiment that was made up, as files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from automata.analysis.ratios import ratios_to_full
from automata.analysis.study import Study
from automata.analysis.tables import write
from automata.analysis.tradeoff import tradeoff, untuned
from automata.config.sections import Carbon
from support.synthetic import synthetic_trials

CARBON = Carbon(
    grams_per_kwh=400, region="here", year=2026, source="a", tdp_watts=100, tdp_source="b"
)
SETTINGS = {
    "protocol": {"reselect_every": 10, "search_space": {}},
    "data": {},
    "search": {},
    "compute": {},
    "scheduler": {"hyperband": {"warm_start": 0.0}, "asha": {"warm_start": 0.35}},
}


def write_tables(runs: pd.DataFrame, folder: Path) -> Study:
    """Write what studies and the overview read of `runs` to `folder`."""
    ratios = ratios_to_full(runs)
    write(runs, folder / "runs.parquet")
    write(synthetic_trials(runs), folder / "trials.parquet")
    write(dict.fromkeys(runs["protocol_hash"], SETTINGS), folder / "protocols.json")
    write(ratios, folder / "ratios.csv")
    write(tradeoff(ratios), folder / "tradeoff.csv")
    write(untuned(runs), folder / "untuned.csv")
    return Study(folder)
