"""The Sentiment Treebank: its trees, and three data sets that are made of them."""

import zipfile

import pytest

from automata.datasets.official.sst import SCORES, TREES, sst2, sst2_binary, sst5, words_of
from automata.errors import UserError

LOADERS = {"sst5": sst5, "sst2": sst2, "sst2-binary": sst2_binary}
FIVE = ["negative", "somewhat negative", "neutral", "somewhat positive", "positive"]
NEUTRAL = {"neutral_sentences": 5}

GOOD = "(4 (2 A) (4 (3 Good) (2 film)))"
BAD = "(1 (1 Dull) (2 .))"
UPWARDS = "(2 (3 (3 Clever) (2 start)) (2 (2 but) (2 long)))"
DOWNWARDS = "(2 (2 Its) (2 (3 clich\u00e9s) (1 (2 -LRB-) (1 (0 bore) (2 -RRB-)))))"
LEVEL = "(2 (3 Co-writer\\/director) (3 .))"
WORD = "(2 Hmm)"
# The texts of the neutral trees in the spelling of the scores' own files, with raw brackets.
PHRASES = {
    "Clever start but long": 0.5,
    "Its clich\u00e9s ( bore )": 0.51389,
    "Co-writer\\/director .": 0.41667,
    "Hmm": 0.58333,
    "bore": 0.1,
}


TRAIN = (GOOD, BAD, UPWARDS, DOWNWARDS, LEVEL, WORD)
SPLITS = {"train": TRAIN, "dev": [GOOD, LEVEL], "test": [BAD]}


def load(folder, name, scores=None):
    """Load small archives; `scores` has the members of the second one."""
    members = {TREES: {f"trees/{it}.txt": "\n".join(rows) + "\n" for it, rows in SPLITS.items()}}
    if scores is not None:
        members[SCORES] = {f"stanfordSentimentTreebank/{it}": text for it, text in scores.items()}
    for file, texts in members.items():
        with zipfile.ZipFile(folder / file, "w") as archive:
            for member, text in texts.items():
                archive.writestr(member, text)
    return LOADERS[name](name, {file: folder / file for file in members})


def scored(folder, phrases):
    """Load with scores in their official format."""
    numbered = list(enumerate(phrases.items()))
    dictionary = "".join(f"{phrase}|{number}\n" for number, (phrase, _) in reversed(numbered))
    values = "".join(f"{number}|{score}\n" for number, (_, score) in numbered)
    return load(folder, "sst2", tables_of(dictionary, values))


def tables_of(dictionary, values):
    labels = f"phrase ids|sentiment values\n{values}"
    return {"dictionary.txt": dictionary, "sentiment_labels.txt": labels}


def test_escapes_of_the_treebank_are_undone():
    tree = "(2 (2 -LRB-) (2 (2 and\\/or) (2 (2 \\*\\*) (2 (2 8\u00a01\\/2) (2 -RRB-)))))"
    assert words_of(tree) == ["(", "and/or", "**", "8", "1/2", ")"]


@pytest.mark.parametrize(
    ("name", "labels", "sizes", "classes", "facts"),
    [
        ("sst5", [4, 1, 2, 2, 2, 2], (6, 2, 1), FIVE, {}),
        ("sst2-binary", [1, 0], (2, 1, 1), FIVE[::4], {}),
        # A neutral sentence is judged by the mean of its phrases; a tie is negative.
        ("sst2", [1, 0, 1, 0, 0, 0], (6, 2, 1), FIVE[::4], NEUTRAL | {"neutral_rule": "trees"}),
    ],
)
def test_trees_become_words_and_classes(tmp_path, name, labels, sizes, classes, facts):
    raw = load(tmp_path, name)
    assert raw.train.inputs[0] == ["a", "good", "film"]
    assert raw.train.labels.tolist() == labels
    assert (len(raw.train), len(raw.validation), len(raw.test)) == sizes
    assert (raw.classes, raw.facts) == (classes, facts)


def test_neutral_sentences_are_positive_with_a_score_above_one_half(tmp_path):
    raw = scored(tmp_path, {**PHRASES, "A Good film": 0.1})  # which is not neutral
    assert raw.train.labels.tolist() == [1, 0, 0, 1, 0, 1]
    assert raw.facts == NEUTRAL | {"neutral_rule": "scores"}
    assert SCORES in raw.source


@pytest.mark.parametrize(
    "spelling",
    [
        "Its clich\u00c3\u00a9s -LRB- bore -RRB-",
        "Its cliche\u0301s ( bore )",
        "its clich\u00e9s (bore)",
    ],
)
def test_sentence_is_found_in_other_spellings(tmp_path, spelling):
    phrases = {spelling if "( bore )" in phrase else phrase: it for phrase, it in PHRASES.items()}
    assert scored(tmp_path, phrases).train.labels[3] == 1


def test_exact_text_comes_before_similar_ones_which_must_agree(tmp_path):
    similar = {"hmm": 0.1, "HMM": 0.1, **PHRASES}
    assert scored(tmp_path, similar).train.labels[5] == 1
    del similar["Hmm"]
    assert scored(tmp_path, similar).train.labels[5] == 0
    with pytest.raises(UserError, match="score of 'Hmm', found similar phrases that disagree"):
        scored(tmp_path, similar | {"HMM": 0.9})
    with pytest.raises(UserError, match="expected a score of 'Clever start but long', found none"):
        scored(tmp_path, {"Hmm": 0.6})


@pytest.mark.parametrize(
    ("scores", "found"),
    [
        ({}, "no item named .*dictionary.txt"),
        (tables_of("Hmm|7\n", "0|0.6\n"), "'7'"),
        (tables_of("Hmm|0\n", "0|high\n"), "'high'"),
    ],
)
def test_scores_in_another_format_are_an_error(tmp_path, scores, found):
    with pytest.raises(UserError, match=rf"{SCORES}: .*found: .*{found}"):
        load(tmp_path, "sst2", scores)
