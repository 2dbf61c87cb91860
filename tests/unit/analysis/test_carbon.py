"""CO2 both ways, against the paper's numbers and a hand computation."""

from __future__ import annotations

from typing import Any

import pytest

from automata.analysis.quantities import (
    car_kilometres,
    grams_ratio,
    kilowatt_hours,
    measured_grams,
    time_based_grams,
)
from automata.config.sections import Carbon


def carbon(**changes: Any) -> Carbon:
    values = {
        "grams_per_kwh": 400.0,
        "region": "here",
        "year": 2023,
        "source": "by hand",
        "tdp_watts": 250.0,
        "tdp_source": "by hand",
    }
    return Carbon(**{**values, **changes})


@pytest.mark.parametrize(("intensity", "kilograms"), [(432.0, 648.0), (920.0, 1380.0)])
def test_6000_hours_of_a_v100_are_the_papers_640_to_1400_kg(
    intensity: float, kilograms: float
) -> None:
    grams = time_based_grams(6000 * 3600, carbon(grams_per_kwh=intensity))

    assert grams == pytest.approx(1000 * kilograms)


def test_pue_is_no_factor_of_time_based_co2() -> None:
    assert time_based_grams(60, carbon(pue=1.5)) == time_based_grams(60, carbon())


def test_time_based_co2_of_a_short_job_is_not_rounded_away() -> None:
    assert time_based_grams(0.036, carbon()) == pytest.approx(0.001)  # 2.5e-6 kWh


def test_measured_co2_is_energy_times_pue_times_intensity() -> None:
    assert measured_grams(1.8e6, carbon(pue=1.2)) == pytest.approx(240.0)  # half a kWh


@pytest.mark.parametrize("watts", [1.0, 1000.0])
def test_design_power_is_no_factor_of_measured_co2(watts: float) -> None:
    assert measured_grams(3.6e6, carbon(tdp_watts=watts)) == pytest.approx(400.0)


def test_energy_that_was_not_measured_has_no_co2() -> None:
    assert measured_grams(None, carbon()) is None
    assert kilowatt_hours(None) is None


def test_no_energy_at_all_is_no_co2_and_not_missing() -> None:
    assert measured_grams(0.0, carbon()) == 0.0


@pytest.mark.parametrize(
    ("full", "run"),
    [(None, 1.0), (1.0, None), (1.0, 0.0)],
    ids=["no CO2 of full", "no CO2 of the run", "run of zero grams"],
)
def test_ratio_to_co2_that_is_not_known_is_none(full: float | None, run: float | None) -> None:
    assert grams_ratio(full, run) is None


@pytest.mark.parametrize(("kilograms", "miles"), [(640, 1600), (1400, 3500)])
def test_car_is_that_of_the_papers_introduction(kilograms: float, miles: float) -> None:
    assert car_kilometres(1000 * kilograms) == pytest.approx(miles * 1.609344)
