"""Energy and CO2: of each run, of the whole experiment, and how energies were obtained."""

from __future__ import annotations

import pandas as pd

from automata.analysis.quantities import FOOTPRINT, GRAMS_PER_MILE, car_kilometres, footprint
from automata.analysis.study import RUN
from automata.analysis.wording import DISTANCE, ENERGY, MASS, TIME, amount, count
from automata.config.sections import Carbon


def energy_table(runs: pd.DataFrame, carbon: Carbon) -> pd.DataFrame:
    """Return a row per run: seconds, kWh and g CO2e; missing where no energy was measured."""
    energies = runs["energy_joules"].astype(object).where(runs["energy_joules"].notna(), None)
    rows = [
        footprint(joules, seconds, carbon)
        for joules, seconds in zip(energies, runs["total_seconds"], strict=True)
    ]
    footprints = pd.DataFrame(rows, columns=FOOTPRINT, index=runs.index, dtype=float)
    method = ["energy_method", "energy_source"]
    columns = [*RUN, "total_seconds", "kwh", *method, *FOOTPRINT[1:], "flags", "record"]
    return pd.concat([runs, footprints], axis=1)[columns]


def follows_time(method: str | None, source: str | None) -> bool:
    """Return whether an energy was estimated from CPU time alone: it says nothing beyond time."""
    return method == "estimated" and not _counters(source)


def how_measured(method: str | None, source: str | None) -> str:
    """Say in words how an energy was obtained, from `energy_method` and `energy_source`."""
    if method is None:
        return "not measured"
    counters = _counters(source)
    if follows_time(method, source):
        return "estimated from CPU time"
    if method == "estimated":  # the weakest part names the method
        return f"{counters} counters, CPU estimated from CPU time"
    if method == "polled":
        return f"{counters}, GPU power polled"
    return f"{counters} counters" if counters else str(source)


def ways(runs: pd.DataFrame) -> str:
    """Return in words all ways in which the energies of `runs` were obtained."""
    known = runs[["energy_method", "energy_source"]].astype(object)
    pairs = known.where(known.notna(), None).itertuples(index=False, name=None)
    return ", ".join(sorted({how_measured(method, source) for method, source in pairs}))


def _counters(source: str | None) -> str:
    return "+".join(name for name in ("RAPL", "NVML") if name in (source or ""))


def totals(energy_table: pd.DataFrame, carbon: Carbon) -> str:
    """Return a page on what all runs took, and how it was obtained."""
    runs, time_grams = count(len(energy_table), "run"), energy_table["co2_time_grams"].sum()
    lines = [
        f"In all {runs} took {amount(energy_table['total_seconds'].sum(), TIME)}.",
        *_energy_sentences(energy_table),
        f"CO2e of {runs} from time, time x TDP x intensity: {_grams(time_grams)}.",
        f"Intensity: {carbon.grams_per_kwh:g} g CO2e/kWh ({carbon.region}, {carbon.year};"
        f" {carbon.source}). PUE: {carbon.pue:g}, on energy only."
        f" TDP: {carbon.tdp_watts:g} W ({carbon.tdp_source})."
        f" Car: {GRAMS_PER_MILE} g per mile, as in the paper.",
        "The two figures of CO2 are no independent evidence: with a constant intensity"
        " measured CO2 is energy, and time-based CO2 is time.",
    ]
    return "# Energy and CO2\n\n" + "".join(f"- {line}\n" for line in lines)


def _energy_sentences(table: pd.DataFrame) -> list[str]:
    """Return a sentence per way in which energy was obtained: such energies are not added."""
    measured = table[table["kwh"].notna()]
    sentences = []
    for (method, source), runs in measured.groupby(
        ["energy_method", "energy_source"], dropna=False
    ):
        words = how_measured(_text(method), _text(source))
        shown = f"{words} ({source})" if _text(source) else words
        sentences.append(
            f"Energy of {count(len(runs), 'run')}: {amount(runs['kwh'].sum(), ENERGY)}, {shown};"
            f" CO2e from it, energy x PUE x intensity: {_grams(runs['co2_measured_grams'].sum())}."
        )
    missing = len(table) - len(measured)
    return [*sentences, *([f"Energy of {count(missing, 'run')}: not measured."] if missing else [])]


def _grams(grams: float) -> str:
    return f"{amount(grams, MASS)}, {amount(car_kilometres(grams), DISTANCE)} by car"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
