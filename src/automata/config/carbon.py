"""What energy and time become CO2 by: assumptions about a grid and a device, not measurements."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PositiveFloat

from automata.config.base import Integer, Section, Text, parsed


class Carbon(Section):
    """How CO2 is computed. No run reads it: a change repeats the reductions only.

    The intensity has no default here: a figure of CO2 without a stated grid means nothing.
    """

    grams_per_kwh: Annotated[
        PositiveFloat, Field(description="Carbon intensity of the electricity, g CO2e per kWh")
    ]
    region: Annotated[Text, Field(description="Where the intensity holds")]
    year: Annotated[Integer, Field(description="When it held")]
    source: Annotated[Text, Field(description="Who says so")]
    pue: Annotated[
        float, Field(ge=1, description="Power usage effectiveness, a factor on measured energy")
    ] = 1.0
    tdp_watts: Annotated[
        PositiveFloat, Field(description="Design power of the device that CO2 from time assumes")
    ]
    tdp_source: Annotated[Text, Field(description="Which device, and who says so")]


def parse_carbon(text: str) -> Carbon:
    """Return the section in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Carbon.model_validate_json(text))
