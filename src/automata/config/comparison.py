"""Which runs are compared with each other."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from automata.config.base import Section, parsed


class Comparison(Section):
    """Which runs ratios are made of; a change repeats no run."""

    resumed: Annotated[
        bool,
        Field(
            description="ratios also use runs that were interrupted and went on: their time and "
            "energy are sums over segments"
        ),
    ] = False
    hosts: Annotated[
        Literal["same", "alike"],
        Field(
            description="`same`: a run compares with a FULL of its own host (the same name, "
            "processor, number of cores and GPUs); `alike`: also with one of a host "
            "with the same processor, number of cores and GPUs, as the nodes of a "
            "cluster are"
        ),
    ] = "same"


def parse_comparison(text: str) -> Comparison:
    """Return the section in the JSON `text`; raises UserError, in one line."""
    return parsed(lambda: Comparison.model_validate_json(text))
