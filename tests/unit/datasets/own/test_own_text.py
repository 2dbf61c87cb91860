"""A user's texts as words."""

import pandas as pd
import pytest

from automata.config.data import OwnText
from automata.datasets.own import load
from automata.datasets.own.text import tokenise
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
@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_missing_text_is_refused_with_its_row(tmp_path, others, nothing, suffix):
    row = 3 if suffix == ".csv" else 2
    with pytest.raises(UserError, match=rf"column 'review': 2 missing text.* in row {row}: "):
        loaded(tmp_path, ["a", nothing, "b", nothing], suffix=suffix, **others)


def test_column_that_is_no_text_is_refused(tmp_path, others):
    with pytest.raises(UserError, match=r"column 'review': it holds integer values, not texts"):
        loaded(tmp_path, [1, 2, 3, 4], suffix=".parquet", **others)


def test_texts_of_another_separator_and_encoding_are_read(tmp_path, others):
    plain = loaded(tmp_path, TEXTS, **others)
    for name in ("path", "validation", "test"):
        table = pd.read_csv(tmp_path / f"{name}.csv", keep_default_na=False)
        table.to_csv(tmp_path / f"{name}.csv", index=False, sep=";", encoding="utf-16")
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("path", "validation", "test")}
    form = {"separator": ";", "encoding": "utf-16"}
    own = OwnText(kind="text", text="review", target="stars", **form, **paths)
    assert load("mine", own).train.inputs == plain.train.inputs
