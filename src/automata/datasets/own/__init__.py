"""The user's own data: one module per kind, each with `load(name, own) -> RawSplits`."""

from __future__ import annotations

from typing import Any

from automata.config.data import OwnDataset, OwnTabular, OwnText
from automata.datasets.raw import RawSplits


def load(name: str, own: OwnDataset) -> RawSplits[Any]:
    """Return the splits of the user's data set `name`, which `own` describes.

    Raises UserError, in one line, for whatever in the description or the files cannot be used.
    """
    # Imported where they are used: each kind has libraries of its own, which take a second.
    if isinstance(own, OwnTabular):
        from automata.datasets.own import tabular

        return tabular.load(name, own)
    if isinstance(own, OwnText):
        from automata.datasets.own import text

        return text.load(name, own)
    from automata.datasets.own import image

    return image.load(name, own)
