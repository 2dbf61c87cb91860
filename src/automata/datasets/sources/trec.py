"""TREC questions with their coarse classes."""

from __future__ import annotations

import numpy as np

from automata.datasets.raw import RawSplits, Rows, Tokens, split_rows
from automata.datasets.sources import Source
from automata.errors import UserError

TRAIN, TEST = "train_5500.label", "TREC_10.label"
CLASSES = ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]


def load(source: Source) -> RawSplits[Tokens]:
    """Return TREC's questions as lower-case words, with the six coarse classes.

    A tenth of the training questions, drawn with a fixed seed, are the validation rows.

    Raises UserError if a line is not "COARSE:fine question".
    """
    known = _read(source, TRAIN)
    validation, train = split_rows(len(known), round(0.1 * len(known)))
    return RawSplits(
        train=known[train],
        validation=known[validation],
        test=_read(source, TEST),
        classes=list(CLASSES),
        source=f"CogComp question classification, {TRAIN} and {TEST}",
        files=dict(source.checksums),
    )


def _read(source: Source, name: str) -> Rows[Tokens]:
    """Return the questions of one file, in its order."""
    # Not splitlines: in ISO-8859-1 it would also break lines at other characters.
    lines = source.paths[name].read_text(encoding="iso-8859-1").split("\n")
    questions, labels = [], []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            label, question = _parse(source, name, number, line)
            labels.append(label)
            questions.append(question)
    if not labels:
        raise _malformed(source, name, 1, "an empty file")
    return Rows(questions, np.array(labels, dtype=np.int64))


def _parse(source: Source, name: str, number: int, line: str) -> tuple[int, list[str]]:
    """Return the label and the words of a line; its fine class gives the answer away."""
    category, *words = line.lower().split()
    coarse, colon, _ = category.partition(":")
    if not colon or coarse.upper() not in CLASSES or not words:
        raise _malformed(source, name, number, repr(line[:40]))
    return CLASSES.index(coarse.upper()), words


def _malformed(source: Source, name: str, number: int, found: str) -> UserError:
    return UserError(
        f"{source.name}: {source.paths[name]}, line {number}: expected 'COARSE:fine question' "
        f"with COARSE one of {', '.join(CLASSES)}, found {found}"
    )
