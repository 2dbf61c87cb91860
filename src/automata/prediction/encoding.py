"""New rows of a user's files, as the model takes them: encoded as its training rows were.

What is needed for it is in the model's file as plain data, by kind:

- tabular: `columns`, each a `Column`, and `mean` and `scale` of each feature
- text: the `words` that the model knows, and the `longest` text of a user's own
- image: `size` [width, height] in pixels, and `mean` and `scale` of each channel
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from automata.config.data import OwnText
from automata.datasets.kinds.tabular import standardised
from automata.datasets.kinds.text import known_share, log_known, numbered, numbering, odd_lengths
from automata.datasets.own.columns import Column, cells_of
from automata.datasets.own.encoder import missing, transform
from automata.datasets.own.image import read_unlabelled
from automata.datasets.own.paths import fault, listed, problem_of_file
from automata.datasets.own.reader import Dialect, Table, read_table
from automata.datasets.own.text import read_files, texts_of, tokenise
from automata.prediction.saved import SavedModel

_LOG = logging.getLogger(__name__)


def encode(path: Path, saved: SavedModel) -> tuple[Tensor, list[str]]:
    """Return the inputs (n, ...) of the rows at `path`, and what each row is called.

    Raises UserError, in one line, for missing columns, cells of another kind, and files that cannot
    be read. What is filled or unknown is told in a line each, and encoded as in a test set.
    """
    if saved.kind == "text":
        return _texts(path, saved)
    problem = problem_of_file(str(path), saved.kind)
    if problem is not None:
        raise fault(problem)
    if saved.kind == "image":
        return _images(path, saved.encoding["size"])
    table = read_table(path, _dialect(saved))
    inputs = _tabular(table, saved)
    return inputs, _places(len(inputs))


def _dialect(saved: SavedModel) -> Dialect:
    """Return how files are written, as the training file was."""
    own = saved.job.settings.data.own
    said = Dialect.of(own.model_dump() if own else {}, "own_datasets")
    known = saved.encoding
    return replace(said, fallback=known.get("encoding"), usual=known.get("separator"))


def _places(rows: int) -> list[str]:
    return [str(row) for row in range(1, rows + 1)]


def _tabular(table: Table, saved: SavedModel) -> Tensor:
    columns = [Column(**column) for column in saved.encoding["columns"]]
    _require_columns(table, [column.name for column in columns])
    features = []
    for column in columns:
        cells = cells_of(table, column)
        gaps = missing(cells)
        if gaps.any():
            _LOG.warning(
                "%s: %d missing cells become %s", table.where(column.name), gaps.sum(), column.fill
            )
        unknown = {*cells[~gaps]} - {*column.categories} if column.categories else {}
        if unknown and not column.rare:
            text = "%s: categories that no training row has: %s"
            _LOG.warning(text, table.where(column.name), listed(sorted(unknown)))
        features.append(transform(column, cells))
    mean, scale = (np.array(saved.encoding[key]) for key in ("mean", "scale"))
    return torch.from_numpy(standardised(np.hstack(features), mean, scale))


def _require_columns(table: Table, names: list[str]) -> None:
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise fault(
            f"{table.path}: no column {listed(absent)}, which the model needs; it has "
            f"{listed(table.columns)}"
        )
    if not len(table.frame):
        raise fault(f"{table.path}: there are no rows")


def _texts(path: Path, saved: SavedModel) -> tuple[Tensor, list[str]]:
    """Return the word numbers (n, longest) of texts in a table, a folder, or a `.txt` file."""
    own = saved.job.settings.data.own
    said = own if isinstance(own, OwnText) else OwnText(kind="text", path=str(path))
    if path.is_dir() or path.suffix.lower() == ".txt":
        texts, names = read_files(path, said.encoding)
    else:
        problem = problem_of_file(str(path), saved.kind)
        if problem is not None:
            raise fault(problem)
        table = read_table(path, _dialect(saved))
        _require_columns(table, [said.text])
        texts = texts_of(table, said.text)
        names = _places(len(texts))
    numbers, longest = numbering(saved.encoding["words"]), saved.encoding.get("longest")
    tokens = [tokenise(text) for text in texts]
    for line in odd_lengths(tokens, longest):
        _LOG.info("%s: %s", path, line)
    tokens = [text[:longest] for text in tokens]
    log_known({"rows": known_share(tokens, numbers)}, path)
    return numbered(tokens, numbers), names


def _images(path: Path, size: list[int]) -> tuple[Tensor, list[str]]:
    width, height = size
    pixels, names = read_unlabelled(path, (height, width))
    return torch.from_numpy(pixels), names
