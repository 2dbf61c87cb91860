"""GLUE's version of SST-2."""

from __future__ import annotations

import zipfile

import numpy as np

from automata.datasets.raw import RawSplits, Rows, Tokens, split_rows
from automata.datasets.sources import Source

FILE = "SST-2.zip"
TRAIN, DEVELOPMENT = "SST-2/train.tsv", "SST-2/dev.tsv"
CLASSES = ["negative", "positive"]


def load(source: Source) -> RawSplits[Tokens]:
    """Return GLUE's SST-2 as lower-case words.

    GLUE publishes no labels of its test sentences, so 5 % of the training rows, drawn with a fixed
    seed, are the test rows; the validation rows are its development set.
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
    """Return the sentences of one table, in its order: lines "sentence<tab>label" after a header.

    Not splitlines: it would also break lines at characters that are part of a sentence.
    """
    with zipfile.ZipFile(source.paths[FILE]) as archive:
        _, *lines = archive.read(member).decode().split("\n")
    rows = [line.rstrip("\r").rpartition("\t") for line in lines if line.strip()]
    labels = np.array([int(label) for _, _, label in rows], dtype=np.int64)
    return Rows([sentence.lower().split() for sentence, _, _ in rows], labels)
