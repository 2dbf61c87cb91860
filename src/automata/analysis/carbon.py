"""CO2 two ways, each defined once: from energy and, as the paper has it, from time.

With one intensity for all runs neither says anything new: measured CO2 is energy in other units,
and time-based CO2 is time.
"""

from __future__ import annotations

from automata.config import Carbon
from automata.metering.measurement import JOULES_PER_KWH

SECONDS_PER_HOUR = 3600
GRAMS_PER_MILE = 400
"""Of a car, in the paper's introduction: 640 kg are 1600 miles, 1400 kg are 3500 miles."""
KILOMETRES_PER_MILE = 1.609344

FOOTPRINT = ["kwh", "co2_measured_grams", "co2_time_grams"]
"""The columns of `footprint`."""


def footprint(joules: float | None, seconds: float, carbon: Carbon) -> dict[str, float | None]:
    """Return energy and CO2 of one run; what comes from energy is None where that is."""
    return {
        "kwh": kilowatt_hours(joules),
        "co2_measured_grams": measured_grams(joules, carbon),
        "co2_time_grams": time_based_grams(seconds, carbon),
    }


def kilowatt_hours(joules: float | None) -> float | None:
    """Return `joules` in kWh, without PUE; None for None."""
    return None if joules is None else joules / JOULES_PER_KWH


def measured_grams(joules: float | None, carbon: Carbon) -> float | None:
    """Return the g CO2e of measured or estimated energy: kWh x PUE x g/kWh; None for None."""
    energy = kilowatt_hours(joules)
    return None if energy is None else energy * carbon.pue * carbon.grams_per_kwh


def time_based_grams(seconds: float, carbon: Carbon) -> float:
    """Return the g CO2e of a device at its design power all the time: hours x kW x g/kWh.

    The Machine Learning Impact calculator (Lacoste et al. 2019, arXiv 1910.09700), which the
    paper used: one device, no CPU, no PUE. Its rounding is left out: small jobs would be zero.
    """
    return seconds / SECONDS_PER_HOUR * carbon.tdp_watts / 1000 * carbon.grams_per_kwh


def grams_ratio(full_grams: float | None, run_grams: float | None) -> float | None:
    """Return CO2(FULL) / CO2(run); None when one of them is not known."""
    if full_grams is None or run_grams is None or run_grams == 0:
        return None
    return full_grams / run_grams


def car_kilometres(grams: float) -> float:
    """Return how far the car of the paper's introduction goes for `grams` of CO2e, in km."""
    return grams / GRAMS_PER_MILE * KILOMETRES_PER_MILE
