"""The base class of all parts of a record."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Recorded(BaseModel):
    """A part of a record: an unknown field is an error, and NaN and infinity survive JSON.

    Each part needs this base class, because pydantic applies its settings only to a model's own
    fields. Without them the loss of a diverged trial would become null, which cannot be read.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")
