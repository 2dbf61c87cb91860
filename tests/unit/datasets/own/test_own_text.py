"""A user's texts as words, from a table or a folder."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from automata.config.data import OwnText, Preparation, Vectors
from automata.datasets.own import load
from automata.datasets.own.folders import holds_texts
from automata.datasets.own.text import read_rows
from automata.datasets.prepare import prepare
from automata.datasets.words import tokenise
from automata.errors import UserError

TEXTS = ["It's good.", "Bad, I say!", "None", 'a "quoted"\nbreak', "007", "null"]
STARS = {"good/1.txt": "It's good.", "good/2.TXT": "\ufeffgreat", "bad/x.txt": "Bad,\nI say!"}


def written(folder, texts, suffix=".csv", name="t"):
    """Write texts with classes 0, 1, 0, ... and return the path."""
    table = pd.DataFrame({"text": texts, "class": np.arange(len(texts)) % 2})
    path = folder / f"{name}{suffix}"
    # Quotes for all, because a lone \r ends a line.
    form = {"index": False, "quoting": csv.QUOTE_ALL}
    table.to_parquet(path) if suffix == ".parquet" else table.to_csv(path, **form)
    return str(path)


def folder_of(folder, texts, encoding="utf-8"):
    """Write texts by class and name."""
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode(encoding))
    return str(folder)


def described(path, **keys):
    return OwnText(kind="text", path=path, **keys)


def loaded(path, **keys):
    return load("mine", described(path, **keys))


def whole(path, test=None, **keys):
    """Load texts that are their own validation file, so that no text leaves training."""
    return loaded(path, validation=path, test=test or path, **keys)


def prepared(own):
    return prepare("mine", Preparation(vectors=Vectors(source=None, dimension=2), own=own), None)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_inputs_are_the_words_of_each_text_in_order(tmp_path, suffix):
    path = written(tmp_path, TEXTS, suffix)
    raw = whole(path, written(tmp_path, ["test set"] * 2, suffix, "test"))
    assert raw.train.inputs == [tokenise(text) for text in TEXTS]
    assert raw.train.labels.tolist() == [0, 1] * 3
    assert raw.test.inputs == [["test", "set"]] * 2


@pytest.mark.parametrize("nothing", [None, "", "  ", "<br/>"])
def test_text_without_words_is_kept_and_counted(tmp_path, nothing):
    raw = whole(written(tmp_path, ["a", nothing, "b", nothing]))
    assert raw.train.inputs == [["a"], [], ["b"], []]
    words = "words in a text: 0 (median), 1 (most)"
    assert raw.facts["read"] == [words, "texts without words: 6 of 12"]
    with pytest.raises(UserError, match=r"t.csv: no training text has a word"):
        whole(written(tmp_path, [nothing, nothing]))


@pytest.mark.parametrize(
    ("lengths", "longest"),
    [
        ([40_000, *[3] * 99], 256),
        ([*range(100, 300), 3000], int(2 * np.percentile([*range(100, 300), 3000], 95))),
    ],
)
def test_texts_are_cut_at_twice_the_length_of_nearly_all_training_texts(tmp_path, lengths, longest):
    test = written(tmp_path, ["w " * 9000] * 2, name="test")
    raw = whole(written(tmp_path, ["w " * length for length in lengths]), test)
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
    assert list(raw.files) == [path, test]
    note = f"{path}: 2 files ignored: README.txt, good/Thumbs.db; valid: CLASS/FILE (.txt)"
    assert note in raw.facts["read"]


def test_folder_in_another_encoding_is_read_or_every_file_is_named(tmp_path):
    path = folder_of(tmp_path, {"a/1.txt": "caf\xe9", "b/2.txt": "\xe4", "b/3.txt": "x"}, "cp1252")
    assert whole(path, encoding="cp1252").train.inputs[0] == ["caf\xe9"]
    with pytest.raises(UserError, match=r"mine: encoding: .* as UTF-8: .*a/1.txt, .*b/2.txt$"):
        whole(path)
    with pytest.raises(UserError, match=r"mine: encoding: not readable as klingon: "):
        whole(path, encoding="klingon")


@pytest.mark.parametrize(
    ("texts", "keys", "problem"),
    [
        (STARS, {"test": "none.csv"}, r"none\.csv: there is no file"),
        (STARS, {"group": "g", "order": "o"}, ".* no columns: .* group and order"),
        ({f"train/{name}": "x" for name in STARS}, {}, ".*there are no rows"),
    ],
    ids=["absent", "columns", "above the classes"],
)
def test_folder_that_cannot_be_used_is_refused(tmp_path, texts, keys, problem):
    with pytest.raises(UserError, match=rf"^own_datasets\.mine: {problem}"):
        loaded(folder_of(tmp_path, texts), **keys)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (STARS | {"good/.hidden": "", "README.md": ""}, True),
        ({"cat/1.png": "", "cat/2.png": "", "dog/notes.txt": ""}, False),
        ({"a.txt": ""}, False),
    ],
)
def test_folders_of_texts_and_of_images_are_distinguished(tmp_path, files, expected):
    assert holds_texts(Path(folder_of(tmp_path, files))) is expected


words = st.text() | st.sampled_from(["It's", "<br>", "a.", "\u597d\u7684\u3002", "w " * 300])


@given(texts=st.lists(words, min_size=2, max_size=8), suffix=st.sampled_from([".csv", ".parquet"]))
def test_prediction_reads_texts_as_they_were_prepared(tmp_path_factory, texts, suffix):
    folder = tmp_path_factory.mktemp("texts")
    test = written(folder, texts, suffix, "test")
    own = described(written(folder, ["a word", *texts], suffix), validation=test, test=test)
    dataset = prepared(own)
    inputs, rows, _ = read_rows(Path(test), own, dataset.encoding)
    assert torch.equal(inputs, dataset.test.inputs)
    assert len(rows) == len(texts)


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


def test_tokens_of_chinese_test_texts_are_known(tmp_path):
    draws = np.random.default_rng(0).choice(list("好坏电影很不看人"), (60, 7))
    dataset = prepared(described(written(tmp_path, ["".join(draw) for draw in draws])))
    assert dataset.metadata["read"] == [
        "words in a text: 7 (median), 7 (most)",
        "tokens that the model knows: validation 100 %, test 100 %",
    ]
