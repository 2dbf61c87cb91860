"""A user's texts, as words: a table with a column of them, or a folder of files per class."""

from __future__ import annotations

import functools
import html
import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from automata.config.data import OwnText
from automata.datasets.kinds.text import odd_lengths
from automata.datasets.own.paths import KEYS, fault, listed
from automata.datasets.own.reader import Table, is_text
from automata.datasets.own.splits import FileLabels, Part, assign, raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import RawSplits, Tokens
from automata.files import visible_files

NEVER_CUT = 256
"""Texts with no more words than this keep all of them."""

_LOG = logging.getLogger(__name__)
_BREAK = re.compile(r"</?(?:br|p|div)\s*/?>")
# Treebank's rules expect one sentence, and split off its last period only.
_SENTENCE_END = re.compile(r"(?<=[^\s.])\.(?=\s)")
_QUOTES = {"\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''"}
# Thai to Burmese, Khmer, and Chinese and Japanese with their punctuation, wide or narrow.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3000-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff]"
)


def load(name: str, own: OwnText) -> RawSplits[Tokens]:
    """Return the splits of a user's texts as the words of each.

    Texts are cut at twice the 95th percentile of the training lengths, at NEVER_CUT at least.
    Raises UserError for files that cannot be read or split.
    """
    key = f"own_datasets.{name}"
    encoding: dict[str, Any] = {}
    if Path(own.path).is_dir():
        paths, texts, labels, read = _read_folders(key, own)
        classes, parts = assign(name, labels)
    else:
        own_tables = read_own(name, own)
        classes, parts, read = own_tables.classes, own_tables.parts, own_tables.notes
        paths = {split: table.path for split, table in own_tables.tables.items()}
        texts = {split: texts_of(table, own.text) for split, table in own_tables.tables.items()}
        train = own_tables.tables["train"]
        encoding |= {"encoding": train.encoding, "separator": train.separator}
    words = {split: [tokenise(text) for text in found] for split, found in texts.items()}
    lengths = [len(words["train"][row]) for row in parts["train"].rows]
    if not any(lengths):
        raise fault(f"{paths['train']}: no training text has a word")
    longest = max(NEVER_CUT, int(2 * np.percentile(lengths, 95)))
    read += odd_lengths([text for found in words.values() for text in found], longest)
    for line in read:
        _LOG.info("%s: %s", key, line)

    def inputs(part: Part) -> Tokens:
        return [words[part.file][row][:longest] for row in part.rows]

    encoding["longest"] = longest
    return raw_splits(paths, classes, parts, inputs, encoding, read=read)


def texts_of(table: Table, column: str) -> list[str]:
    """Return the texts in `column`, "" where they are missing; raises UserError for other cells."""
    if not is_text(table.frame[column]):
        raise fault(f"{table.where(column)}: it holds numbers or dates, not texts")
    return list(table.frame[column].astype(object))


def holds_texts(folder: Path) -> bool:
    """Return whether most files in the folders of `folder` are texts."""
    files = [file for file in visible_files(folder) if file.parent != folder]
    return 2 * len(_texts_among(files)) > len(files)


def read_files(path: Path, encoding: str | None) -> tuple[list[str], list[str]]:
    """Return the texts at `path`, a `.txt` file or a folder with any below it, and their names."""
    folder, every = (path, visible_files(path)) if path.is_dir() else (path.parent, [path])
    files = _texts_among(every)
    if not files:
        raise fault(f"{path}: there is no .txt file")
    return _read(folder, files, encoding, "own_datasets")


def tokenise(text: str) -> list[str]:
    """Return the words of `text` as GloVe 6B writes them: lower case, Penn Treebank style.

    Punctuation and clitics are words of their own ("do n't"), double quotes become `` and '',
    HTML line breaks are white space, and other HTML entities the character they stand for.
    Each character of a script without blanks between words, such as Chinese, is a word.
    """
    plain = html.unescape(text).lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    plain = _WITHOUT_BLANKS.sub(r" \g<0> ", _BREAK.sub(" ", plain))
    words = _treebank()(_SENTENCE_END.sub(" .", plain))
    return [_QUOTES.get(word, word) for word in words]


def _read_folders(
    key: str, own: OwnText
) -> tuple[dict[str, Path], dict[str, list[str]], dict[str, FileLabels], list[str]]:
    """Return folders by split, their texts, the classes of these, and what else is in there."""
    if own.group or own.order:
        raise fault(f"{key}: a folder of texts has no columns: leave out group and order")
    paths = {split: Path(getattr(own, it)) for split, it in KEYS.items() if getattr(own, it)}
    texts, labels, read = {}, {}, []
    for split, path in paths.items():
        if not path.is_dir():
            raise fault(f"{key}.{KEYS[split]}: {path}: needed is a folder, as {key}.path is one")
        every = visible_files(path)
        files = [file for file in _texts_among(every) if file.parent.parent == path]
        texts[split], names = _read(path, files, own.encoding, key)
        labels[split] = FileLabels([it.parent.name for it in files], str(path), names.__getitem__)
        if others := sorted(set(every) - set(files)):
            read.append(f"ignored, for they are no {path}/class/text.txt: {listed(others)}")
    return paths, texts, labels, read


def _texts_among(files: Sequence[Path]) -> list[Path]:
    return [it for it in files if it.suffix.lower() == ".txt" and it.is_file()]


def _read(
    folder: Path, files: Sequence[Path], encoding: str | None, key: str
) -> tuple[list[str], list[str]]:
    """Return texts and names of `files`; raises UserError that names all that are unreadable."""
    texts, broken = [], []
    for file in files:
        try:
            texts.append(file.read_text(encoding or "utf-8").removeprefix("\ufeff"))
        except (OSError, ValueError, LookupError):  # of an encoding that there is not
            broken.append(file)
    if broken:
        raise fault(f"{key}.encoding: not readable as {encoding or 'UTF-8'}: {listed(broken)}")
    return texts, [file.relative_to(folder).as_posix() for file in files]


@functools.cache
def _treebank() -> Callable[[str], list[str]]:
    # Imported where it is used: it takes a second, and the official texts are words already.
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenize: Callable[[str], list[str]] = NLTKWordTokenizer().tokenize
    return tokenize
