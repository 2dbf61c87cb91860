"""Figures drawn without a display, from ratios made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")

MakeRatios = Callable[..., pd.DataFrame]


def _ratio(selector: str, fraction: float, seed: int, **changes: Any) -> dict[str, Any]:
    values = {
        "dataset": "satimage",
        "search": "tpe",
        "scheduler": "hyperband",
        "selector": selector,
        "fraction": fraction,
        "seed": seed,
        "speedup": 1.0,
        "ceiling": 1.0,
        "efficiency": 1.0,
        "step_ceiling": 1.0,
        "relative_test_error": 0.0,
        "relative_error_ratio": 0.0,
        "test_accuracy": 0.9,
        "energy_ratio": 1.0,
        "co2_measured_ratio": 1.0,
        "co2_time_ratio": 1.0,
        "cpu_ratio": 1.0,
        "total_seconds": 60.0,
        "energy_method": "measured",
        "energy_source": "pyJoules RAPL",
        "exclusive": True,
        "other_cpu_share": 0.0,
        "epochs": 40,
        "full_best_epochs": 40,
        "refused": None,
        "record": "run.json",
        "full_record": "full.json",
    }
    return {**values, **changes}


@pytest.fixture
def make_ratios() -> MakeRatios:
    """Give a function that builds a ratios table of FULL and every selector, at 5 % and 10 %.

    The mean over the seeds of selector number i (FULL is 0) is a speedup of 10 - i at 10 % and
    20 - i at 5 %, twice that in energy, and an error of i / 10 and i / 5 points; the seeds lie
    evenly around it.
    """

    def make(seeds: int = 3, selectors: tuple[str, ...] = (), **changes: Any) -> pd.DataFrame:
        rows = []
        for seed in range(seeds):
            off = seed - (seeds - 1) / 2
            rows.append(_ratio("full", 1.0, seed, **changes))
            for i, selector in enumerate(selectors, start=1):
                for fraction, speedup, error in [(0.1, 10 - i, i / 10), (0.05, 20 - i, i / 5)]:
                    moved = {
                        "speedup": speedup + off / 2,
                        "co2_time_ratio": speedup + off / 2,
                        "energy_ratio": 2 * speedup + off / 2,
                        "co2_measured_ratio": 2 * speedup + off / 2,
                        "relative_test_error": error + off / 20,
                    }
                    rows.append(_ratio(selector, fraction, seed, **{**moved, **changes}))
        return pd.DataFrame(rows)

    return make
