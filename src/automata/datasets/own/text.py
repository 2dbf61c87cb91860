"""A user's texts, as words: a table with a column of them, or a folder of files per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from automata.config.data import OwnText
from automata.datasets.kinds import known_note, known_share, length_notes, numbered, numbering
from automata.datasets.own.folders import TEXTS, class_files, files_at, names_at
from automata.datasets.own.reader import read_table
from automata.datasets.own.splits import KEYS, assign, given_paths, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import RawSplits, Tokens
from automata.datasets.words import tokenise
from automata.errors import UserError, listed

NEVER_CUT = 256
"""Texts with no more words than this keep all of them."""


def load(own: OwnText) -> RawSplits[Tokens]:
    """Return the splits of a user's texts as the words of each.

    Texts are cut at twice the 95th percentile of the training lengths, at NEVER_CUT at least.
    """
    paths = given_paths(own)
    train, texts, labels, notes = None, {}, {}, list[str]()
    if paths["train"].is_dir():
        if own.group or own.order:
            raise UserError("a folder of texts has no columns: leave out group and order")
        for split, path in paths.items():
            ignored: list[str] = []
            files, labels[split] = class_files(path, TEXTS, ignored)
            notes += [f"{KEYS[split]}: {note}" for note in ignored]
            texts[split] = _read_texts(files, own.encoding)
        classes, parts = assign(labels)
    else:
        read = read_own(own)
        classes, parts, notes = read.classes, read.parts, read.notes
        train = read.tables["train"]
        texts = {split: [*table.frame[own.text]] for split, table in read.tables.items()}
    words = {split: [tokenise(text) for text in found] for split, found in texts.items()}
    lengths = [len(words["train"][row]) for row in parts["train"].rows]
    if not any(lengths):
        raise UserError(f"{paths['train']}: no training text has a word")
    longest = max(NEVER_CUT, int(2 * np.percentile(lengths, 95)))
    notes.append(f"words in a text: {np.median(lengths):.0f} (median), {max(lengths)} (most)")
    notes += length_notes([text for found in words.values() for text in found], longest)
    return raw_splits(
        own,
        classes,
        parts,
        lambda part: [words[part.file][row][:longest] for row in part.rows],
        notes,
        separator=train and train.separator,
        longest=longest,
    )


def read_rows(
    path: Path, own: OwnText | None, encoding: Mapping[str, Any]
) -> tuple[Tensor, list[str], list[str]]:
    """Return new texts (n, longest) as the numbers of their words; see `automata.datasets.own`.

    `path` is a table, a `.txt` file, or a folder with any below it.
    """
    own = own or OwnText(kind="text", path=str(path))
    if path.is_dir() or path.suffix.lower() in TEXTS:
        files = files_at(path, TEXTS)
        texts, names = _read_texts(files, own.encoding), names_at(path, files)
    else:
        table = read_table(path, own, encoding.get("separator"))
        table.require([own.text], "the model needs")
        texts = [*table.frame[own.text]]
        names = [*map(str, range(1, len(texts) + 1))]
    numbers, longest = numbering(encoding["words"]), encoding.get("longest")
    whole = [tokenise(text) for text in texts]
    tokens = [text[:longest] for text in whole]
    known = known_note({"rows": known_share(tokens, numbers)})
    return numbered(tokens, numbers), names, [*length_notes(whole, longest), known]


def _read_texts(files: Sequence[Path], encoding: str | None) -> list[str]:
    """Return the texts in `files`; raises UserError that names all that are unreadable."""
    texts, broken = [], []
    for file in files:
        try:
            texts.append(file.read_text(encoding or "utf-8").removeprefix("\ufeff"))
        except (OSError, ValueError, LookupError):
            broken.append(file)
    if broken:
        raise UserError(f"encoding: not readable as {encoding or 'UTF-8'}: {listed(broken)}")
    return texts
