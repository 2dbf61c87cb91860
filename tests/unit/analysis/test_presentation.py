"""The tradeoff table as people read it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from automata.analysis.quantities import TIMES
from automata.analysis.tradeoff import presented


def table(**changes: object) -> pd.DataFrame:
    values = {
        "dataset": "dna",
        "search": "tpe",
        "scheduler": "asha",
        "selector": "gradmatch",
        "fraction": 0.1,
        "seeds": 5,
        "energy_seeds": 5,
        "speedup": 4.123,
        "speedup_low": 3.456,
        "speedup_high": 5.0,
        "ceiling": 6.0,
        "relative_test_error": -0.5,
        "relative_test_error_low": -1.25,
        "relative_test_error_high": 0.25,
        "energy_ratio": 4.0,
        "energy_ratio_low": 3.9,
        "energy_ratio_high": 4.1,
        "test_accuracy": 0.9,
    }
    return pd.DataFrame([{**values, **changes}])


def test_means_stand_beside_their_intervals() -> None:
    (row,) = presented(table()).to_dict("records")
    assert row == {
        "dataset": "dna",
        "search": "tpe",
        "scheduler": "asha",
        "selector": "gradmatch",
        "fraction": 0.1,
        "seeds": 5,
        f"Speedup ({TIMES})": "4.12 (3.46 to 5)",
        f"Ceiling of the speedup ({TIMES})": "6",
        "Relative test error (pp)": "-0.5 (-1.25 to 0.25)",
        f"Energy ratio ({TIMES})": "4 (3.9 to 4.1)",
        "Test accuracy": "0.9",
    }


def test_a_single_seed_has_no_interval() -> None:
    assert presented(table(seeds=1))[f"Speedup ({TIMES})"].tolist() == ["4.12"]


def test_what_was_not_measured_is_empty() -> None:
    assert presented(table(energy_ratio=np.nan))[f"Energy ratio ({TIMES})"].tolist() == [""]


def test_an_energy_of_a_single_seed_has_no_interval() -> None:
    assert presented(table(energy_seeds=1))[f"Energy ratio ({TIMES})"].tolist() == ["4"]
