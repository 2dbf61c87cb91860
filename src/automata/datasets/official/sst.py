"""The Stanford Sentiment Treebank in five and in two classes.

A line is a binary tree such as "(3 (2 Good) (2 .))": its words, and labels 0 to 4 of all phrases.
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from automata.datasets.official.readers import Paths, as_rows, lines_of
from automata.datasets.raw import RawSplits, Tokens
from automata.errors import UserError

TREES, SCORES = "trainDevTestTrees_PTB.zip", "stanfordSentimentTreebank.zip"
DICTIONARY = "stanfordSentimentTreebank/dictionary.txt"
LABELS = "stanfordSentimentTreebank/sentiment_labels.txt"
FIVE = ["negative", "somewhat negative", "neutral", "somewhat positive", "positive"]
TWO = [FIVE[0], FIVE[4]]
NEUTRAL = 2

_LEAF = re.compile(r"\([0-4] ([^()]+)\)")
_PHRASE = re.compile(r"\(([0-4]) (?=\()")


def sst5(_: str, paths: Paths) -> RawSplits[Tokens]:
    """Return the sentences of the treebank's own splits as lower-case words, with five classes."""
    return _raw(paths, _trees(paths), FIVE, label_of)


def sst2_binary(_: str, paths: Paths) -> RawSplits[Tokens]:
    """Return two classes, without the neutral sentences."""
    polar = [[tree for tree in trees if label_of(tree) != NEUTRAL] for trees in _trees(paths)]
    return _raw(paths, polar, TWO, lambda tree: label_of(tree) > NEUTRAL)


def sst2(_: str, paths: Paths) -> RawSplits[Tokens]:
    """Return two classes, with the neutral sentences divided among them, as in the paper.

    With the file of scores, a neutral sentence is positive if its score exceeds 0.5. Without the
    file, it is positive if the mean label of its phrases of two or more words exceeds `NEUTRAL`.

    Raises UserError if the scores are not in their official format, or a sentence has none.
    """
    trees = _trees(paths)
    rule = "scores" if SCORES in paths else "trees"
    is_positive = _rule_by_scores(paths[SCORES]) if rule == "scores" else _is_positive_by_phrases

    def classify(tree: str) -> bool:
        label = label_of(tree)
        return is_positive(tree) if label == NEUTRAL else label > NEUTRAL

    raw = _raw(paths, trees, TWO, classify)
    count = sum(label_of(tree) == NEUTRAL for some in trees for tree in some)
    raw.facts.update(neutral_rule=rule, neutral_sentences=count)
    return raw


def label_of(tree: str) -> int:
    """Return the label of the whole sentence."""
    return int(tree[1])


def words_of(tree: str) -> list[str]:
    """Return the words without escapes, in their original case."""
    # A few leaves hold two words, with a no-break space between them.
    return [word for leaf in _LEAF.findall(tree) for word in _unescaped(leaf).split()]


def _trees(paths: Paths) -> list[list[str]]:
    """Return the lines of the three splits."""
    with zipfile.ZipFile(paths[TREES]) as archive:
        members = [archive.read(f"trees/{split}.txt") for split in ("train", "dev", "test")]
    return [lines_of(member.decode()) for member in members]


def _raw(
    paths: Paths, trees: list[list[str]], classes: list[str], classify: Callable[[str], int]
) -> RawSplits[Tokens]:
    """Return the sentences as lower-case words, with the classes of `classify`."""
    train, validation, test = (
        as_rows([" ".join(words_of(tree)) for tree in some], [classify(tree) for tree in some])
        for some in trees
    )
    return RawSplits(train, validation, test, classes, f"Stanford NLP, {' and '.join(paths)}")


def _is_positive_by_phrases(tree: str) -> bool:
    """Return whether the phrases are positive on average; single words do not count."""
    labels = [int(label) for label in _PHRASE.findall(tree)]
    return sum(labels) > NEUTRAL * len(labels)


def _rule_by_scores(path: Path) -> Callable[[str], bool]:
    """Return a function: whether a tree's sentence is positive, which is a score above 0.5.

    A sentence is looked up by its text, else by its visible ASCII characters: the treebank's files
    differ in spaces, and some have UTF-8 that was read as Latin-1.
    """
    similar: dict[str, dict[str, bool]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            phrases = lines_of(archive.read(DICTIONARY).decode())
            _, *scored = lines_of(archive.read(LABELS).decode())  # below a header
        scores = dict(line.split("|") for line in scored)
        for line in phrases:
            phrase, _, number = line.rpartition("|")
            texts = similar.setdefault(_skeleton(phrase), {})
            texts[_unescaped(phrase)] = float(scores[number]) > 0.5
    except (KeyError, ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UserError(
            f"{path}: expected {LABELS} with lines 'id|score' and {DICTIONARY} with lines "
            f"'phrase|id', found: {error}"
        ) from error

    def is_positive(tree: str) -> bool:
        text = " ".join(words_of(tree))
        sides = similar.get(_skeleton(text), {})
        classes = {sides[text]} if text in sides else {*sides.values()}
        if len(classes) != 1:
            problem = "similar phrases that disagree" if classes else "none"
            raise UserError(f"{path}: expected a score of {text!r}, found {problem}")
        return True in classes

    return is_positive


def _unescaped(text: str) -> str:
    """Return a text without the treebank's escapes of brackets, slashes and asterisks."""
    text = text.replace("-LRB-", "(").replace("-RRB-", ")")
    return text.replace(r"\/", "/").replace(r"\*", "*")


def _skeleton(text: str) -> str:
    """Return the visible ASCII characters of a text in lower case; encodings agree on these."""
    composed = unicodedata.normalize("NFC", _unescaped(text))
    return "".join(letter for letter in composed if "!" <= letter <= "~").lower()
