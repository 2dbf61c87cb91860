"""A user's texts as words."""

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


def loaded(folder, texts, labels=None, suffix=".csv", text="review", target="stars", **others):
    """Write texts with alternating classes and load them; others are further files."""
    table = pd.DataFrame({"stars": labels or [i % 2 for i in range(len(texts))], "review": texts})
    for name, frame in {"path": table, **others}.items():
        file = folder / f"{name}{suffix}"
        frame.to_parquet(file) if suffix == ".parquet" else frame.to_csv(file, index=False)
    paths = {name: str(folder / f"{name}{suffix}") for name in ("path", *others)}
    return load("mine", OwnText(kind="text", text=text, target=target, **paths))


@pytest.fixture
def others():
    return {
        name: pd.DataFrame({"review": [f"{name} set"], "stars": [1]})
        for name in ("validation", "test")
    }


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_inputs_are_the_words_of_each_text_in_order(tmp_path, others, suffix):
    raw = loaded(tmp_path, TEXTS, suffix=suffix, **others)
    assert raw.train.inputs == [tokenise(text) for text in TEXTS]
    assert raw.train.labels.tolist() == [0, 1] * 3
    assert raw.test.inputs == [["test", "set"]]


def test_drawn_splits_have_every_text_once(tmp_path):
    texts = [f"word{number}" for number in range(40)]
    raw = loaded(tmp_path, texts)
    found = raw.train.inputs + raw.validation.inputs + raw.test.inputs
    assert sorted(found) == sorted([text] for text in texts)
    assert [len(raw.train), len(raw.validation), len(raw.test)] == [28, 4, 8]


def test_labels_go_with_their_texts(tmp_path):
    raw = loaded(tmp_path, ["no", "yes"] * 20, labels=["no", "yes"] * 20)
    words = [[raw.classes[label]] for label in raw.train.labels]
    assert raw.train.inputs == words


def test_record_says_source_files_and_rows(tmp_path, others):
    raw = loaded(tmp_path, TEXTS, **others)
    assert raw.source == "own file path.csv"
    assert list(raw.files) == [str(tmp_path / f"{n}.csv") for n in ("path", "validation", "test")]
    assert raw.facts["rows_by_class"]["train"] == {"0": 3, "1": 3}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("nothing", [None, "", "  ", "<br/>"])
def test_text_without_words_is_kept_and_counted(tmp_path, others, nothing, suffix):
    raw = loaded(tmp_path, ["a", nothing, "b", nothing], suffix=suffix, **others)
    assert raw.train.inputs == [["a"], [], ["b"], []]
    words = "words in a text: 0 (median), 1 (most)"
    assert raw.facts["read"] == [words, "texts without words: 2 of 6"]


def test_training_texts_without_any_word_are_refused(tmp_path, others):
    with pytest.raises(UserError, match=r"path.csv: no training text has a word"):
        loaded(tmp_path, ["", ""], **others)


def test_texts_of_another_separator_and_encoding_are_read(tmp_path, others):
    plain = loaded(tmp_path, TEXTS, **others)
    for name in ("path", "validation", "test"):
        table = pd.read_csv(tmp_path / f"{name}.csv", keep_default_na=False)
        table.to_csv(tmp_path / f"{name}.csv", index=False, sep=";", encoding="utf-16")
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("path", "validation", "test")}
    form = {"separator": ";", "encoding": "utf-16"}
    own = OwnText(kind="text", text="review", target="stars", **form, **paths)
    assert load("mine", own).train.inputs == plain.train.inputs


def test_one_long_text_among_short_ones_is_cut(tmp_path, others):
    raw = loaded(tmp_path, ["w " * 40_000, *["a b c"] * 99], **others)
    assert [len(text) for text in raw.train.inputs] == [256, *[3] * 99]
    assert raw.encoding["longest"] == 256
    assert raw.facts["read"][1:] == ["texts cut at 256 words: 1 of 102"]


def test_texts_are_cut_at_twice_the_length_of_nearly_all_training_texts(tmp_path, others):
    lengths = [*range(100, 300), 3000]
    raw = loaded(tmp_path, ["w " * length for length in lengths], **others)
    assert raw.encoding["longest"] == int(2 * np.percentile(lengths, 95))
    others["test"] = others["test"].assign(review="w " * 9000)
    assert loaded(tmp_path, ["w " * 300] * 4, **others).test.inputs == [["w"] * 600]


def folder_of(folder, texts, encoding="utf-8"):
    """Write texts by class and name."""
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode(encoding))
    return str(folder)


STARS = {"good/1.txt": "It's good.", "good/2.TXT": "\ufeffgreat", "bad/x.txt": "Bad,\nI say!"}


def test_folder_of_texts_reads_like_the_table_of_its_files(tmp_path):
    path = folder_of(tmp_path / "a", STARS)
    test = folder_of(tmp_path / "b", {"bad/1.txt": "", "bad/2.txt": "x"})
    raw = load("mine", OwnText(kind="text", path=path, validation=test, test=test))
    assert (raw.classes, raw.source) == (["bad", "good"], "own file a")
    assert raw.train.inputs == [["bad", ",", "i", "say", "!"], ["it", "'s", "good", "."], ["great"]]
    assert raw.train.labels.tolist() == [0, 1, 1]
    assert raw.test.inputs == [[], ["x"]]
    assert list(raw.files) == [path, test]


def test_splits_of_a_folder_are_drawn(tmp_path):
    texts = {f"{'ab'[n % 2]}/{n}.txt": f"w{n}" for n in range(40)}
    raw = load("mine", OwnText(kind="text", path=folder_of(tmp_path, texts)))
    assert [len(raw.train), len(raw.validation), len(raw.test)] == [28, 4, 8]
    assert {
        w[0]: raw.classes[y] for w, y in zip(raw.test.inputs, raw.test.labels, strict=True)
    } == {w[0]: "ab"[int(w[0][1:]) % 2] for w in raw.test.inputs}


def test_other_files_of_a_folder_are_told(tmp_path):
    path = folder_of(tmp_path, STARS | {"README.txt": "", "good/Thumbs.db": "", ".git/a/b": ""})
    raw = load("mine", OwnText(kind="text", path=path, validation=path, test=path))
    assert len(raw.train) == 3
    said = f"{path}: 2 files ignored: README.txt, good/Thumbs.db; valid: CLASS/FILE (.txt)"
    assert said in raw.facts["read"]


def test_folder_in_another_encoding_is_read_or_every_file_is_named(tmp_path):
    path = folder_of(tmp_path, {"a/1.txt": "caf\xe9", "b/2.txt": "\xe4", "b/3.txt": "x"}, "cp1252")
    said = {"kind": "text", "path": path, "validation": path, "test": path}
    assert load("mine", OwnText(**said, encoding="cp1252")).train.inputs[0] == ["caf\xe9"]
    with pytest.raises(UserError, match=r"mine: encoding: .* as UTF-8: .*a/1.txt, .*b/2.txt$"):
        load("mine", OwnText(**said))
    with pytest.raises(UserError, match=r"mine: encoding: not readable as klingon: "):
        load("mine", OwnText(**said, encoding="klingon"))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"test": "none.csv"}, r"own_datasets\.mine: none\.csv: there is no file"),
        ({"group": "g", "order": "o"}, "own_datasets.mine: .* no columns: .* group and order"),
    ],
)
def test_what_a_folder_cannot_have_is_refused(tmp_path, said, problem):
    with pytest.raises(UserError, match=problem):
        load("mine", OwnText(kind="text", path=folder_of(tmp_path, STARS), **said))


def test_folder_above_the_classes_has_no_texts(tmp_path):
    path = folder_of(tmp_path, {f"train/{name}": text for name, text in STARS.items()})
    with pytest.raises(UserError, match="there are no rows"):
        load("mine", OwnText(kind="text", path=path))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (STARS, True),
        (STARS | {"good/.hidden": "", "README.md": ""}, True),
        ({"cat/1.png": "", "cat/2.png": "", "dog/notes.txt": ""}, False),
        ({"a.txt": ""}, False),
    ],
)
def test_folder_of_texts_is_told_from_one_of_images(tmp_path, files, expected):
    assert holds_texts(tmp_path.joinpath(folder_of(tmp_path, files))) is expected


def prepared(own):
    return prepare("mine", Preparation(vectors=Vectors(source=None, dimension=2), own=own), None)


words = st.text() | st.sampled_from(["It's", "<br>", "a.", "\u597d\u7684\u3002", "w " * 300])


@given(texts=st.lists(words, min_size=1, max_size=8), suffix=st.sampled_from([".csv", ".parquet"]))
def test_prediction_reads_texts_as_they_were_prepared(tmp_path_factory, texts, suffix):
    folder = tmp_path_factory.mktemp("texts")
    paths = {}
    for key, found in {"path": ["a word", *texts, "b"], "test": texts}.items():
        frame = pd.DataFrame({"text": found, "class": ["x", *["y"] * (len(found) - 1)]})
        paths[key] = str(folder / f"{key}{suffix}")
        if suffix == ".parquet":
            frame.to_parquet(paths[key])
        else:
            frame.to_csv(paths[key], index=False, quoting=csv.QUOTE_ALL)  # a lone \r ends a line
    own = OwnText(kind="text", **paths, validation=paths["test"])
    dataset = prepared(own)
    inputs, rows, _ = read_rows(Path(paths["test"]), own, dataset.encoding)
    assert torch.equal(inputs, dataset.test.inputs)
    assert len(rows) == len(texts)


def test_prediction_reads_a_folder_as_it_was_prepared(tmp_path):
    path = folder_of(tmp_path, STARS | {"bad/long.txt": "w " * 300, "bad/empty.txt": ""})
    own = OwnText(kind="text", path=path, validation=path, test=path)
    dataset = prepared(own)
    inputs, names, _ = read_rows(tmp_path, own, dataset.encoding)
    assert torch.equal(inputs, dataset.test.inputs)
    assert names == ["bad/empty.txt", "bad/long.txt", "bad/x.txt", "good/1.txt", "good/2.TXT"]
    alone, names, _ = read_rows(tmp_path / "bad" / "x.txt", own, dataset.encoding)
    assert torch.equal(alone[0], inputs[2, : alone.shape[1]])
    assert names == ["x.txt"]


def test_prediction_counts_what_it_cuts_and_knows(tmp_path):
    folder_of(tmp_path, {"1.txt": "a b c d e f", "2.txt": ""})
    inputs, _, notes = read_rows(tmp_path, None, {"words": ["a"], "longest": 4})
    assert inputs.tolist() == [[2, 1, 1, 1], [1, 0, 0, 0]]
    assert notes == [
        "texts without words: 1 of 2",
        "texts cut at 4 words: 1 of 2",
        "tokens that the model knows: rows 25 %",
    ]


def test_model_without_a_longest_length_cuts_nothing(tmp_path):
    folder_of(tmp_path, {"1.txt": "a " * 999})
    assert read_rows(tmp_path, None, {"words": ["a"]})[0].shape == (1, 999)


def test_tokens_of_chinese_test_texts_are_known(tmp_path):
    draws = np.random.default_rng(0).choice(list("好坏电影很不看人"), (60, 7))
    frame = pd.DataFrame({"text": ["".join(draw) for draw in draws], "class": [0, 1] * 30})
    frame.to_csv(tmp_path / "reviews.csv", index=False)
    dataset = prepared(OwnText(kind="text", path=str(tmp_path / "reviews.csv")))
    assert dataset.metadata["read"] == [
        "words in a text: 7 (median), 7 (most)",
        "tokens that the model knows: validation 100 %, test 100 %",
    ]
