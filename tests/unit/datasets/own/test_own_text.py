"""A user's texts as words, from a table or a folder."""

from pathlib import Path

import numpy as np
import pytest

from automata.config.data import OwnText
from automata.datasets.own import load
from automata.datasets.own.text import read_rows
from automata.datasets.words import tokenise
from automata.errors import UserError
from automata.files import content_of

from .own_tables import copy_of, written

TEXTS = ["It's good.", "Bad, I say!", "None", 'a "quoted"\nbreak', "007", "null"]
STARS = {"good/1.txt": "It's good.", "good/2.TXT": "\ufeffgreat", "bad/x.txt": "Bad,\nI say!"}


def table_of(folder, texts, suffix=".csv", name="t"):
    """Write texts with classes a, b, a, ... and return the path."""
    return written({"text": texts}, folder / f"{name}{suffix}")


def folder_of(folder, texts, encoding="utf-8"):
    """Write texts by class and name."""
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode(encoding))
    return str(folder)


def loaded(path, **keys):
    return load("mine", OwnText(kind="text", path=path, target="kind", **keys))


def whole(path, test=None, **keys):
    """Load texts that are their own validation file, so that no text leaves training."""
    return loaded(path, validation=copy_of(path, "validation"), test=test or copy_of(path), **keys)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_inputs_are_the_words_of_each_text_in_order(tmp_path, suffix):
    path = table_of(tmp_path, TEXTS, suffix)
    raw = whole(path, table_of(tmp_path, ["test set"] * 2, suffix, "test"))
    assert raw.train.inputs == [tokenise(text) for text in TEXTS]
    assert raw.train.labels.tolist() == [0, 1] * 3
    assert raw.test.inputs == [["test", "set"]] * 2


def test_text_without_words_is_kept_and_counted(tmp_path):
    raw = whole(table_of(tmp_path, ["a", None, "b", "<br/>"]))
    assert raw.train.inputs == [["a"], [], ["b"], []]
    words = "words in a text: 0 (median), 1 (most)"
    assert raw.facts["read"] == [words, "texts without words: 6 of 12"]
    with pytest.raises(UserError, match=r"t.csv: no training text has a word"):
        whole(table_of(tmp_path, ["", "  "]))


@pytest.mark.parametrize(
    ("lengths", "longest"),
    [
        ([40_000, *[3] * 99], 256),
        ([*range(100, 300), 3000], int(2 * np.percentile([*range(100, 300), 3000], 95))),
    ],
)
def test_texts_are_cut_at_twice_the_length_of_nearly_all_training_texts(tmp_path, lengths, longest):
    test = table_of(tmp_path, ["w " * 9000] * 2, name="test")
    raw = whole(table_of(tmp_path, ["w " * length for length in lengths]), test)
    assert [len(text) for text in raw.train.inputs] == [min(it, longest) for it in lengths]
    assert [len(text) for text in raw.test.inputs] == [longest] * 2
    assert raw.encoding["longest"] == longest
    cut = f"texts cut at {longest} words: 4 of {2 * len(lengths) + 2}"
    assert raw.facts["read"][1:] == [cut]


def test_folder_of_texts_reads_like_the_table_of_its_files(tmp_path):
    others = {"README.txt": "", "good/Thumbs.db": "", ".git/a/b": ""}
    path = folder_of(tmp_path / "a", STARS | others)
    test = folder_of(tmp_path / "b", {"bad/1.txt": "", "bad/2.txt": "x"})
    raw = whole(path, test)
    assert (raw.classes, raw.source) == (["bad", "good"], "own file a")
    assert raw.train.inputs == [["bad", ",", "i", "say", "!"], ["it", "'s", "good", "."], ["great"]]
    assert raw.train.labels.tolist() == [0, 1, 1]
    assert raw.test.inputs == [[], ["x"]]
    assert raw.files.items() >= {it: content_of(Path(it)) for it in (path, test)}.items()
    assert raw.facts["rows_by_class"]["test"] == {"bad": 2, "good": 0}
    note = "2 files ignored: README.txt, good/Thumbs.db; valid: CLASS/FILE (.txt)"
    assert raw.facts["read"][0].removeprefix("data: ") == note


def test_folder_in_another_encoding_is_read_or_every_file_is_named(tmp_path):
    path = folder_of(tmp_path, {"a/1.txt": "caf\xe9", "b/2.txt": "\xe4", "b/3.txt": "x"}, "cp1252")
    assert whole(path, encoding="cp1252").train.inputs[0] == ["caf\xe9"]
    with pytest.raises(UserError, match=r"mine: encoding: .* as UTF-8: .*a/1.txt, .*b/2.txt$"):
        whole(path)
    with pytest.raises(UserError, match=r"mine: encoding: not readable as klingon: "):
        whole(path, encoding="klingon")
    folder_of(tmp_path, {"a/1.txt": "caf\xe9", "b/2.txt": "\xe4"}, "utf-16")
    assert whole(path).train.inputs[0] == ["caf\xe9"]


@pytest.mark.parametrize(
    ("texts", "keys", "problem"),
    [
        (STARS, {"test": "none.csv"}, r"none\.csv: there is no file"),
        (STARS, {"order": "o"}, "a folder of texts is no table: leave out group, order, "),
        (STARS, {"skip_rows": True}, ".*no table: leave out .*, skip_rows and drop_duplicates"),
        ({f"train/{name}": "x" for name in STARS}, {}, ".*: path: .*/train"),
    ],
)
def test_folder_that_cannot_be_used_is_refused(tmp_path, texts, keys, problem):
    with pytest.raises(UserError, match=rf"^own_datasets\.mine: {problem}"):
        loaded(folder_of(tmp_path, texts), **keys)


def test_prediction_reads_a_folder_or_a_file_and_counts_what_it_cuts_and_knows(tmp_path):
    folder_of(tmp_path, {"1.txt": "a b c d e f", "in/2.txt": ""})
    encoding = {"words": ["a"], "longest": 4}
    inputs, names, notes = read_rows(tmp_path, None, encoding)
    assert (inputs.tolist(), names) == ([[2, 1, 1, 1], [1, 0, 0, 0]], ["1.txt", "in/2.txt"])
    assert notes == [
        "texts without words: 1 of 2",
        "texts cut at 4 words: 1 of 2",
        "tokens that the model knows: rows 25 %",
    ]
    inputs, names, _ = read_rows(tmp_path / "1.txt", None, encoding)
    assert (inputs.tolist(), names) == ([[2, 1, 1, 1]], ["1.txt"])
    assert read_rows(tmp_path, None, {"words": ["a"]})[0].shape == (2, 6)  # an earlier model


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It works!", "it works !"),
        ("I don't know.", "i do n't know ."),
        ("John's dogs' bones", "john 's dogs ' bones"),
        ("It\N{RIGHT SINGLE QUOTATION MARK}s", "it 's"),
        ("We CANNOT (really) go", "we can not ( really ) go"),
        ('He said "go" twice', "he said `` go '' twice"),
        ("One. Two.", "one . two ."),
        ("wait... what?", "wait ... what ?"),
        ("a<br />b &amp; c&nbsp;d", "a b & c d"),
        ("costs $3.50, not 1,000", "costs $ 3.50 , not 1,000"),
        ("好的,I LOVE 东京タワー。", "好 的 , i love 东 京 タ ワ ー 。"),
        ("ไทย 1,000", "ไ ท ย 1,000"),
        ("한국어 좋아", "한국어 좋아"),
        ("Ça coûte 3 €, 😃", "ça coûte 3 € , 😃"),
    ],
)
def test_words_are_penn_treebanks_in_lower_case(text, words):
    assert tokenise(text) == words.split()
