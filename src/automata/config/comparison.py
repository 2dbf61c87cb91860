"""Which runs are compared with each other."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from automata.config.base import Section, parsed


class Comparison(Section):
    """Which runs ratios are made of; a change repeats no run."""

    resumed: Annotated[
        bool, Field(description="Ratios also use runs that were interrupted and went on")
    ] = False
    hosts: Annotated[
        Literal["same", "alike"],
        Field(description="Runs compare that are of the same host, or of hosts of one kind"),
    ] = "same"


def parse_comparison(text: str) -> Comparison:
    """Return the section in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Comparison.model_validate_json(text))
