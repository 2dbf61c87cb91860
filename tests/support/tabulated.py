"""The tables of an experiment that was made up, as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.collect import ANSWERS, TRAINING
from automata.analysis.differences import COLUMNS as DIFFERENCES
from automata.analysis.energy import energy_table
from automata.analysis.ratios import ratios_to_full
from automata.analysis.study import Study
from automata.analysis.tables import write
from automata.analysis.tradeoff import tradeoff, untuned
from automata.config.sections import Carbon
from support.synthetic import synthetic_trials

CARBON = Carbon(
    grams_per_kwh=400, region="here", year=2026, source="a", pue=1.5, tdp_watts=100, tdp_source="b"
)
SETTINGS = {
    "protocol": {"reselect_every": 10, "search_space": {}},
    "data": {},
    "search": {},
    "compute": {},
    "scheduler": {"hyperband": {"warm_start": 0.0}, "asha": {"warm_start": 0.35}},
}


def write_tables(
    runs: pd.DataFrame, folder: Path, differing: Sequence[Sequence[Any]] = (), trials: bool = True
) -> Study:
    """Write what studies and the overview read of `runs` to `folder`."""
    ratios = ratios_to_full(runs, CARBON)
    write(runs, folder / "runs.parquet")
    if trials:
        write(synthetic_trials(runs), folder / "trials.parquet")
    write(pd.DataFrame(columns=ANSWERS), folder / "answers.parquet")
    write(pd.DataFrame(columns=TRAINING), folder / "training.parquet")
    write(dict.fromkeys(runs["protocol_hash"], SETTINGS), folder / "protocols.json")
    write(ratios, folder / "ratios.csv")
    write(tradeoff(ratios), folder / "tradeoff.csv")
    write(untuned(runs), folder / "untuned.csv")
    write(energy_table(runs, CARBON), folder / "energy.csv")
    write(pd.DataFrame(differing, columns=DIFFERENCES), folder / "differences.csv")
    return Study(folder)
