"""The user's own data: one module per kind, each with `load(name, own) -> RawSplits`.

`header` tells what is wrong with them by their first bytes, and imports the standard library alone:
the workflow asks it while it plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from automata.config.data import OwnDataset
    from automata.datasets.raw import RawSplits


def load(name: str, own: OwnDataset) -> RawSplits[Any]:
    """Return the splits of the user's data set `name`, which `own` describes.

    Raises UserError, in one line, for whatever in the description or the files cannot be used.
    """
    # Imported where they are used: each kind has libraries of its own, which take a second.
    if own.kind == "tabular":
        from automata.datasets.own import tabular

        return tabular.load(name, own)
    if own.kind == "text":
        from automata.datasets.own import text

        return text.load(name, own)
    from automata.datasets.own import image

    return image.load(name, own)
