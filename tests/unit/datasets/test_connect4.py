"""Connect-4: LIBSVM's lines, and a split that the file does not have."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from automata.datasets.official import connect4
from automata.datasets.raw import Numbers, RawSplits

ROWS = 30


def line(label: int, ones: list[int]) -> str:
    return " ".join([str(label), *(f"{index}:1" for index in ones)])


def small_file(rows: int = ROWS) -> str:
    """Return lines of which each has its number, in binary, in the first features."""
    return "".join(f"{line(n % 3 - 1, bits(n))}\n" for n in range(1, rows + 1))


def bits(number: int) -> list[int]:
    return [index + 1 for index in range(20) if number >> index & 1]


def numbers(features: Numbers) -> NDArray[np.int64]:
    """Return the number of each row of the small file."""
    return (features[:, :20] @ 2.0 ** np.arange(20)).astype(np.int64)


def load(folder: Path, text: str) -> RawSplits[Numbers]:
    path = folder / "connect-4"
    path.write_text(text)
    return connect4("connect4", {"connect-4": path})


@pytest.fixture
def raw(tmp_path: Path) -> RawSplits[Numbers]:
    return load(tmp_path, small_file())


def test_a_tenth_is_validation_and_a_fifth_test(raw: RawSplits[Numbers]) -> None:
    assert (len(raw.train), len(raw.validation), len(raw.test)) == (21, 3, 6)


def test_every_row_is_in_one_split(raw: RawSplits[Numbers]) -> None:
    parts = [raw.train.inputs, raw.validation.inputs, raw.test.inputs]
    assert sorted(numbers(np.concatenate(parts))) == list(range(1, ROWS + 1))


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_labels_stay_with_their_rows(raw: RawSplits[Numbers], split: str) -> None:
    rows = getattr(raw, split)
    np.testing.assert_array_equal(rows.labels, numbers(rows.inputs) % 3)


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_features_are_dense_float32_of_126_columns(raw: RawSplits[Numbers], split: str) -> None:
    features = getattr(raw, split).inputs
    assert (type(features), features.dtype, features.shape[1]) == (np.ndarray, np.float32, 126)


def test_labels_are_int64(raw: RawSplits[Numbers]) -> None:
    assert raw.train.labels.dtype == np.int64


def test_classes_are_those_of_the_file(raw: RawSplits[Numbers]) -> None:
    assert raw.classes == ["-1", "0", "1"]


def test_first_index_is_one(tmp_path: Path) -> None:
    raw = load(tmp_path, f"{line(1, [1, 126])}\n" * 3)
    np.testing.assert_array_equal(np.flatnonzero(raw.train.inputs[0]), [0, 125])


def test_loading_twice_gives_the_same_split(raw: RawSplits[Numbers], tmp_path: Path) -> None:
    again = load(tmp_path, small_file())
    np.testing.assert_array_equal(raw.validation.inputs, again.validation.inputs)


@given(rows=st.integers(1, 400))
@settings(max_examples=20)
def test_splits_have_rounded_shares_of_any_number_of_rows(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        raw = load(Path(folder), small_file(rows))
    sizes = (len(raw.train) + len(raw.validation) + len(raw.test), len(raw.validation))
    shares = round(6756 / 67557 * rows), round(13511 / 67557 * rows)
    assert (*sizes, len(raw.test)) == (rows, *shares)


def naive(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Read LIBSVM's lines without a library: label and indices of the ones."""
    rows = (row.split() for row in io.StringIO(text))
    return sorted((label, tuple(int(c.partition(":")[0]) for c in cells)) for label, *cells in rows)


def test_official_rows_are_those_of_the_file(official: Callable[..., dict[str, Path]]) -> None:
    paths = official("connect-4")
    raw = connect4("connect4", paths)
    rows = sorted(
        (raw.classes[label], tuple(np.flatnonzero(features) + 1))
        for part in (raw.train, raw.validation, raw.test)
        for features, label in zip(part.inputs, part.labels, strict=True)
    )
    assert rows == naive(paths["connect-4"].read_text())


def test_official_splits_have_the_sizes_of_the_paper(
    official: Callable[..., dict[str, Path]],
) -> None:
    raw = connect4("connect4", official("connect-4"))
    assert (len(raw.train), len(raw.validation), len(raw.test)) == (47290, 6756, 13511)
