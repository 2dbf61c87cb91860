"""The user's own data: one module per kind, each with `load` and `read_rows`.

`load(own)` returns the splits of a data set, `read_rows(path, own, encoding)` new rows as a model
takes them: inputs, the name of each row, and sentences on what was filled, cut or unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from automata.errors import UserError
from automata.registry import imported

if TYPE_CHECKING:
    from automata.config.data import OwnDataset
    from automata.datasets.raw import RawSplits


def load(name: str, own: OwnDataset) -> RawSplits[Any]:
    """Return the splits of the user's data set `name`, which `own` describes.

    Raises UserError, in one line, for whatever in the description or the files cannot be used.
    """
    try:
        # Imported where it is used: each kind has libraries of its own, which take a second.
        raw: RawSplits[Any] = imported(f"{__name__}.{own.kind}:load")(own)
        return raw
    except UserError as error:
        raise UserError(f"own_datasets.{name}: {error}") from error
