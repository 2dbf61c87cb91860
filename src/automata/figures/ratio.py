"""The ratios to FULL that figures draw."""

from __future__ import annotations

from dataclasses import dataclass

from automata.errors import UserError


@dataclass(frozen=True)
class Ratio:
    """What may stand on the x axis: a column of the ratios, spread in the tradeoff table."""

    column: str
    label: str
    meaning: str = ""
    """What the note says it is; {energy} stands for how energy was obtained."""


RATIOS = {
    ratio.column: ratio
    for ratio in (
        Ratio("speedup", "Speedup over FULL (\N{MULTIPLICATION SIGN})"),
        Ratio(
            "energy_ratio",
            "Energy ratio, FULL / method (\N{MULTIPLICATION SIGN})",
            "energy: {energy}",
        ),
        Ratio(
            "co2_measured_ratio",
            "CO2 ratio from energy, FULL / method (\N{MULTIPLICATION SIGN})",
            "CO2 = energy x PUE x intensity: equals the energy ratio; energy: {energy}",
        ),
        Ratio(
            "co2_time_ratio",
            "CO2 ratio from time, FULL / method (\N{MULTIPLICATION SIGN})",
            "CO2 = time x TDP x intensity: equals the speedup",
        ),
    )
}


def ratio_of(column: str) -> Ratio:
    """Return the ratio of `column`; raises UserError where there is none."""
    if column not in RATIOS:
        raise UserError(f"ratio '{column}' is not one of {', '.join(RATIOS)}")
    return RATIOS[column]
