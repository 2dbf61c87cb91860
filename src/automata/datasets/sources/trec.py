"""TREC questions with their coarse classes."""

from __future__ import annotations

import numpy as np

from automata.datasets.raw import RawSplits, Rows, Tokens, split_rows
from automata.datasets.sources import Source

TRAIN, TEST = "train_5500.label", "TREC_10.label"
CLASSES = ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]


def load(source: Source) -> RawSplits[Tokens]:
    """Return TREC's questions as lower-case words, with the six coarse classes.

    A tenth of the training questions, drawn with a fixed seed, are the validation rows.
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
    """Return the questions of one file, in its order: lines "COARSE:fine question".

    The fine class is left out, as it gives the answer away.
    """
    # Not splitlines: in ISO-8859-1 it would also break lines at other characters.
    lines = source.paths[name].read_text(encoding="iso-8859-1").split("\n")
    questions = [line.split() for line in lines if line.strip()]
    labels = [CLASSES.index(category.partition(":")[0]) for category, *_ in questions]
    words = [[word.lower() for word in question] for _, *question in questions]
    return Rows(words, np.array(labels, dtype=np.int64))
