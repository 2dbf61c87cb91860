"""Users' data: one module for each kind, whose `read_rows` returns inputs, row names and notes."""

from __future__ import annotations

from typing import Any

from automata.config.data import OwnDataset
from automata.datasets.raw import RawSplits
from automata.errors import UserError
from automata.loading import imported


def load(name: str, own: OwnDataset) -> RawSplits[Any]:
    """Return the splits of the data set `name`; raises UserError if the data are unusable."""
    try:
        # Each kind imports libraries of its own, which takes a second.
        raw: RawSplits[Any] = imported(f"{__name__}.{own.kind}:load")(own)
        return raw
    except UserError as error:
        raise UserError(f"own_datasets.{name}: {error}") from error
