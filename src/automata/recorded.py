"""The base of everything that is kept in a record."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Recorded(BaseModel):
    """A part of a record: an unknown field is an error, and NaN and infinity survive JSON.

    Pydantic takes these settings from each model, not from the one around it: a diverged
    trial's loss would otherwise be written as null, and the record could not be read again.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")
