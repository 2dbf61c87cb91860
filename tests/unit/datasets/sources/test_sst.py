"""The Sentiment Treebank: its trees, and three data sets that are made of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import Tree as NltkTree

from automata.config.data import Neutral, Preparation
from automata.datasets.raw import RawSplits, Tokens
from automata.datasets.sources import Source
from automata.datasets.sources.sst import load, parse
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


def source(
    folder: Path,
    name: str,
    archive: bytes | None = None,
    scores: bytes | None = None,
    neutral: Neutral | None = None,
) -> Source:
    paths = {TREES: folder / TREES, SCORES: folder / SCORES}
    paths[TREES].write_bytes(trees() if archive is None else archive)
    if scores is None:
        del paths[SCORES]
    else:
        paths[SCORES].write_bytes(scores)
    return Source(name, paths, {TREES: "ab" * 32}, Preparation(sst2_neutral=neutral))


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
    assert parse(line).words == NltkTree.fromstring(line).leaves()


@given(binary_trees)
def test_label_is_that_of_the_root_that_nltk_reads(line: str) -> None:
    assert str(parse(line).label) == NltkTree.fromstring(line).label()


@given(binary_trees)
def test_phrases_are_the_nodes_above_the_words_that_nltk_reads(line: str) -> None:
    nodes = NltkTree.fromstring(line).subtrees(lambda node: node.height() > 2)
    assert parse(line).phrases == [int(node.label()) for node in nodes]


@given(binary_trees, st.data())
def test_part_of_a_tree_is_no_tree(line: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(line) - 1))
    with pytest.raises(ValueError, match="not a binary tree"):
        parse(line[:cut])


@pytest.mark.parametrize(
    "line",
    ["", "good", "(5 a)", "(2 )", "(2 (2 a))", "(2 (2 a) (2 b) (2 c))", f"{GOOD} {BAD}", "(2 a) b"],
)
def test_line_that_is_no_binary_tree_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a binary tree"):
        parse(line)


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
    assert parse(f"(2 {leaf})").words == expected


@pytest.mark.parametrize("name", ["sst5", "sst2", "sst2-binary"])
def test_words_are_lower_case(tmp_path: Path, name: str) -> None:
    assert load(source(tmp_path, name)).train.inputs[0] == ["a", "good", "film"]


def test_sst5_keeps_the_five_labels(tmp_path: Path) -> None:
    raw = load(source(tmp_path, "sst5"))
    assert (raw.train.labels.tolist(), raw.validation.labels.tolist()) == (
        [4, 1, 2, 2, 2, 2],
        [4, 2],
    )


def test_sst5_names_its_classes_from_negative_to_positive(tmp_path: Path) -> None:
    expected = ["negative", "somewhat negative", "neutral", "somewhat positive", "positive"]
    assert load(source(tmp_path, "sst5")).classes == expected


def test_sst2_binary_leaves_the_neutral_sentences_out(tmp_path: Path) -> None:
    raw = load(source(tmp_path, "sst2-binary"))
    assert (raw.train.labels.tolist(), raw.validation.labels.tolist()) == ([1, 0], [1])


def test_sst2_keeps_every_sentence(tmp_path: Path) -> None:
    raw = load(source(tmp_path, "sst2"))
    assert (len(raw.train), len(raw.validation), len(raw.test)) == (6, 2, 1)


@pytest.mark.parametrize("neutral", [None, "trees"])
def test_trees_class_a_neutral_sentence_by_the_mean_of_its_phrases(
    tmp_path: Path, neutral: Neutral | None
) -> None:
    raw = load(source(tmp_path, "sst2", neutral=neutral))
    assert raw.train.labels.tolist() == [1, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("tie", [LEVEL, WORD])
def test_tie_of_the_phrases_is_negative(tmp_path: Path, tie: str) -> None:
    raw = load(source(tmp_path, "sst2", trees(train=[tie])))
    assert raw.train.labels.tolist() == [0]


def test_facts_tell_the_rule_and_how_many_it_classed(tmp_path: Path) -> None:
    facts = load(source(tmp_path, "sst2")).facts
    assert facts == {"neutral_rule": "trees", "neutral_sentences": 5}


@pytest.mark.parametrize("name", ["sst5", "sst2-binary"])
def test_other_sets_have_no_such_facts(tmp_path: Path, name: str) -> None:
    assert load(source(tmp_path, name)).facts == {}


def test_checksum_is_passed_on(tmp_path: Path) -> None:
    assert load(source(tmp_path, "sst2")).files == {TREES: "ab" * 32}


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
    return load(source(folder, "sst2", scores=scores, neutral="scores"))


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
    with pytest.raises(UserError, match=r"found none for 1, such as 'Hmm'"):
        scored(tmp_path, score_files(phrases))


def test_sentences_without_a_score_are_counted(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"^sst2: .*a score for each of 5 neutral sentences, found none for 4, such"
    ):
        scored(tmp_path, score_files({"Hmm": 0.6}))


FOLDER = "stanfordSentimentTreebank"


@pytest.mark.parametrize(
    ("dictionary", "values", "found"),
    [
        ("Hmm|0\n", None, "no item named .*sentiment_labels.txt"),
        ("Hmm 0\n", "phrase ids|sentiment values\n0|0.6\n", "the line 'Hmm 0'"),
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
    with pytest.raises(UserError, match=rf"^sst2: .*{SCORES}: .*found: .*{found}"):
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
    official: Callable[..., Source], name: str, counts: list[list[int]]
) -> None:
    raw = load(official(name, TREES))
    found = [np.bincount(part.labels).tolist() for part in (raw.train, raw.validation)]
    assert found == counts


@pytest.mark.parametrize(("name", "size"), [("sst5", 2210), ("sst2", 2210), ("sst2-binary", 1821)])
def test_official_test_split_has_the_size_of_the_paper(
    official: Callable[..., Source], name: str, size: int
) -> None:
    assert len(load(official(name, TREES)).test) == size


def test_official_leaves_are_those_that_nltk_reads(official: Callable[..., Source]) -> None:
    found = official("sst5", TREES)
    with zipfile.ZipFile(found.paths[TREES]) as archive:
        lines = archive.read("trees/dev.txt").decode().strip().split("\n")
    expected = [
        [
            {"-lrb-": "(", "-rrb-": ")"}.get(leaf, leaf.replace("\\", ""))
            for leaf in map(str.lower, NltkTree.fromstring(line).leaves())
        ]
        for line in lines
    ]
    assert load(found).validation.inputs == expected
