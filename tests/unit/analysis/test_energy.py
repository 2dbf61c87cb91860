"""The table of energy and CO2, and what its last paragraph says."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from automata.analysis.energy import (
    energy_table,
    follows_time,
    how_measured,
    totals,
)
from automata.analysis.wording import DISTANCE, ENERGY, MASS, TIME, Units, amount
from automata.config.sections import Carbon

CARBON = Carbon(
    grams_per_kwh=360.0,
    region="Atlantis",
    year=2021,
    source="the oracle",
    pue=1.5,
    tdp_watts=200.0,
    tdp_source="a plate",
)
ESTIMATED = {"energy_method": "estimated", "energy_source": "codecarbon CPU load"}
UNMEASURED = {"energy_joules": None, "energy_method": None, "energy_source": None}


def run(seed: int, **changes: Any) -> dict[str, Any]:
    """A run of 30 min and 180 kJ: 0.05 kWh, 27 g from energy, 36 g from time."""
    values = {
        "dataset": "satimage",
        "search": "tpe",
        "scheduler": "hyperband",
        "selector": "gradmatch",
        "fraction": 0.1,
        "seed": seed,
        "total_seconds": 1800.0,
        "energy_joules": 180e3,
        "energy_method": "measured",
        "energy_source": "pyJoules NVML + pyJoules RAPL",
        "flags": "",
        "record": "run.json",
    }
    return {**values, **changes}


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    return energy_table(pd.DataFrame(list(rows)), CARBON)


def closing(*rows: dict[str, Any]) -> str:
    return totals(table(*rows), CARBON)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("total_seconds", 1800.0),
        ("kwh", 0.05),
        ("co2_measured_grams", 27.0),
        ("co2_time_grams", 36.0),
        ("energy_method", "measured"),
        ("seed", 3),
    ],
)
def test_row_has_what_a_run_took(column: str, value: object) -> None:
    (row,) = table(run(3)).to_dict("records")

    assert row[column] == pytest.approx(value)


def test_columns_and_order_of_the_runs_are_kept() -> None:
    made = table(run(2), run(0, selector="full", fraction=1.0), run(1))

    assert [*made.columns[:2], *made.columns[-2:]] == ["dataset", "search", "flags", "record"]
    assert made["seed"].tolist() == [2, 0, 1]


def grams(column: str, seconds: float = 1.0, joules: float = 1.0, **changes: Any) -> float:
    """Return the CO2 of one run under other assumptions."""
    runs = pd.DataFrame([run(0, total_seconds=seconds, energy_joules=joules)])
    return float(energy_table(runs, CARBON.model_copy(update=changes))[column][0])


@pytest.mark.parametrize(("intensity", "kilograms"), [(432.0, 648.0), (920.0, 1380.0)])
def test_6000_hours_of_a_v100_are_the_papers_640_to_1400_kg(
    intensity: float, kilograms: float
) -> None:
    v100 = {"grams_per_kwh": intensity, "tdp_watts": 250.0}
    assert grams("co2_time_grams", 6000 * 3600, **v100) == pytest.approx(1000 * kilograms)


def test_each_co2_has_its_own_factors() -> None:
    assert grams("co2_time_grams", pue=1.0) == grams("co2_time_grams", pue=2.0)
    assert grams("co2_measured_grams", tdp_watts=1) == grams("co2_measured_grams", tdp_watts=9)


def test_a_short_job_is_not_rounded_away() -> None:
    # 0.036 s of 200 W are 2e-6 kWh
    assert grams("co2_time_grams", 0.036) == pytest.approx(0.00072)
    assert grams("co2_measured_grams", joules=0.0) == 0.0


@pytest.mark.parametrize("joules", [None, float("nan")], ids=["None", "NaN"])
def test_run_without_energy_has_co2_from_time_only(joules: float | None) -> None:
    (row,) = table(run(0, **{**UNMEASURED, "energy_joules": joules})).to_dict("records")

    assert pd.isna(row["kwh"])
    assert pd.isna(row["co2_measured_grams"])
    assert row["co2_time_grams"] == pytest.approx(36.0)


@pytest.mark.parametrize(
    ("value", "units", "shown"),
    [
        (0.5, TIME, "0.5 s"),
        (90, TIME, "1.5 min"),
        (21.6e6, TIME, "6000 h"),
        (1.234e-5, ENERGY, "12.3 mWh"),
        (0.0123, ENERGY, "12.3 Wh"),
        (1234.5, ENERGY, "1234 kWh"),
        (4.4e-6, MASS, "0.0044 mg"),
        (0.0044, MASS, "4.4 mg"),
        (648e3, MASS, "648 kg"),
        (1e-4, DISTANCE, "10 cm"),
        (0.4, DISTANCE, "400 m"),
        (0.0, MASS, "0 mg"),
    ],
)
def test_amount_is_in_a_unit_in_which_it_can_be_read(
    value: float, units: Units, shown: str
) -> None:
    assert amount(value, units) == shown


@pytest.mark.parametrize(
    ("method", "source", "words"),
    [
        ("measured", "pyJoules NVML + pyJoules RAPL", "RAPL+NVML counters"),
        ("measured", "pyJoules RAPL", "RAPL counters"),
        ("measured", "codecarbon RAPL", "RAPL counters"),
        ("measured", "a plug", "a plug"),
        ("estimated", "codecarbon CPU load", "estimated from CPU time"),
        (
            "estimated",
            "codecarbon CPU load + pyJoules NVML",
            "NVML counters, CPU estimated from CPU time",
        ),
        (None, None, "not measured"),
        ("polled", "NVML power + pyJoules RAPL", "RAPL+NVML, GPU power polled"),
    ],
)
def test_how_energy_was_obtained_is_said_in_words(
    method: str | None, source: str | None, words: str
) -> None:
    assert how_measured(method, source) == words


@pytest.mark.parametrize(
    ("method", "source", "follows"),
    [
        ("estimated", "codecarbon CPU load", True),
        ("estimated", None, True),
        ("estimated", "codecarbon CPU load + pyJoules NVML", False),
        ("polled", "NVML power", False),
        ("measured", "a plug", False),
        (None, None, False),
    ],
)
def test_an_estimate_from_cpu_time_alone_follows_time(
    method: str | None, source: str | None, follows: bool
) -> None:
    assert follows_time(method, source) == follows


@pytest.mark.parametrize(
    "expected",
    [
        "Runs: 2. Total time: 1 h.",
        "Energy, RAPL+NVML counters (pyJoules NVML + pyJoules RAPL; runs: 2): 100 Wh;",
        "CO2e from it: 54 g, or 217 m by car.",  # 54 / 400 miles
        "CO2e from time: 72 g, or 290 m by car.",
        "Intensity: 360 g CO2e/kWh (Atlantis, 2021; the oracle).",
        "PUE, for energy only: 1.5",
        "TDP: 200 W (a plate).",
        "no evidence beyond energy and time",
    ],
)
def test_closing_states_totals_and_what_they_rest_on(expected: str) -> None:
    assert expected in closing(run(0), run(1))


def test_closing_calls_an_estimate_one() -> None:
    text = closing(run(0, **ESTIMATED))
    assert "Energy, estimated from CPU time (codecarbon CPU load; runs: 1): 50 Wh" in text


def test_energies_obtained_in_different_ways_are_not_added() -> None:
    text = closing(run(0), run(1), run(2, **ESTIMATED), run(3, **UNMEASURED))

    assert "RAPL; runs: 2): 100 Wh" in text
    assert "load; runs: 1): 50 Wh" in text
    assert "Energy, not measured (runs: 1)." in text


def test_closing_of_tiny_runs_has_no_zero() -> None:
    text = closing(run(0, total_seconds=0.01, energy_joules=0.02))

    assert "Total time: 0.01 s." in text
    assert " 0 " not in text
    assert "0.00 " not in text


def test_rows_name_their_records() -> None:
    energies = table(run(0, record="a.json"), run(1, record="b.json"))

    assert energies["record"].tolist() == ["a.json", "b.json"]
