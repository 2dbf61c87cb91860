"""Splits of a user's rows: stratified and seeded, by group, or by time."""

import numpy as np
import pandas as pd
import pytest

from automata.config.data import OwnTabular
from automata.datasets.own.splits import FileLabels, assign
from automata.datasets.own.tables import read_own
from automata.errors import UserError

from .own_tables import features, loaded, written

SHARES = {"train": 0.7, "validation": 0.1, "test": 0.2}
ROWS = 200
FRAME = pd.DataFrame(
    {
        "height": np.arange(ROWS) * 1.5,
        "patient": [f"p{number % 37}" for number in range(ROWS)],
        "day": [f"2024-{1 + number % 12:02}-{1 + number % 27:02}" for number in range(ROWS)],
        "number": np.arange(ROWS)[::-1],
        "kind": ["a", "b"] * (ROWS // 2),
    }
)


def drawn(counts, **given_files):
    """Return the splits of a file with these counts of classes."""
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    files = {"train": rows, **given_files}
    return assign({split: FileLabels(split, [*map(str, it)]) for split, it in files.items()})[1]


def test_split_of_known_rows_stays_as_it_is():
    """Another scikit-learn that drew other rows would silently change every result."""
    parts = drawn([10, 10])
    assert parts["validation"].rows.tolist() == [16, 17]
    assert parts["test"].rows.tolist() == [5, 6, 12, 14]


@pytest.mark.parametrize(
    ("counts", "given_files", "sizes"),
    [
        ([3] * 40, {}, [40, 40, 40]),
        ([20, 20], {"validation": [1, 0, 1]}, [32, 3, 8]),
        ([20, 20], {"test": [1, 0, 1]}, [36, 4, 3]),
        ([1, 1], {"validation": [0], "test": [1, 1]}, [2, 1, 2]),
    ],
)
def test_given_files_are_taken_whole_and_others_are_a_tenth_and_a_fifth(counts, given_files, sizes):
    parts = drawn(counts, **given_files)
    assert [len(parts[split].rows) for split in SHARES] == sizes
    for split, labels in given_files.items():
        assert (parts[split].file, parts[split].labels.tolist()) == (split, labels)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"train": "abbccc" + "d" * 30}, r"left for training: a, b: add .*, or .*skip_rows: true"),
        ({"train": "ab" * 9, "test": "ac"}, r"^test: classes that train lacks: c; it has a, b$"),
        ({"train": "aaa"}, "'a' is the only class, at least 2"),
        ({"train": "ab" * 9, "test": ""}, "^test: there are no rows"),
    ],
)
def test_classes_that_cannot_be_split_are_refused_in_one_line(files, problem):
    with pytest.raises(UserError, match=problem):
        assign({split: FileLabels(split, names) for split, names in files.items()})


def parts(folder, **keys):
    """Return the rows of the splits by a column, which is no feature."""
    own = {"kind": "tabular", "path": written(FRAME, folder / "t.csv"), "target": "kind", **keys}
    found = read_own(OwnTabular.model_validate(own)).parts
    names = {name.partition("=")[0] for name in features(loaded(folder, FRAME, **keys))}
    assert names.isdisjoint(keys.values())
    return {split: FRAME.iloc[part.rows] for split, part in found.items()}


def test_no_group_is_in_two_splits(tmp_path):
    found = parts(tmp_path, group="patient")
    assert sum(part["patient"].nunique() for part in found.values()) == 37
    assert sum(len(part) for part in found.values()) == ROWS
    largest = FRAME["patient"].value_counts().max()
    assert 40 <= len(found["test"]) < 40 + largest
    assert 20 <= len(found["validation"]) < 20 + largest


@pytest.mark.parametrize("column", ["day", "number"])
def test_the_last_rows_are_for_testing_and_those_before_for_validation(tmp_path, column):
    found = parts(tmp_path, order=column)
    assert [len(found[split]) for split in SHARES] == [140, 20, 40]
    assert found["train"][column].max() <= found["validation"][column].min()
    assert found["validation"][column].max() <= found["test"][column].min()


@pytest.mark.parametrize(
    ("keys", "change", "problem"),
    [
        ({"group": "who"}, {}, "no column who, which group names; it has height"),
        ({"group": "kind"}, {}, "mine: group: 'kind' is the target as well"),
        ({"group": "patient", "order": "day"}, {}, "mine: order: group is given as well"),
        ({"order": "patient"}, {}, "column 'patient': rows are ordered by numbers or dates"),
        ({"order": "number"}, {"number": None}, "column 'number': missing cells: 200"),
        ({"group": "patient"}, {"patient": "p1"}, "none is left for training: a, b"),
    ],
)
def test_columns_that_cannot_split_rows_are_refused_in_one_line(tmp_path, keys, change, problem):
    with pytest.raises(UserError, match=problem) as caught:
        loaded(tmp_path, FRAME.assign(**change), **keys)
    assert "\n" not in str(caught.value)
