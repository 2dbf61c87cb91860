"""The Stanford Sentiment Treebank in five and in two classes."""

from __future__ import annotations

import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from automata.datasets.raw import RawSplits, Rows, Tokens
from automata.datasets.sources import Source
from automata.errors import UserError

TREES = "trainDevTestTrees_PTB.zip"
SCORES = "stanfordSentimentTreebank.zip"
MEMBERS = {"train": "trees/train.txt", "validation": "trees/dev.txt", "test": "trees/test.txt"}
DICTIONARY = "stanfordSentimentTreebank/dictionary.txt"
LABELS = "stanfordSentimentTreebank/sentiment_labels.txt"
FIVE = ["negative", "somewhat negative", "neutral", "somewhat positive", "positive"]
TWO = ["negative", "positive"]
NEUTRAL = 2

_LEAF = re.compile(r"\(([0-4]) ([^()]+)\)")
_PHRASE = re.compile(r"\(([0-4]) (?=\()")
_PAIR = re.compile(r"\([0-4] \* \*\)")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}


@dataclass(frozen=True)
class Tree:
    """A sentence as the treebank has it; labels are 0 to 4."""

    words: list[str]
    """The leaves with brackets and slashes unescaped, in upper and lower case."""
    label: int
    phrases: list[int]
    """Labels of the phrases of two words or more, that of the whole sentence first."""


Classify = Callable[[Tree], int]


def load(source: Source) -> RawSplits[Tokens]:
    """Return the sentences of the treebank's own splits, as lower-case words.

    "sst5" has five classes. "sst2-binary" has two, without the neutral sentences. "sst2" has two
    and keeps the neutral sentences, as the paper: each is positive if its sentiment score exceeds
    0.5 (`sst2_neutral` "scores"), or if the mean label of its phrases of two words or more
    exceeds that of a neutral one (otherwise).

    Raises UserError if the file of scores is not in its official format, or sentences have none.
    """
    splits = {
        split: [parse(line) for line in _lines(source.paths[TREES], member)]
        for split, member in MEMBERS.items()
    }
    if source.name == "sst5":
        return _splits(source, splits, FIVE, lambda tree: tree.label)
    if source.name == "sst2-binary":
        polar = {split: _polar(trees) for split, trees in splits.items()}
        return _splits(source, polar, TWO, _polarity)
    return _with_neutral(source, splits)


def parse(line: str) -> Tree:
    """Return the tree of a line such as "(3 (2 Good) (2 .))".

    Raises ValueError if it is not one binary tree with labels 0 to 4.
    """
    shape, pairs = _LEAF.sub("*", line), 1
    while pairs:
        shape, pairs = _PAIR.subn("*", shape)
    if shape != "*":
        raise ValueError("not a binary tree with labels 0 to 4")
    # A few leaves hold two words, with a no-break space between them.
    words = [word for leaf in _LEAF.finditer(line) for word in _unescape(leaf[2]).split()]
    return Tree(words, int(line[1]), [int(label) for label in _PHRASE.findall(line)])


def _with_neutral(source: Source, splits: dict[str, list[Tree]]) -> RawSplits[Tokens]:
    """Return two classes of all sentences, with the rule for the neutral ones among the facts."""
    neutral = [tree for trees in splits.values() for tree in trees if tree.label == NEUTRAL]
    rule = source.preparation.sst2_neutral or "trees"
    side = _side_by_scores(source, neutral) if rule == "scores" else _side_by_phrases
    raw = _splits(
        source, splits, TWO, lambda t: side(t) if t.label == NEUTRAL else _polarity(t), rule
    )
    raw.facts.update(neutral_rule=rule, neutral_sentences=len(neutral))
    return raw


def _splits(
    source: Source,
    splits: dict[str, list[Tree]],
    classes: list[str],
    classify: Classify,
    rule: str | None = None,
) -> RawSplits[Tokens]:
    """Put the trees into rows."""
    read = f"{TREES} and {SCORES}" if rule == "scores" else TREES
    return RawSplits(
        train=_rows(splits["train"], classify),
        validation=_rows(splits["validation"], classify),
        test=_rows(splits["test"], classify),
        classes=list(classes),
        source=f"Stanford NLP, {read}",
        files=dict(source.checksums),
    )


def _rows(trees: Sequence[Tree], classify: Classify) -> Rows[Tokens]:
    tokens = [[word.lower() for word in tree.words] for tree in trees]
    return Rows(tokens, np.array([classify(tree) for tree in trees], dtype=np.int64))


def _polar(trees: list[Tree]) -> list[Tree]:
    return [tree for tree in trees if tree.label != NEUTRAL]


def _polarity(tree: Tree) -> int:
    return int(tree.label > NEUTRAL)


def _side_by_phrases(tree: Tree) -> int:
    """Return 1 if the phrases are positive on average; single words would blur that."""
    return int(sum(tree.phrases) > NEUTRAL * len(tree.phrases))


def _side_by_scores(source: Source, neutral: list[Tree]) -> Classify:
    """Return the rule that a sentence is positive if its sentiment score exceeds 0.5."""
    scores = _Scores(_phrase_scores(source))
    sides = {_text(tree): scores.positive(_text(tree)) for tree in neutral}
    missing = [_text(tree) for tree in neutral if sides[_text(tree)] is None]
    if missing:
        raise UserError(
            f"{source.name}: {source.paths[SCORES]}: expected a score for each of {len(neutral)} "
            f"neutral sentences, found none for {len(missing)}, such as {missing[0][:60]!r}"
        )
    return lambda tree: int(sides[_text(tree)] is True)


def _text(tree: Tree) -> str:
    return " ".join(tree.words)


class _Scores:
    """Finds phrases by their text, first as it is and then by its ASCII characters alone."""

    def __init__(self, scores: dict[str, float]) -> None:
        """Take scores, 0 to 1, by phrase."""
        self._sides: dict[Callable[[str], str], dict[str, set[bool]]] = {}
        for spelling in (_same_text, _skeleton):
            sides = self._sides[spelling] = {}
            for phrase, score in scores.items():
                sides.setdefault(spelling(phrase), set()).add(score > 0.5)

    def positive(self, sentence: str) -> bool | None:
        """Return whether the score exceeds 0.5; None if it is not known."""
        for spelling, sides in self._sides.items():
            found = sides.get(spelling(sentence), set())
            # Texts that this spelling cannot tell apart may disagree.
            if len(found) == 1:
                return next(iter(found))
        return None


def _same_text(text: str) -> str:
    """Return one spelling of a text for all files of the treebank.

    They differ in their brackets, and some have UTF-8 that was read as Latin-1.
    """
    repaired = re.sub(r"[\x80-\xff]{2,}", _repair, text)
    words = unicodedata.normalize("NFC", _unescape(repaired)).split()
    return " ".join(_BRACKETS.get(word, word) for word in words)


def _repair(garbled: re.Match[str]) -> str:
    """Return what was meant by Latin-1 characters that together are UTF-8, else the same."""
    try:
        return garbled[0].encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return garbled[0]


def _skeleton(text: str) -> str:
    """Return the visible ASCII characters of a text, in lower case: no encoding harms those."""
    return "".join(letter for letter in _same_text(text) if "!" <= letter <= "~").lower()


def _unescape(leaf: str) -> str:
    """Return a leaf as it was before the treebank's escapes for brackets and slashes."""
    return _BRACKETS.get(leaf, re.sub(r"\\([/*])", r"\1", leaf))


def _phrase_scores(source: Source) -> dict[str, float]:
    """Return the sentiment scores, 0 to 1, of all phrases in the dictionary.

    The file has no published checksum: raises UserError if it is not in the official format.
    """
    path = source.paths[SCORES]
    try:
        _, *lines = _lines(path, LABELS)  # "id|score" below a header
        scores = {number: float(score) for number, score in map(_cells, lines)}
        phrases = map(_cells, _lines(path, DICTIONARY))  # "phrase|id"
        return {phrase: scores[number] for phrase, number in phrases}
    except (KeyError, ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UserError(
            f"{source.name}: {path}: expected {LABELS} with lines 'id|score' and {DICTIONARY} with "
            f"lines 'phrase|id', found: {error}"
        ) from error


def _cells(line: str) -> tuple[str, str]:
    """Return what is before and after the last bar of a line."""
    left, bar, right = line.rpartition("|")
    if not bar:
        raise ValueError(f"the line {line[:40]!r}")
    return left, right


def _lines(path: Path, member: str) -> list[str]:
    """Return the lines of a member that are not empty."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read(member).decode()
    # Not splitlines: it would also break lines at characters that are part of a sentence.
    return [line.strip("\r ") for line in text.split("\n") if line.strip()]
