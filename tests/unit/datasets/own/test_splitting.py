"""Splits by group and by time: nothing of a group, or of later, is among the training rows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.data import OwnTabular
from automata.datasets.own import load
from automata.datasets.own.splits import draw_groups, draw_last
from automata.datasets.own.tables import read_own
from automata.errors import UserError
from tests.unit.datasets.own.test_own_tabular import features

ROWS = 200
FRAME = pd.DataFrame(
    {
        "height": np.arange(ROWS) * 1.5,
        "patient": [f"p{number % 37}" for number in range(ROWS)],
        "day": [f"2024-{1 + number % 12:02}-{1 + number % 27:02}" for number in range(ROWS)],
        "number": np.arange(ROWS)[::-1],
        "species": ["a", "b"] * (ROWS // 2),
    }
)


def parts(folder: Path, frame: pd.DataFrame = FRAME, **said: Any) -> dict[str, pd.DataFrame]:
    frame.to_csv(folder / "own.csv", index=False)
    own = OwnTabular(kind="tabular", path=str(folder / "own.csv"), target="species", **said)
    found = read_own(own).parts
    return {split: frame.iloc[part.rows] for split, part in found.items()}


def test_no_group_is_in_two_splits(tmp_path: Path) -> None:
    found = parts(tmp_path, group="patient")
    groups = [set(part["patient"]) for part in found.values()]
    assert not groups[0] & groups[1]
    assert not groups[0] & groups[2]
    assert not groups[1] & groups[2]
    assert sum(len(part) for part in found.values()) == ROWS
    assert 40 <= len(found["test"]) <= 46  # 20 %, up to a group more
    assert 20 <= len(found["validation"]) <= 26


@pytest.mark.parametrize("column", ["day", "number"])
def test_the_last_rows_are_for_testing_and_those_before_for_validation(
    tmp_path: Path, column: str
) -> None:
    found = parts(tmp_path, order=column)
    assert [len(found[split]) for split in ("train", "validation", "test")] == [140, 20, 40]
    assert found["train"][column].max() <= found["validation"][column].min()
    assert found["validation"][column].max() <= found["test"][column].min()


def test_the_column_is_no_feature(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "own.csv", index=False)
    own = OwnTabular(
        kind="tabular",
        path=str(tmp_path / "own.csv"),
        target="species",
        group="patient",
        dates=["day"],
    )
    assert features(load("mine", own)) == ["height", "day", "number"]


@pytest.mark.parametrize(
    ("said", "change", "expected"),
    [
        ({"group": "who"}, {}, "no column who, which group names; it has height"),
        ({"group": "species"}, {}, "^group: 'species' is the target as well"),
        ({"group": "patient", "order": "day"}, {}, "^order: group is given as well"),
        ({"order": "patient"}, {}, "column 'patient': rows are ordered by numbers or dates"),
        ({"order": "number"}, {"number": None}, "column 'number': missing cells: 200"),
        ({"group": "patient"}, {"patient": "p1"}, "none is left for training: a, b"),
    ],
)
def test_columns_that_will_not_do_are_one_line(
    tmp_path: Path, said: dict[str, str], change: dict[str, Any], expected: str
) -> None:
    with pytest.raises(UserError, match=expected) as caught:
        parts(tmp_path, FRAME.assign(**change), **said)
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(0, 5), min_size=3, max_size=60), st.floats(0.05, 0.6))
def test_groups_are_drawn_whole_and_no_more_than_needed(groups: list[int], share: float) -> None:
    names = np.array([str(group) for group in groups], dtype=object)
    labels, rows = np.zeros(len(groups), np.int64), np.arange(len(groups))
    drawn = partial(draw_groups, names)(labels, rows, share)
    inside = set(names[drawn])
    assert inside.isdisjoint(names[np.setdiff1d(rows, drawn)])
    assert len(drawn) >= share * len(groups)
    assert min(len(drawn) - int((names == name).sum()) for name in inside) < share * len(groups)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=40), st.floats(0.05, 0.9))
def test_nothing_drawn_is_before_what_stays(values: list[int], share: float) -> None:
    array, rows = np.array(values), np.arange(len(values))
    drawn = draw_last(array, np.zeros(len(values), np.int64), rows, share)
    rest = np.setdiff1d(rows, drawn)
    assert len(drawn) == round(share * len(values))
    assert not len(drawn) or not len(rest) or array[drawn].min() >= array[rest].max()
