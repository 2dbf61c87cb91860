"""Words of raw text."""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable

_BREAK = re.compile(r"</?(?:br|p|div)\s*/?>")
# Treebank's rules expect one sentence, and split off its last period only.
_SENTENCE_END = re.compile(r"(?<=[^\s.])\.(?=\s)")


def tokenise(text: str) -> list[str]:
    """Return the words of `text` as GloVe 6B writes them: lower case, Penn Treebank style.

    Punctuation and clitics are words of their own ("do n't"), double quotes become `` and '',
    HTML line breaks are white space, and other HTML entities the character they stand for.
    """
    plain = html.unescape(text).lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    words = _treebank()(_SENTENCE_END.sub(" .", _BREAK.sub(" ", plain)))
    return [_QUOTES.get(word, word) for word in words]


_QUOTES = {"\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''"}


@functools.cache
def _treebank() -> Callable[[str], list[str]]:
    # Imported where it is used: it takes a second, and the official texts are words already.
    from nltk.tokenize.destructive import NLTKWordTokenizer

    tokenize: Callable[[str], list[str]] = NLTKWordTokenizer().tokenize
    return tokenize
