"""The claim that is arithmetic alone: from GPU hours to CO2 and miles."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field, PositiveFloat

from automata.analysis.claims.claim import Claim, Text
from automata.analysis.claims.finding import NO_RUNS_NEEDED, Finding, verdict
from automata.analysis.quantities import (
    KILOMETRES_PER_MILE,
    SECONDS_PER_HOUR,
    car_kilometres,
    time_based_grams,
)
from automata.analysis.study import Study
from automata.analysis.wording import percent
from automata.config import Carbon

WITHIN = 0.05
"""How far a figure of ours may be from the paper's, as a share: theirs are rounded."""

Range = tuple[PositiveFloat, PositiveFloat]


class FootprintClaim(Claim):
    """So many trainings are so many hours, so much CO2e and so many miles.

    No run is needed: hours x kW x intensity as the Machine Learning Impact calculator has it
    (`carbon.time_based_grams`), at a low and a high intensity, and the car of
    `carbon.car_kilometres`. Each figure must be within 5 % of the paper's.
    """

    trainings: PositiveFloat
    hours_each: PositiveFloat
    hours: PositiveFloat
    watts: Annotated[PositiveFloat, Field(description="Design power of the device")]
    grams_per_kwh: Annotated[Range, Field(description="Carbon intensities: low, high")]
    intensities: Annotated[Text, Field(description="Where they come from")]
    kilograms: Range
    miles: Range

    @property
    def rule(self) -> str:
        """Say what is computed."""
        low, high = self.grams_per_kwh
        return (
            f"hours x {self.watts:g} W x {low:g} to {high:g} g CO2e/kWh ({self.intensities}), and "
            f"the miles of a car, are within {percent(WITHIN)} of the paper's figures"
        )

    def check(self, tables: Study) -> Finding:
        """Return the figures computed anew; `tables` are not looked at."""
        hours = self.trainings * self.hours_each
        kilograms = [self._kilograms(hours, intensity) for intensity in self.grams_per_kwh]
        miles = [car_kilometres(1000 * mass) / KILOMETRES_PER_MILE for mass in kilograms]
        pairs = zip(
            [hours, *kilograms, *miles], [self.hours, *self.kilograms, *self.miles], strict=True
        )
        return Finding(
            verdict(all(math.isclose(own, paper, rel_tol=WITHIN) for own, paper in pairs)),
            f"{hours:.0f} h; {kilograms[0]:.0f} to {kilograms[1]:.0f} kg CO2e; "
            f"{miles[0]:.0f} to {miles[1]:.0f} miles",
            NO_RUNS_NEEDED,
        )

    def _kilograms(self, hours: float, intensity: float) -> float:
        carbon = Carbon(
            grams_per_kwh=intensity,
            region=self.intensities,
            year=2019,  # of the calculator; no figure depends on it
            source=self.intensities,
            tdp_watts=self.watts,
            tdp_source=self.intensities,
        )
        return time_based_grams(hours * SECONDS_PER_HOUR, carbon) / 1000
