"""A user's texts as words: a table with a column of texts, or a folder with files per class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from automata.config.data import OwnText
from automata.datasets.kinds import known_note, known_share, length_notes, numbered, numbering
from automata.datasets.own.folders import TEXTS, class_files, files_at
from automata.datasets.own.reader import decoded, read_table
from automata.datasets.own.splits import NOTED, Part, assign, given_paths, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import RawSplits, Tokens
from automata.datasets.words import tokenise
from automata.errors import UserError, listed


def load(own: OwnText) -> RawSplits[Tokens]:
    """Return texts as words, cut at twice the 95th percentile of training lengths, 256 or more."""
    paths = given_paths(own)
    separator, words, labels, notes = None, {}, {}, list[str]()
    if paths["train"].is_dir():
        if own.group or own.order or own.skip_rows or own.drop_duplicates:
            keys = "group, order, skip_rows and drop_duplicates"
            raise UserError(f"a folder of texts is no table: leave out {keys}")
        for split, path in paths.items():
            files, labels[split], ignored = class_files(path, TEXTS)
            notes += [f"{NOTED[split]}: {note}" for note in ignored]
            words[split] = _read_words(files, own.encoding)
        classes, parts = assign(labels)
    else:
        tables, classes, parts, notes = read_own(own)
        separator = tables["train"].separator
        for split, table in tables.items():
            words[split] = [*map(tokenise, table.frame[own.text])]
    lengths = [len(words["train"][row]) for row in parts["train"].rows]
    if not any(lengths):
        raise UserError(f"{paths['train']}: no training text has a word")
    longest = max(256, int(2 * np.percentile(lengths, 95)))
    notes.append(f"words in a text: {np.median(lengths):.0f} (median), {max(lengths)} (most)")
    notes += length_notes([text for texts in words.values() for text in texts], longest)

    def cut(part: Part) -> Tokens:
        return [words[part.file][row][:longest] for row in part.rows]

    return raw_splits(own, classes, parts, cut, notes, separator=separator, longest=longest)


def read_rows(
    path: Path, own: OwnText | None, encoding: Mapping[str, Any]
) -> tuple[Tensor, list[str], list[str]]:
    """Read new texts from a table, a `.txt` or a folder, as numbers of words (n, longest)."""
    own = own or OwnText(kind="text", path=str(path))
    if path.is_dir() or path.suffix.lower() in TEXTS:
        files = files_at(path, TEXTS)
        words, names = _read_words(files.values(), own.encoding), [*files]
    else:
        table = read_table(path, own, encoding.get("separator"))
        table.require([own.text], "the model needs")
        words = [*map(tokenise, table.frame[own.text])]
        names = [str(number) for number in range(1, len(words) + 1)]
    numbers, longest = numbering(encoding["words"]), encoding.get("longest")
    tokens = [text[:longest] for text in words]
    known = known_note({"rows": known_share(tokens, numbers)})
    return numbered(tokens, numbers), names, [*length_notes(words, longest), known]


def _read_words(files: Iterable[Path], encoding: str | None) -> Tokens:
    """Return the words of each file; raises UserError with the names of all unreadable files."""
    words, unreadable = [], []
    for file in files:
        try:
            words.append(tokenise(decoded(file.read_bytes(), encoding)))
        except (OSError, ValueError, LookupError):
            unreadable.append(file)
    if unreadable:
        raise UserError(f"encoding: not readable as {encoding or 'UTF-8'}: {listed(unreadable)}")
    return words
