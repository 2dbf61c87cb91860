"""The packaged tabular sets: their form, their split, and that they equal LIBSVM's files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from automata.datasets.official import packaged
from automata.datasets.raw import Numbers, RawSplits, split_rows

NAMES = ["dna", "satimage", "letter"]
SPLITS = ["train", "validation", "test"]
OFFICIAL_FILES = [
    ("dna", "train", "dna.scale.tr"),
    ("dna", "validation", "dna.scale.val"),
    ("dna", "test", "dna.scale.t"),
    ("satimage", "train and validation", "satimage.scale"),
    ("satimage", "test", "satimage.scale.t"),
    ("letter", "train", "letter.scale.tr"),
    ("letter", "validation", "letter.scale.val"),
    ("letter", "test", "letter.scale.t"),
]
# fmt: off
LETTER_TRAINING_COUNTS = [
    594, 567, 554, 598, 565, 565, 547, 538, 567, 575, 572, 560, 607,
    605, 574, 597, 594, 568, 563, 599, 606, 581, 576, 583, 602, 543,
]
LETTER_TEST_COUNTS = [
    195, 199, 182, 207, 203, 210, 226, 196, 188, 172, 167, 201, 185,
    178, 179, 206, 189, 190, 185, 197, 207, 183, 176, 204, 184, 191,
]
# fmt: on
# LIBSVM prints six significant digits.
PRINTED_PRECISION = 5.01e-6

Features = NDArray[np.float64]
Labels = NDArray[np.int64]


def load_packaged(name: str) -> RawSplits[Numbers]:
    return packaged(name, {})


def training_rows(splits: RawSplits[Numbers]) -> tuple[Features, Labels]:
    """Return train and validation rows together: (n, d) and (n,)."""
    features = np.vstack([splits.train.inputs, splits.validation.inputs])
    labels = np.concatenate([splits.train.labels, splits.validation.labels])
    return features.astype(np.float64), labels


def rows_of(name: str, split: str) -> tuple[Features, Labels]:
    """Return one split (n, d) and (n,), or "train and validation" of satimage as stored."""
    splits = load_packaged(name)
    if split == "train and validation":
        features, labels = training_rows(splits)
        stored = np.argsort(np.concatenate(split_rows(len(labels), len(splits.train))))
        return features[stored], labels[stored]
    rows = getattr(splits, split)
    return rows.inputs.astype(np.float64), rows.labels


def official(file: Path, columns: int) -> tuple[Features, Labels]:
    """Return the rows of LIBSVM's file, labels from 0: (n, columns) and (n,)."""
    features, labels = load_svmlight_file(str(file), n_features=columns)
    return features.toarray(), labels.astype(np.int64) - 1


def scale(name: str, features: Features) -> Features:
    """Scale as LIBSVM did: by the range of all training rows to [-1, 1]; dna stays 0/1."""
    if name == "dna":
        return features
    known, _ = training_rows(load_packaged(name))
    low, high = known.min(axis=0), known.max(axis=0)
    return 2 * (features - low) / (high - low) - 1


@pytest.mark.parametrize(
    ("name", "split", "shape"),
    [
        ("dna", "train", (1400, 180)),
        ("dna", "validation", (600, 180)),
        ("dna", "test", (1186, 180)),
        ("satimage", "train", (3104, 36)),
        ("satimage", "validation", (1331, 36)),
        ("satimage", "test", (2000, 36)),
        ("letter", "train", (10500, 16)),
        ("letter", "validation", (4500, 16)),
        ("letter", "test", (5000, 16)),
    ],
)
def test_split_has_the_size_of_libsvms_file(name: str, split: str, shape: tuple[int, int]) -> None:
    assert getattr(load_packaged(name), split).inputs.shape == shape


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_one_label(name: str, split: str) -> None:
    rows = getattr(load_packaged(name), split)
    assert rows.labels.shape == (len(rows.inputs),)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", NAMES)
def test_features_are_float32_and_labels_int64(name: str, split: str) -> None:
    rows = getattr(load_packaged(name), split)
    assert (rows.inputs.dtype, rows.labels.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("dna", 0, 1), ("satimage", 27, 157), ("letter", 0, 15)]
)
def test_training_features_cover_the_raw_range(name: str, low: int, high: int) -> None:
    features, _ = training_rows(load_packaged(name))
    assert (features.min(), features.max()) == (low, high)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", NAMES)
def test_features_are_whole_numbers(name: str, split: str) -> None:
    features = getattr(load_packaged(name), split).inputs
    np.testing.assert_array_equal(features, np.rint(features))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(("name", "classes"), [("dna", 3), ("satimage", 6), ("letter", 26)])
def test_labels_are_0_to_classes_minus_1(name: str, classes: int, split: str) -> None:
    labels = getattr(load_packaged(name), split).labels
    np.testing.assert_array_equal(np.unique(labels), np.arange(classes))


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("dna", [464, 485, 1051]),
        ("satimage", [1072, 479, 961, 415, 470, 1038]),
        ("letter", LETTER_TRAINING_COUNTS),
    ],
)
def test_training_rows_have_the_known_class_counts(name: str, counts: list[int]) -> None:
    _, labels = training_rows(load_packaged(name))
    np.testing.assert_array_equal(np.bincount(labels), counts)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("dna", [303, 280, 603]),
        ("satimage", [461, 224, 397, 211, 237, 470]),
        ("letter", LETTER_TEST_COUNTS),
    ],
)
def test_test_rows_have_the_known_class_counts(name: str, counts: list[int]) -> None:
    np.testing.assert_array_equal(np.bincount(load_packaged(name).test.labels), counts)


def test_split_uses_every_row_number_once() -> None:
    row_numbers = np.concatenate(split_rows(4435, 3104))
    np.testing.assert_array_equal(np.sort(row_numbers), np.arange(4435))


def test_split_is_the_same_at_every_call() -> None:
    np.testing.assert_array_equal(
        np.concatenate(split_rows(4435, 3104)), np.concatenate(split_rows(4435, 3104))
    )


def test_split_keeps_its_published_first_rows() -> None:
    """Another numpy that drew other numbers would silently change every result."""
    train, _ = split_rows(4435, 3104)
    assert train[:5].tolist() == [1719, 512, 2391, 4333, 4113]


@pytest.mark.parametrize("field", ["inputs", "labels"])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", NAMES)
def test_loading_twice_gives_the_same_arrays(name: str, split: str, field: str) -> None:
    first, second = (getattr(getattr(load_packaged(name), split), field) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("name", "split", "file"), OFFICIAL_FILES)
def test_features_are_those_of_libsvms_file_row_by_row(
    name: str, split: str, file: str, mirror: Path
) -> None:
    features, _ = rows_of(name, split)
    expected, _ = official(mirror / file, features.shape[1])
    np.testing.assert_allclose(scale(name, features), expected, rtol=PRINTED_PRECISION, atol=1e-12)


@pytest.mark.parametrize(("name", "split", "file"), OFFICIAL_FILES)
def test_labels_are_those_of_libsvms_file_row_by_row(
    name: str, split: str, file: str, mirror: Path
) -> None:
    features, labels = rows_of(name, split)
    _, expected = official(mirror / file, features.shape[1])
    np.testing.assert_array_equal(labels, expected)
