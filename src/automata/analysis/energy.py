"""Energy and CO2 of each run and of all runs, and how energy was obtained."""

from __future__ import annotations

import pandas as pd

from automata.analysis.study import RUN
from automata.analysis.wording import DISTANCE, ENERGY, MASS, TIME, amount
from automata.config.sections import Carbon
from automata.records.measurement import JOULES_PER_KWH

GRAMS_PER_MILE = 400
"""CO2 of a car, from the paper's introduction: 640 kg are 1600 miles, 1400 kg are 3500 miles."""
KILOMETRES_PER_MILE = 1.609344

AMOUNTS = ["kwh", "co2_energy_grams", "co2_time_grams"]
"""Columns that `with_amounts` adds."""


def with_amounts(runs: pd.DataFrame, carbon: Carbon) -> pd.DataFrame:
    """Return `runs` with kWh and g CO2e; missing where no energy was measured.

    `co2_energy_grams` is kWh x PUE x intensity. `co2_time_grams` is hours x TDP x intensity, as in
    the paper's Machine Learning Impact calculator (Lacoste et al. 2019, arXiv 1910.09700), which
    counts one device at its design power, neither CPU nor PUE, and also rounds.
    """
    kwh = runs["energy_joules"].astype(float) / JOULES_PER_KWH
    hours = runs["total_seconds"].astype(float) / 3600
    return runs.assign(
        kwh=kwh,
        co2_energy_grams=kwh * carbon.pue * carbon.grams_per_kwh,
        co2_time_grams=hours * carbon.tdp_watts / 1000 * carbon.grams_per_kwh,
    )


def energy_table(runs: pd.DataFrame, carbon: Carbon) -> pd.DataFrame:
    """Return a row per run: seconds, and the AMOUNTS."""
    columns = ["total_seconds", *AMOUNTS, "energy_method", "energy_source", "flags", "record"]
    return with_amounts(runs, carbon)[[*RUN, *columns]]


def follows_time(method: str | None, source: str | None) -> bool:
    """Return whether an energy was estimated from CPU time alone, and so says no more than time."""
    return method == "estimated" and not _counters(source)


def how_measured(method: str | None, source: str | None) -> str:
    """Return in words how an energy was obtained."""
    if method is None:
        return "not measured"
    counters = _counters(source)
    if follows_time(method, source):
        return "estimated from CPU time"
    if method == "estimated":  # the weakest part decides the method
        return f"{counters} counters, CPU estimated from CPU time"
    return f"{counters} counters" if counters else source or "several sources"


def ways(runs: pd.DataFrame) -> str:
    """Return in words how the energies of `runs` were obtained."""
    return ", ".join(sorted({how_measured(*pair) for pair in obtained(runs)}))


def obtained(runs: pd.DataFrame) -> list[tuple[str | None, str | None]]:
    """Return method and source of each run's energy."""
    known = runs[["energy_method", "energy_source"]].astype(object)
    return list(known.where(known.notna(), None).itertuples(index=False, name=None))


def _counters(source: str | None) -> str:
    return "+".join(name for name in ("RAPL", "NVML") if name in (source or ""))


def totals(energy_table: pd.DataFrame, carbon: Carbon) -> str:
    """Return the page on time, energy and CO2 of all runs."""
    seconds, grams = energy_table["total_seconds"].sum(), energy_table["co2_time_grams"].sum()
    lines = [
        f"Runs: {len(energy_table)}. Total time: {amount(seconds, TIME)}.",
        *_energies(energy_table),
        f"CO2e from time: {_mass(grams)}.",
        "CO2e from energy is energy x PUE x intensity, CO2e from time is time x TDP x intensity.",
        f"Intensity: {carbon.grams_per_kwh:g} g CO2e/kWh ({carbon.region}, {carbon.year};"
        f" {carbon.source}). PUE, for energy only: {carbon.pue:g}."
        f" TDP: {carbon.tdp_watts:g} W ({carbon.tdp_source})."
        f" Car: {GRAMS_PER_MILE} g per mile, as in the paper.",
        "With a constant intensity, CO2e is no evidence beyond energy and time.",
    ]
    return "# Energy and CO2\n\n" + "".join(f"- {line}\n" for line in lines)


def _energies(table: pd.DataFrame) -> list[str]:
    """Return a line per method and source, because energies of different methods do not add up."""
    lines = []
    pairs = obtained(table)
    for method, source in sorted(set(pairs), key=str):
        runs = table[[pair == (method, source) for pair in pairs]]
        details = f"{source}; runs: {len(runs)}" if source else f"runs: {len(runs)}"
        energy = f"Energy, {how_measured(method, source)} ({details})"
        if method is not None:
            grams = _mass(runs["co2_energy_grams"].sum())
            energy += f": {amount(runs['kwh'].sum(), ENERGY)}; CO2e from it: {grams}"
        lines.append(f"{energy}.")
    return lines


def _mass(grams: float) -> str:
    kilometres = grams / GRAMS_PER_MILE * KILOMETRES_PER_MILE
    return f"{amount(grams, MASS)}, or {amount(kilometres, DISTANCE)} by car"
