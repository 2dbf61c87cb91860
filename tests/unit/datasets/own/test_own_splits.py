"""Splits of a user's rows: drawn ones are stratified, seeded, and have every class."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.data import OwnTabular
from automata.datasets.own.splits import FileLabels, assign, class_names, raw_splits
from automata.errors import UserError

SHARES = {"train": 0.7, "validation": 0.1, "test": 0.2}

counts_of_classes = st.lists(st.integers(3, 90), min_size=2, max_size=12)


def labels_of(names, where="t.csv: column 'y'"):
    return FileLabels(where, list(names))


def drawn(counts, seed=0, **given):
    """Return the splits of a file with these counts of classes, in some order."""
    names = np.repeat(np.arange(len(counts)), counts)
    shuffled = np.random.default_rng(seed).permutation(names)
    files = {split: labels_of(map(str, rows)) for split, rows in given.items()}
    return assign({"train": labels_of(map(str, shuffled)), **files})[1]


@given(counts_of_classes, st.integers(0, 9))
def test_drawn_splits_have_every_row_once(counts, seed):
    parts = drawn(counts, seed)
    rows = np.concatenate([part.rows for part in parts.values()])
    np.testing.assert_array_equal(np.sort(rows), np.arange(sum(counts)))


@given(counts_of_classes, st.integers(0, 9))
def test_every_class_is_within_two_rows_of_its_share(counts, seed):
    parts = drawn(counts, seed)
    found = np.array([np.bincount(parts[s].labels, minlength=len(counts)) for s in SHARES])
    expected = np.outer(list(SHARES.values()), counts)
    assert np.abs(found - expected).max() <= 2


@given(counts_of_classes, st.integers(0, 9))
def test_every_class_is_in_every_drawn_split(counts, seed):
    parts = drawn(counts, seed)
    assert [len(np.unique(part.labels)) for part in parts.values()] == [len(counts)] * 3


@given(counts_of_classes)
def test_the_same_rows_are_split_the_same_way(counts):
    first, second = drawn(counts), drawn(counts)
    assert [p.rows.tolist() for p in first.values()] == [p.rows.tolist() for p in second.values()]


def test_split_of_known_rows_stays_as_it_is():
    """Another scikit-learn that drew other rows would silently change every result."""
    parts = drawn([10, 10])
    assert parts["validation"].rows.tolist() == [16, 17]
    assert parts["test"].rows.tolist() == [5, 6, 12, 14]


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [([50, 50], [70, 10, 20]), ([37, 30], [47, 7, 13]), ([3] * 40, [40, 40, 40])],
)
def test_sizes_are_a_tenth_and_a_fifth_of_the_rows(counts, sizes):
    assert [len(drawn(counts)[split].rows) for split in SHARES] == sizes


def test_labels_go_with_their_rows():
    parts = assign({"train": labels_of("ba" * 20)})[1]
    np.testing.assert_array_equal(parts["train"].labels, 1 - parts["train"].rows % 2)


@pytest.mark.parametrize(
    ("split", "other", "size"), [("validation", "test", 8), ("test", "validation", 4)]
)
def test_only_the_split_without_a_file_is_drawn(split, other, size):
    parts = drawn([20, 20], **{split: [1, 0, 1]})
    assert (parts[split].file, parts[split].labels.tolist()) == (split, [1, 0, 1])
    assert (parts[other].file, len(parts[other].rows)) == ("train", size)
    assert len(parts["train"].rows) == 40 - size


def test_given_files_are_taken_whole():
    parts = drawn([1, 1], validation=[0], test=[1, 1])
    assert [len(part.rows) for part in parts.values()] == [2, 1, 2]


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (["b", "a", "b"], ["a", "b"]),
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["10", "9", "x"], ["10", "9", "x"]),
    ],
)
def test_classes_are_sorted_and_whole_numbers_by_value(names, classes):
    assert class_names(names) == classes


@pytest.mark.parametrize(
    ("given", "few"), [({}, 1), ({}, 2), ({"test": [0]}, 1), ({"validation": [0]}, 1)]
)
def test_classes_with_too_few_rows_are_one_line(given, few):
    with pytest.raises(UserError, match=r"left for training: 1, 2: add .*, or .*skip_rows: true"):
        drawn([30, few, few, few + 2], **given)


@pytest.mark.parametrize("split", ["validation", "test"])
def test_class_that_is_not_in_training_is_refused(split):
    with pytest.raises(UserError, match=r"^v\.csv: classes that t\.csv.* lacks: c; it has a, b$"):
        assign({"train": labels_of("ab" * 9), split: labels_of("ac", "v.csv")})


def test_one_class_is_too_few():
    with pytest.raises(UserError, match="'a' is the only class, at least 2"):
        assign({"train": labels_of("aaa")})


@pytest.mark.parametrize("empty", ["train", "test"])
def test_file_without_rows_is_refused(empty):
    files = {"train": labels_of("ab" * 9), "test": labels_of("ab")}
    with pytest.raises(UserError, match=r"^e\.csv: there are no rows"):
        assign({**files, empty: labels_of("", "e.csv")})


def test_record_counts_classes_without_rows(tmp_path):
    (tmp_path / "t.csv").write_text("")
    names = {"train": "aab", "validation": "a", "test": "b"}
    classes, parts = assign({split: labels_of(rows) for split, rows in names.items()})
    own = OwnTabular(kind="tabular", path=str(tmp_path / "t.csv"), target="y")
    raw = raw_splits(own, classes, parts, lambda part: part.rows, [])
    assert raw.facts == {
        "rows_by_class": {
            "train": {"a": 2, "b": 1},
            "validation": {"a": 1, "b": 0},
            "test": {"a": 0, "b": 1},
        }
    }
