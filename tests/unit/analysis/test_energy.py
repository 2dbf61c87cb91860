"""The table of energy and CO2, and what its page says."""

import pandas as pd
import pytest

from automata.analysis.energy import energy_table, totals
from support.tabulated import CARBON

from .conftest import run

LONG = {"total_seconds": 1800.0, "energy_joules": 180e3}
"""A run of 30 min and 180 kJ: 0.05 kWh, 30 g from energy, 20 g from time."""
BOTH = "pyJoules NVML + pyJoules RAPL"
LOAD = "codecarbon CPU load"
UNMEASURED = {"energy_joules": None, "energy_method": None, "energy_source": None}


def table(*changes, **assumptions):
    rows = [run(seed=seed, **{**LONG, **changed}) for seed, changed in enumerate(changes)]
    return energy_table(pd.DataFrame(rows), CARBON.model_copy(update=assumptions))


CO2 = ["kwh", "co2_energy_grams", "co2_time_grams"]


@pytest.mark.parametrize(
    ("changes", "assumptions", "expected"),
    [
        ({}, {}, [0.05, 30.0, 20.0]),
        # The paper's 640 kg of 6000 hours of a V100
        ({"total_seconds": 21.6e6}, {"grams_per_kwh": 432, "tdp_watts": 250}, [0.05, 32.4, 648e3]),
        # A short job is not rounded away: 0.036 s of 100 W are 1e-6 kWh
        ({"total_seconds": 0.036, "energy_joules": 0}, {}, [0, 0, 0.0004]),
        (UNMEASURED, {}, [None, None, 20.0]),
    ],
)
def test_energy_and_co2_follow_their_own_factors(changes, assumptions, expected):
    row = table(changes, **assumptions)[CO2].iloc[0]
    assert row.tolist() == pytest.approx(pd.Series(expected, dtype=float).tolist(), nan_ok=True)


def test_energies_obtained_in_different_ways_are_not_summed():
    estimated = {"energy_method": "estimated", "energy_source": LOAD}
    measured = {"energy_source": BOTH}
    text = totals(table(measured, measured, estimated, UNMEASURED), CARBON)
    for expected in (
        f"Energy, RAPL+NVML counters ({BOTH}; runs: 2): 100 Wh; CO2e from it: 60 g, or 241 m",
        f"Energy, estimated from CPU time ({LOAD}; runs: 1): 50 Wh; CO2e from it: 30 g",
        "Energy, not measured (runs: 1).",
        "CO2e from time: 80 g, or 322 m by car.",  # 80 / 400 miles
    ):
        assert expected in text
