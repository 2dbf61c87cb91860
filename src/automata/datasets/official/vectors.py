"""Reads the pretrained vectors of given words."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from automata.errors import UserError

Vectors = dict[str, NDArray[np.float32]]
"""Vector (dimension,) by word."""

_UNREADABLE = (OSError, EOFError, LookupError, TypeError, ValueError, AttributeError)


def read_vectors(path: Path, dimension: int, wanted: Collection[str]) -> Vectors:
    """Return the vectors (dimension,) of those `wanted` words that the file has.

    A line of a .txt file has a word and its numbers, as in GloVe. Of a .zip file, the .txt file
    that ends with `.{dimension}d.txt` is read without unpacking. An .npz file has arrays `words`
    (n,) and `vectors` (n, dimension). If a word occurs twice, its first vector counts.

    Raises UserError if the file has another format, or a number is not finite.
    """
    suffix, words = path.suffix.lower(), set(wanted)
    if suffix not in (".txt", ".zip", ".npz"):
        raise UserError(f"{path}: expected .txt, .zip or .npz, found '{path.suffix}'")
    try:
        if suffix == ".npz":
            found = _read_npz(path, dimension, words)
        else:
            found = _parse(_lines(path, dimension), dimension, words)
        for word, vector in found.items():
            if not np.isfinite(vector).all():
                raise ValueError(f"word {word!r}: expected finite numbers, found {vector.sum()}")
    except (*_UNREADABLE, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{path}: not readable as word vectors: {error}") from error
    return found


def _read_npz(path: Path, dimension: int, wanted: set[str]) -> Vectors:
    with np.load(path, allow_pickle=False) as arrays:
        words, vectors = arrays["words"], arrays["vectors"]
    if words.dtype.kind != "U" or vectors.shape != (*words.shape, dimension):
        raise ValueError(
            f"expected strings `words` (n,) and `vectors` (n, {dimension}), found "
            f"{words.dtype} {words.shape} and {vectors.dtype} {vectors.shape}"
        )
    rows = {word: row for row, word in reversed([*enumerate(words.tolist())]) if word in wanted}
    return {word: vectors[row].astype(np.float32) for word, row in rows.items()}


def _lines(path: Path, dimension: int) -> Iterator[bytes]:
    """Yield the lines of a text file, which may be in an archive."""
    if path.suffix.lower() == ".txt":
        with path.open("rb") as lines:
            yield from lines
        return
    with zipfile.ZipFile(path) as archive:
        ending = f".{dimension}d.txt"
        names = [name for name in archive.namelist() if name.endswith(ending)]
        if len(names) != 1:
            raise ValueError(f"expected one file that ends with {ending}, found {names}")
        with archive.open(names[0]) as lines:
            yield from lines


def _parse(lines: Iterable[bytes], dimension: int, wanted: set[str]) -> Vectors:
    # Most words are not wanted: compare bytes without decoding.
    missing = {word.encode(): word for word in wanted}
    found: Vectors = {}
    number = 0
    for number, line in enumerate(lines, start=1):
        # A word may have spaces, so the numbers are split from the end of the line. The word of
        # the first line has none, so all its numbers are counted.
        parts = line.rstrip().rsplit(b" ", dimension if number > 1 else -1)
        if len(parts) != dimension + 1:
            raise ValueError(
                f"line {number}: expected a word and {dimension} numbers, found "
                f"{len(parts) - 1} numbers"
            )
        word = missing.pop(parts[0], None)
        if word is not None:
            with np.errstate(over="ignore"):  # too large a number becomes infinite
                found[word] = np.array([float(part) for part in parts[1:]]).astype(np.float32)
    if not number:
        raise ValueError(f"expected lines of a word and {dimension} numbers, found none")
    return found
