"""SVHN: MATLAB files in which the digit 0 is labelled 10."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.io import savemat

from automata.datasets.official import svhn
from automata.datasets.raw import Images, RawSplits

Obtain = Callable[[dict[str, bytes]], dict[str, Path]]
TRAIN_ROWS, TEST_ROWS = 37, 12


def images(rows: int, seed: int = 0) -> NDArray[np.uint8]:
    """Return X as the files have it, (32, 32, 3, rows); its first pixel is the row's number."""
    x = np.random.default_rng(seed).integers(0, 256, (32, 32, 3, rows), dtype=np.uint8)
    x[0, 0, 0] = np.arange(rows)
    return x


def labels(rows: int) -> NDArray[np.uint8]:
    """Return y as the files have it: 1, 2, ..., 10, 1, ..."""
    return (np.arange(rows, dtype=np.uint8) % 10 + 1)[:, None]


def matlab(**variables: Any) -> bytes:
    written = io.BytesIO()
    savemat(written, variables, do_compression=True)
    return written.getvalue()


TRAIN = matlab(X=images(TRAIN_ROWS), y=labels(TRAIN_ROWS))
TEST = matlab(X=images(TEST_ROWS, seed=1), y=labels(TEST_ROWS))


def files(train: bytes = TRAIN, test: bytes = TEST) -> dict[str, bytes]:
    return {"train_32x32.mat": train, "test_32x32.mat": test}


@pytest.fixture
def raw(obtain: Obtain) -> RawSplits[Images]:
    return svhn("svhn", obtain(files()))


def test_a_tenth_is_validation(raw: RawSplits[Images]) -> None:
    assert (len(raw.train), len(raw.validation), len(raw.test)) == (33, 4, 12)


def test_images_are_uint8_with_channels_first(raw: RawSplits[Images]) -> None:
    assert (raw.train.inputs.dtype, raw.train.inputs.shape) == (np.uint8, (33, 3, 32, 32))


@pytest.mark.parametrize(
    ("row", "channel", "y", "x"), [(0, 0, 0, 0), (3, 1, 5, 9), (11, 2, 31, 30)]
)
def test_pixel_is_at_its_place(
    raw: RawSplits[Images], row: int, channel: int, y: int, x: int
) -> None:
    expected = images(TEST_ROWS, seed=1)[y, x, channel, row]
    assert raw.test.inputs[row, channel, y, x] == expected


def test_label_ten_is_the_digit_zero(raw: RawSplits[Images]) -> None:
    assert raw.test.labels.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]


@pytest.mark.parametrize("split", ["train", "validation"])
def test_labels_stay_with_their_images(raw: RawSplits[Images], split: str) -> None:
    rows = getattr(raw, split)
    np.testing.assert_array_equal(rows.labels, (rows.inputs[:, 0, 0, 0].astype(int) + 1) % 10)


def test_every_training_row_is_in_one_split(raw: RawSplits[Images]) -> None:
    together = np.concatenate([raw.train.inputs, raw.validation.inputs])
    assert sorted(together[:, 0, 0, 0]) == list(range(TRAIN_ROWS))


def test_classes_are_the_digits(raw: RawSplits[Images]) -> None:
    assert raw.classes == list("0123456789")
