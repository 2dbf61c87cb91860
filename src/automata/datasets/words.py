"""Splits a text into words as in GloVe's vocabularies."""

from __future__ import annotations

import html
import re

from nltk.tokenize.destructive import NLTKWordTokenizer

_TREEBANK = NLTKWordTokenizer()
_BREAK = re.compile(r"</?(?:br|p|div)\s*/?>")
# The Treebank's rules expect one sentence, and split off only the last period.
_SENTENCE_END = re.compile(r"(?<=[^\s.])\.(?=\s)")
_QUOTES = {"\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''"}
# Thai to Burmese; Khmer; Chinese and Japanese with their wide and narrow punctuation.
_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3000-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f\U00020000-\U0003ffff]"
)


def tokenise(text: str) -> list[str]:
    """Return the words of `text` as GloVe 6B writes them: lower case, Penn Treebank style.

    Punctuation and clitics are words of their own ("do n't"), double quotes become `` and '',
    HTML line breaks are white space, and other HTML entities the character they stand for.
    Each character of a script without blanks between words, such as Chinese, is a word.
    """
    plain = html.unescape(text).lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    plain = _WITHOUT_BLANKS.sub(r" \g<0> ", _BREAK.sub(" ", plain))
    words = _TREEBANK.tokenize(_SENTENCE_END.sub(" .", plain))
    return [_QUOTES.get(word, word) for word in words]
