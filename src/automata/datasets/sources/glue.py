"""GLUE's version of SST-2."""

from __future__ import annotations

import zipfile
import zlib

import numpy as np

from automata.datasets.raw import RawSplits, Rows, Tokens, split_rows
from automata.datasets.sources import Source
from automata.errors import UserError

FILE = "SST-2.zip"
TRAIN, DEVELOPMENT = "SST-2/train.tsv", "SST-2/dev.tsv"
CLASSES = ["negative", "positive"]
HEADER = "sentence\tlabel"


def load(source: Source) -> RawSplits[Tokens]:
    """Return GLUE's SST-2 as lower-case words.

    GLUE publishes no labels of its test sentences, so 5 % of the training rows, drawn with a fixed
    seed, are the test rows; the validation rows are its development set.

    Raises UserError if the archive lacks a table or a line is not "sentence<tab>label".
    """
    known = _read(source, TRAIN)
    test, train = split_rows(len(known), round(0.05 * len(known)))
    return RawSplits(
        train=known[train],
        validation=_read(source, DEVELOPMENT),
        test=known[test],
        classes=list(CLASSES),
        source=f"GLUE, {TRAIN} and {DEVELOPMENT} of {FILE}",
        files=dict(source.checksums),
    )


def _read(source: Source, member: str) -> Rows[Tokens]:
    """Return the sentences of one table, in its order."""
    header, *lines = _text(source, member).split("\n")
    if header.rstrip("\r") != HEADER:
        raise _malformed(source, member, f"the header {header[:40]!r}, not {HEADER!r}")
    rows = [_parse(source, member, line) for line in lines if line.strip()]
    if not rows:
        raise _malformed(source, member, "no rows")
    labels = np.array([label for _, label in rows], dtype=np.int64)
    return Rows([words for words, _ in rows], labels)


def _parse(source: Source, member: str, line: str) -> tuple[list[str], int]:
    """Return the words and the label of a line."""
    sentence, tab, label = line.rstrip("\r").rpartition("\t")
    if not tab or label not in ("0", "1") or not sentence.strip():
        raise _malformed(source, member, f"the line {line[:40]!r}")
    return sentence.lower().split(), int(label)


def _text(source: Source, member: str) -> str:
    try:
        with zipfile.ZipFile(source.paths[FILE]) as archive:
            return archive.read(member).decode()
    except KeyError as error:
        raise _malformed(source, member, "no such member") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise _malformed(source, member, str(error)) from error


def _malformed(source: Source, member: str, found: str) -> UserError:
    return UserError(
        f"{source.name}: {source.paths[FILE]}: expected {member} with lines "
        f"'sentence<tab>label' and labels 0 and 1, found: {found}"
    )
