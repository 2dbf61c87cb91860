"""The Sentiment Treebank: its trees, and three data sets that are made of them."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree as NltkTree

from automata.datasets.raw import RawSplits, Tokens
from automata.datasets.sst import label_of, sst2, sst2_binary, sst5, words_of
from automata.errors import UserError

TREES = "trainDevTestTrees_PTB.zip"
SCORES = "stanfordSentimentTreebank.zip"

GOOD = "(4 (2 A) (4 (3 Good) (2 film)))"
BAD = "(1 (1 Dull) (2 .))"
UPWARDS = "(2 (3 (3 Clever) (2 start)) (2 (2 but) (2 long)))"
DOWNWARDS = "(2 (2 Its) (2 (3 clich\u00e9s) (1 (2 -LRB-) (1 (0 bore) (2 -RRB-)))))"
LEVEL = "(2 (3 Co-writer\\/director) (3 .))"
WORD = "(2 Hmm)"
NEUTRALS = (UPWARDS, DOWNWARDS, LEVEL, WORD)
ALL = (GOOD, BAD, *NEUTRALS)


def packed(**members: str | bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def trees(
    train: Sequence[str] = ALL, dev: Sequence[str] = (GOOD, LEVEL), test: Sequence[str] = (BAD,)
) -> bytes:
    """Return trainDevTestTrees_PTB.zip with these trees."""
    splits = {"train": train, "dev": dev, "test": test}
    return packed(**{f"trees/{name}.txt": "\n".join(rows) + "\n" for name, rows in splits.items()})


LOADERS = {"sst5": sst5, "sst2": sst2, "sst2-binary": sst2_binary}


def load(
    folder: Path, name: str, archive: bytes | None = None, scores: bytes | None = None
) -> RawSplits[Tokens]:
    paths = {TREES: folder / TREES}
    paths[TREES].write_bytes(trees() if archive is None else archive)
    if scores is not None:
        paths[SCORES] = folder / SCORES
        paths[SCORES].write_bytes(scores)
    return LOADERS[name](name, paths)


labels = st.integers(0, 4)
words = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P"], exclude_characters="()\\/*"),
    min_size=1,
).filter(lambda word: not word.isspace() and "RB-" not in word)
leaves = st.builds("({} {})".format, labels, words)
binary_trees = st.recursive(
    leaves, lambda part: st.builds("({} {} {})".format, labels, part, part), max_leaves=20
)


@given(binary_trees)
def test_words_are_the_leaves_that_nltk_reads(line: str) -> None:
    assert words_of(line) == NltkTree.fromstring(line).leaves()


@given(binary_trees)
def test_label_is_that_of_the_root_that_nltk_reads(line: str) -> None:
    assert str(label_of(line)) == NltkTree.fromstring(line).label()


@given(binary_trees)
def test_phrases_are_the_nodes_above_the_words_that_nltk_reads(line: str) -> None:
    neutral = f"(2 {line} (2 end))"
    nodes = NltkTree.fromstring(neutral).subtrees(lambda node: node.height() > 2)
    positive = np.mean([int(node.label()) for node in nodes]) > 2
    with tempfile.TemporaryDirectory() as folder:
        raw = load(Path(folder), "sst2", trees(train=[neutral]))
    assert raw.train.labels.tolist() == [int(positive)]


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        ("-LRB-", ["("]),
        ("-RRB-", [")"]),
        ("and\\/or", ["and/or"]),
        ("\\*\\*", ["**"]),
        ("8\u00a01\\/2", ["8", "1/2"]),
        ("Na\u00efve", ["Na\u00efve"]),
    ],
)
def test_escapes_of_the_treebank_are_undone(leaf: str, expected: list[str]) -> None:
    assert words_of(f"(2 {leaf})") == expected


@pytest.mark.parametrize("name", ["sst5", "sst2", "sst2-binary"])
def test_words_are_lower_case(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, name).train.inputs[0] == ["a", "good", "film"]


def test_sst5_keeps_the_five_labels(tmp_path: Path) -> None:
    raw = load(tmp_path, "sst5")
    assert (raw.train.labels.tolist(), raw.validation.labels.tolist()) == (
        [4, 1, 2, 2, 2, 2],
        [4, 2],
    )


def test_sst5_names_its_classes_from_negative_to_positive(tmp_path: Path) -> None:
    expected = ["negative", "somewhat negative", "neutral", "somewhat positive", "positive"]
    assert load(tmp_path, "sst5").classes == expected


def test_sst2_binary_leaves_the_neutral_sentences_out(tmp_path: Path) -> None:
    raw = load(tmp_path, "sst2-binary")
    assert (raw.train.labels.tolist(), raw.validation.labels.tolist()) == ([1, 0], [1])


def test_sst2_keeps_every_sentence(tmp_path: Path) -> None:
    raw = load(tmp_path, "sst2")
    assert (len(raw.train), len(raw.validation), len(raw.test)) == (6, 2, 1)


def test_trees_class_a_neutral_sentence_by_the_mean_of_its_phrases(tmp_path: Path) -> None:
    raw = load(tmp_path, "sst2")
    assert raw.train.labels.tolist() == [1, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("tie", [LEVEL, WORD])
def test_tie_of_the_phrases_is_negative(tmp_path: Path, tie: str) -> None:
    raw = load(tmp_path, "sst2", trees(train=[tie]))
    assert raw.train.labels.tolist() == [0]


def test_facts_tell_the_rule_and_how_many_it_classed(tmp_path: Path) -> None:
    facts = load(tmp_path, "sst2").facts
    assert facts == {"neutral_rule": "trees", "neutral_sentences": 5}


@pytest.mark.parametrize("name", ["sst5", "sst2-binary"])
def test_other_sets_have_no_such_facts(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, name).facts == {}


# The texts of NEUTRALS in the spelling of the scores' own files, which have raw brackets.
PHRASES = {
    "Clever start but long": 0.5,
    "Its clich\u00e9s ( bore )": 0.51389,
    "Co-writer\\/director .": 0.41667,
    "Hmm": 0.58333,
    "bore": 0.1,
}


def score_files(phrases: dict[str, float], encoding: str = "utf-8") -> bytes:
    """Return stanfordSentimentTreebank.zip in its official format."""
    numbered = list(enumerate(phrases.items()))
    dictionary = "".join(f"{phrase}|{number}\n" for number, (phrase, _) in reversed(numbered))
    scores = "".join(f"{number}|{score}\n" for number, (_, score) in numbered)
    folder = "stanfordSentimentTreebank"
    return packed(
        **{
            f"{folder}/datasetSentences.txt": "sentence_index\tsentence\n1\tHmm\n",
            f"{folder}/datasetSplit.txt": "sentence_index,splitset_label\n1,1\n",
            f"{folder}/dictionary.txt": dictionary.encode(encoding),
            f"{folder}/sentiment_labels.txt": f"phrase ids|sentiment values\n{scores}",
        }
    )


def scored(folder: Path, scores: bytes) -> RawSplits[Tokens]:
    return load(folder, "sst2", scores=scores)


def test_scores_above_one_half_are_positive(tmp_path: Path) -> None:
    raw = scored(tmp_path, score_files(PHRASES))
    assert raw.train.labels.tolist() == [1, 0, 0, 1, 0, 1]


def test_scores_class_only_the_neutral_sentences(tmp_path: Path) -> None:
    raw = scored(tmp_path, score_files({**PHRASES, "A Good film": 0.1}))
    assert raw.train.labels[0] == 1


def test_facts_and_source_tell_of_the_scores(tmp_path: Path) -> None:
    raw = scored(tmp_path, score_files(PHRASES))
    expected = {"neutral_rule": "scores", "neutral_sentences": 5}
    assert (raw.facts, SCORES in raw.source) == (expected, True)


ACCENTED = "Its clich\u00e9s ( bore )"
SPELLINGS = {
    "mojibake": "Its clich\u00c3\u00a9s ( bore )",
    "escaped brackets": "Its clich\u00e9s -LRB- bore -RRB-",
    "decomposed": "Its cliche\u0301s ( bore )",
    "lost character": "Its clich\ufffds ( bore )",
    "other spaces": "Its clich\u00e9s (bore)",
    "other case": "its clich\u00e9s ( bore )",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_sentence_is_found_in_other_spellings(tmp_path: Path, spelling: str) -> None:
    phrases = {
        SPELLINGS[spelling] if phrase == ACCENTED else phrase: score
        for phrase, score in PHRASES.items()
    }
    assert scored(tmp_path, score_files(phrases)).train.labels[3] == 1


def test_exact_text_comes_before_a_similar_one(tmp_path: Path) -> None:
    similar = {"hmm": 0.1, "HMM": 0.1, **PHRASES}
    assert scored(tmp_path, score_files(similar)).train.labels[5] == 1


def test_similar_texts_that_disagree_give_no_score(tmp_path: Path) -> None:
    phrases = {"hmm": 0.1, "HMM": 0.9, **{p: s for p, s in PHRASES.items() if p != "Hmm"}}
    with pytest.raises(UserError, match="score of 'Hmm', found similar phrases that disagree"):
        scored(tmp_path, score_files(phrases))


def test_sentence_without_a_score_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a score of 'Clever start but long', found none"):
        scored(tmp_path, score_files({"Hmm": 0.6}))


FOLDER = "stanfordSentimentTreebank"


@pytest.mark.parametrize(
    ("dictionary", "values", "found"),
    [
        ("Hmm|0\n", None, "no item named .*sentiment_labels.txt"),
        ("Hmm 0\n", "phrase ids|sentiment values\n0|0.6\n", "'Hmm 0'"),
        ("Hmm|7\n", "phrase ids|sentiment values\n0|0.6\n", "'7'"),
        ("Hmm|0\n", "phrase ids|sentiment values\n0|high\n", "'high'"),
        (b"\xff|0\n", "phrase ids|sentiment values\n0|0.6\n", "can't decode"),
    ],
)
def test_scores_in_another_format_are_an_error(
    tmp_path: Path, dictionary: str | bytes, values: str | None, found: str
) -> None:
    members = {f"{FOLDER}/dictionary.txt": dictionary, f"{FOLDER}/sentiment_labels.txt": values}
    archive = packed(**{name: text for name, text in members.items() if text is not None})
    with pytest.raises(UserError, match=rf"{SCORES}: .*found: .*{found}"):
        scored(tmp_path, archive)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("sst5", [[1092, 2218, 1624, 2322, 1288], [139, 289, 229, 279, 165]]),
        ("sst2", [[4247, 4297], [551, 550]]),
        ("sst2-binary", [[3310, 3610], [428, 444]]),
    ],
)
def test_official_classes_have_the_known_counts(
    official: Callable[..., dict[str, Path]], name: str, counts: list[list[int]]
) -> None:
    raw = LOADERS[name](name, official(TREES))
    found = [np.bincount(part.labels).tolist() for part in (raw.train, raw.validation)]
    assert found == counts


@pytest.mark.parametrize(("name", "size"), [("sst5", 2210), ("sst2", 2210), ("sst2-binary", 1821)])
def test_official_test_split_has_the_size_of_the_paper(
    official: Callable[..., dict[str, Path]], name: str, size: int
) -> None:
    assert len(LOADERS[name](name, official(TREES)).test) == size


def test_official_leaves_are_those_that_nltk_reads(
    official: Callable[..., dict[str, Path]],
) -> None:
    paths = official(TREES)
    with zipfile.ZipFile(paths[TREES]) as archive:
        lines = archive.read("trees/dev.txt").decode().strip().split("\n")
    expected = [
        [
            {"-lrb-": "(", "-rrb-": ")"}.get(leaf, leaf.replace("\\", ""))
            for leaf in map(str.lower, NltkTree.fromstring(line).leaves())
        ]
        for line in lines
    ]
    assert sst5("sst5", paths).validation.inputs == expected
