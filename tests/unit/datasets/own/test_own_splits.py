"""Splits of a user's rows: stratified and seeded, by group, or by time."""

import numpy as np
import pandas as pd
import pytest

from automata.config.data import OwnTabular
from automata.datasets.own.splits import FileLabels, assign
from automata.datasets.own.tables import read_own

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
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    files = {"train": rows, **given_files}
    _, parts = assign({split: FileLabels(split, [*map(str, it)]) for split, it in files.items()})
    assert [len(parts[split].rows) for split in SHARES] == sizes
    for split, labels in given_files.items():
        assert (parts[split].file, parts[split].labels.tolist()) == (split, labels)


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
