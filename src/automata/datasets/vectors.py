"""Pretrained word vectors, of the words that are asked for."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from automata.errors import UserError
from automata.files import sha256

Vector = NDArray[np.float32]
Found = dict[str, Vector]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors (dimension,) float32 of words; which words is up to who read them."""

    dimension: int
    source: str
    """Where the vectors come from, for the record."""
    sha256: str | None = None
    """Of the file that was read."""
    of: Found = field(default_factory=dict, repr=False)
    """Vector of each word that was asked for and is there."""


def random_vectors(dimension: int) -> WordVectors:
    """Return vectors of this dimension that know no word: each one will be random."""
    return WordVectors(dimension, "random")


def read_vectors(path: Path, dimension: int, wanted: Collection[str]) -> WordVectors:
    """Read from `path` the vectors of length `dimension` of those of the `wanted` words it has.

    By suffix: .txt has lines of a word and its numbers, as GloVe; .zip has such files, and the
    one whose name ends with `.{dimension}d.txt` is read without unpacking it; .npz has `words`
    (n,) and `vectors` (n, dimension). Of a word that comes twice the first vector counts.
    Raises UserError when the file is not so.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise UserError(f"{path}: expected {', '.join(_READERS)}, found '{path.suffix}'")
    words = set(wanted)
    try:
        found = read(path, dimension, words)
        digest = sha256(path)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{path}: cannot be read as {path.suffix}: {error}") from error
    for word, vector in found.items():
        broken = vector[~np.isfinite(vector)]
        if broken.size:
            raise UserError(f"{path}: word {word!r}: expected finite numbers, found {broken[0]}")
    return WordVectors(dimension, path.name, digest, found)


def _read_text(path: Path, dimension: int, wanted: set[str]) -> Found:
    with path.open("rb") as lines:
        return _parse(lines, dimension, wanted, str(path))


def _read_zip(path: Path, dimension: int, wanted: set[str]) -> Found:
    ending = f".{dimension}d.txt"
    with zipfile.ZipFile(path) as archive:
        # macOS puts a companion with the same ending next to each file.
        names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
        fitting = [name for name in names if name.endswith(ending)]
        if len(fitting) != 1:
            found = ", ".join(fitting or names[:8]) or "nothing"
            raise UserError(f"{path}: expected one file that ends with {ending}, found {found}")
        with archive.open(fitting[0]) as lines:
            return _parse(lines, dimension, wanted, f"{path}: {fitting[0]}")


def _read_npz(path: Path, dimension: int, wanted: set[str]) -> Found:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            words, vectors = arrays["words"], arrays["vectors"]
    except (KeyError, ValueError, TypeError, AttributeError, MemoryError) as error:
        raise UserError(f"{path}: expected arrays `words` and `vectors`, found: {error}") from error
    if words.ndim != 1 or words.dtype.kind != "U":
        raise UserError(f"{path}: words: expected strings (n,), found {words.dtype} {words.shape}")
    expected = (len(words), dimension)
    if vectors.shape != expected or vectors.dtype.kind != "f":
        raise UserError(
            f"{path}: vectors: expected floats {expected}, found {vectors.dtype} {vectors.shape}"
        )
    rows: dict[str, int] = {}
    for row, word in enumerate(words.tolist()):
        if word in wanted:
            rows.setdefault(word, row)
    return {word: vectors[row].astype(np.float32) for word, row in rows.items()}


_READERS: dict[str, Callable[[Path, int, set[str]], Found]] = {
    ".txt": _read_text,
    ".zip": _read_zip,
    ".npz": _read_npz,
}


def _parse(lines: Iterable[bytes], dimension: int, wanted: set[str], where: str) -> Found:
    # Most lines are of no interest: compare bytes, decode nothing.
    missing = {word.encode(): word for word in wanted}
    found: Found = {}
    number = 0
    for number, line in enumerate(lines, start=1):
        # A word may have spaces in it, so that only the end of a line tells where it stops. The
        # first line of a file has a plain word and shows how long the vectors are.
        parts = line.rstrip().rsplit(b" ", dimension if number > 1 else -1)
        if len(parts) != dimension + 1:
            raise UserError(
                f"{where}: line {number}: expected a word and {dimension} numbers, "
                f"found {len(parts) - 1} numbers"
            )
        word = missing.pop(parts[0], None)
        if word is not None:
            found[word] = _numbers(parts[1:], f"{where}: line {number}")
    if not number:
        raise UserError(f"{where}: expected lines of a word and {dimension} numbers, found none")
    return found


def _numbers(parts: list[bytes], where: str) -> Vector:
    try:
        with np.errstate(over="ignore"):  # too large a number becomes infinite, which is refused
            return np.array([float(part) for part in parts]).astype(np.float32)
    except ValueError as error:
        raise UserError(f"{where}: expected numbers after the word, found: {error}") from error
