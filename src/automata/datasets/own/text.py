"""A user's texts, as words: a table with a column of them, or a folder of files per class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from automata.config.data import OwnText
from automata.datasets.kinds import known_note, known_share, length_notes, numbered, numbering
from automata.datasets.own.folders import TEXTS, class_files, files_at
from automata.datasets.own.reader import read_table
from automata.datasets.own.splits import KEYS, Part, assign, given_paths, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import RawSplits, Tokens
from automata.datasets.words import tokenise
from automata.errors import UserError, listed


def load(own: OwnText) -> RawSplits[Tokens]:
    """Return a user's texts as words, cut at twice the 95th percentile in training, 256 or more."""
    paths = given_paths(own)
    separator, words, labels, notes = None, {}, {}, list[str]()
    if paths["train"].is_dir():
        if own.group or own.order:
            raise UserError("a folder of texts has no columns: leave out group and order")
        for split, path in paths.items():
            files, labels[split], ignored = class_files(path, TEXTS)
            notes += [f"{KEYS[split]}: {note}" for note in ignored]
            words[split] = _words(files, own.encoding)
        classes, parts = assign(labels)
    else:
        read = read_own(own)
        classes, parts, notes = read.classes, read.parts, read.notes
        separator = read.tables["train"].separator
        words = {split: [*map(tokenise, it.frame[own.text])] for split, it in read.tables.items()}
    lengths = [len(words["train"][row]) for row in parts["train"].rows]
    if not any(lengths):
        raise UserError(f"{paths['train']}: no training text has a word")
    longest = max(256, int(2 * np.percentile(lengths, 95)))
    notes.append(f"words in a text: {np.median(lengths):.0f} (median), {max(lengths)} (most)")
    notes += length_notes([text for found in words.values() for text in found], longest)

    def cut(part: Part) -> Tokens:
        return [words[part.file][row][:longest] for row in part.rows]

    return raw_splits(own, classes, parts, cut, notes, separator=separator, longest=longest)


def read_rows(
    path: Path, own: OwnText | None, encoding: Mapping[str, Any]
) -> tuple[Tensor, list[str], list[str]]:
    """Return new texts (n, longest), of a table, a `.txt` or a folder, as numbers of words."""
    own = own or OwnText(kind="text", path=str(path))
    if path.is_dir() or path.suffix.lower() in TEXTS:
        files = files_at(path, TEXTS)
        words, names = _words(files.values(), own.encoding), [*files]
    else:
        table = read_table(path, own, encoding.get("separator"))
        table.require([own.text], "the model needs")
        words = [*map(tokenise, table.frame[own.text])]
        names = [str(number) for number in range(1, len(words) + 1)]
    numbers, longest = numbering(encoding["words"]), encoding.get("longest")
    tokens = [text[:longest] for text in words]
    known = known_note({"rows": known_share(tokens, numbers)})
    return numbered(tokens, numbers), names, [*length_notes(words, longest), known]


def _words(files: Iterable[Path], encoding: str | None) -> Tokens:
    """Return the words of each file; raises UserError that names all that are unreadable."""
    words, broken = [], []
    for file in files:
        try:
            words.append(tokenise(file.read_text(encoding or "utf-8").removeprefix("\ufeff")))
        except (OSError, ValueError, LookupError):
            broken.append(file)
    if broken:
        raise UserError(f"encoding: not readable as {encoding or 'UTF-8'}: {listed(broken)}")
    return words
