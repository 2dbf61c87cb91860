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
        PositiveFloat,
        Field(
            description="carbon intensity of the electricity, g CO2e per kWh; the code has no "
            "default"
        ),
    ]
    region: Annotated[
        Text,
        Field(description="region of the intensity; change it together with year and source"),
    ]
    year: Annotated[Integer, Field(description="year of the intensity")]
    source: Annotated[Text, Field(description="source of the intensity")]
    pue: Annotated[
        float,
        Field(
            ge=1,
            description="power usage effectiveness: a factor on energy, for cooling and supply; "
            "CO2 from time has none",
        ),
    ] = 1.0
    tdp_watts: Annotated[
        PositiveFloat,
        Field(
            description="design power, in W, of the device that CO2 from time assumes; its ratios "
            "do not depend on it"
        ),
    ]
    tdp_source: Annotated[Text, Field(description="device, and source of its power")]


def parse_carbon(text: str) -> Carbon:
    """Return the section in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Carbon.model_validate_json(text))
