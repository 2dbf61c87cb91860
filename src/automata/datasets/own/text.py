"""A user's texts, as words: a column of them, and one of their classes."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable

from automata.config.data import OwnText
from automata.datasets.own.paths import fault
from automata.datasets.own.reader import Table, is_text
from automata.datasets.own.splits import raw_splits
from automata.datasets.own.tables import read_own
from automata.datasets.raw import RawSplits, Tokens

_BREAK = re.compile(r"</?(?:br|p|div)\s*/?>")
# Treebank's rules expect one sentence, and split off its last period only.
_SENTENCE_END = re.compile(r"(?<=[^\s.])\.(?=\s)")
_QUOTES = {"\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''"}


def load(name: str, own: OwnText) -> RawSplits[Tokens]:
    """Return the splits of a user's texts as the words of each.

    Raises UserError for columns that are not there, missing texts or classes, and files that
    cannot be read or split.
    """
    read = read_own(name, own)
    words = {split: words_of(table, own.text) for split, table in read.tables.items()}
    return raw_splits(
        {split: table.path for split, table in read.tables.items()},
        read.classes,
        read.parts,
        lambda part: [words[part.file][row] for row in part.rows],
        {"encoding": read.tables["train"].encoding},
    )


def words_of(table: Table, column: str) -> Tokens:
    """Return the words of the texts in `column`; raises UserError for gaps and other cells."""
    if not is_text(table.frame[column]):
        raise fault(f"{table.where(column)}: it holds numbers or dates, not texts")
    return [tokenise(text) for text in table.frame[column].astype(object)]


def tokenise(text: str) -> list[str]:
    """Return the words of `text` as GloVe 6B writes them: lower case, Penn Treebank style.

    Punctuation and clitics are words of their own ("do n't"), double quotes become `` and '',
    HTML line breaks are white space, and other HTML entities the character they stand for.
    """
    plain = html.unescape(text).lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    words = _treebank()(_SENTENCE_END.sub(" .", _BREAK.sub(" ", plain)))
    return [_QUOTES.get(word, word) for word in words]


@functools.cache
def _treebank() -> Callable[[str], list[str]]:
    # Imported where it is used: it takes a second, and the official texts are words already.
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenize: Callable[[str], list[str]] = NLTKWordTokenizer().tokenize
    return tokenize
