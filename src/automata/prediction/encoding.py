"""New rows of a user's files, as the model takes them: encoded as its training rows were.

What is needed for it is in the model's file as plain data, by kind:

- tabular: `columns`, each a `Column`, and `mean` and `scale` of each feature
- text: the `words` that the model knows
- image: `size` [width, height], and `mean` and `scale` of each channel
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from automata.config.data import OwnTabular, OwnText
from automata.datasets.kinds.tabular import standardised
from automata.datasets.kinds.text import numbered, numbering
from automata.datasets.own.columns import Cells, cells_of
from automata.datasets.own.features import Column, missing
from automata.datasets.own.header import Layout
from automata.datasets.own.image import read_unlabelled
from automata.datasets.own.paths import fault, listed, problem_of_file
from automata.datasets.own.tables import Table, read_table
from automata.datasets.own.text import words_of
from automata.errors import UserError
from automata.prediction.saved import SavedModel

_LOG = logging.getLogger(__name__)


def encode(path: Path, saved: SavedModel) -> tuple[Tensor, list[str]]:
    """Return the inputs (n, ...) of the rows at `path`, and what each row is called.

    Raises UserError, in one line, for missing columns, cells that are missing and not filled,
    images of another size, and files that cannot be read. Categories that no training row has are
    told in one line, and encoded as in a test set.
    """
    problem = problem_of_file(str(path), saved.kind)
    if problem is not None:
        raise fault(problem)
    if saved.kind == "image":
        return _images(path, saved.encoding["size"])
    own = saved.job.settings.data.own
    layout = Layout.of(own.model_dump(), "own_datasets") if own is not None else Layout()
    if saved.kind == "text":
        column = own.text if isinstance(own, OwnText) else "text"
        table = read_table(path, layout, texts=[column])
        _require_columns(table, [column])
        tokens = words_of(table, column)
        return numbered(tokens, numbering(saved.encoding["words"])), _places(len(tokens))
    assert own is None or isinstance(own, OwnTabular)
    columns = [Column(**column) for column in saved.encoding["columns"]]
    table = read_table(path, layout, [c.name for c in columns if c.kind != "numbers"])
    _require_columns(table, [column.name for column in columns])
    inputs = np.hstack([_features(table, column) for column in columns])
    mean, scale = (np.array(saved.encoding[key]) for key in ("mean", "scale"))
    return torch.from_numpy(standardised(inputs, mean, scale)), _places(len(inputs))


def _places(rows: int) -> list[str]:
    return [str(row) for row in range(1, rows + 1)]


def _require_columns(table: Table, names: Sequence[str]) -> None:
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise fault(
            f"{table.path}: no column {listed(absent)}, which the model needs; it has "
            f"{listed(table.columns)}"
        )
    if not len(table.frame):
        raise fault(f"{table.path}: there are no rows")


def _features(table: Table, column: Column) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return the features (n, len(column.features)) of one column."""
    cells = cells_of(table, column.name, column.kind)
    gaps = missing(cells)
    if gaps.any() and column.fill is None:
        raise table.nothing(
            column.name, gaps, "cell(s)", "no `fill` was configured for the column: fill them"
        )
    if column.kind == "categories" and not column.rare:
        _tell_unknown(table, column, cells)
    return column.transform(cells)


def _tell_unknown(table: Table, column: Column, cells: Cells) -> None:
    found = cells[~missing(cells)]
    unknown = [str(cell) for cell in found if cell not in set(column.categories)]
    if unknown:
        _LOG.warning(
            "%s: %d row(s) have categories that no training row has: %s",
            table.where(column.name),
            len(unknown),
            listed(sorted(set(unknown))),
        )


def _images(path: Path, size: list[int]) -> tuple[Tensor, list[str]]:
    pixels, names = read_unlabelled(path)
    found = [pixels.shape[3], pixels.shape[2]]
    if found != size:
        raise UserError(
            f"{path}: images of {found[0]} x {found[1]} pixels; the model takes {size[0]} x "
            f"{size[1]}"
        )
    return torch.from_numpy(pixels), names
