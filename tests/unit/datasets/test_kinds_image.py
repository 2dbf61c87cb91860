"""Images as models take them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from automata.datasets.kinds import image, moments
from automata.datasets.prepared import SPLITS
from automata.datasets.raw import Images, RawSplits, Rows


def rows(inputs: Images) -> Rows[Images]:
    return Rows(inputs, np.arange(len(inputs)) % 3)


def raw_splits(train: Images, validation: Images, test: Images) -> RawSplits[Images]:
    return RawSplits(rows(train), rows(validation), rows(test), ["a", "b", "c"], "synthetic")


@pytest.fixture
def raw() -> RawSplits[Images]:
    generator = np.random.default_rng(5)
    highest = np.array([256, 100, 20])[:, None, None]
    images = generator.integers(0, highest, size=(40, 3, 4, 5), dtype=np.uint8)
    return raw_splits(images[:25], images[25:30], images[30:])


def images(channels: int = 2) -> st.SearchStrategy[Images]:
    return hnp.arrays(
        np.uint8, st.tuples(st.integers(1, 4), st.just(channels), st.just(3), st.just(2))
    )


def whole_array_moments(images: Images) -> tuple[np.ndarray, np.ndarray]:
    values = images.astype(np.float64) / 255
    return values.mean(axis=(0, 2, 3)), values.std(axis=(0, 2, 3))


@given(images=images())
def test_mean_is_that_of_the_whole_array(images: Images) -> None:
    expected, _ = whole_array_moments(images)
    np.testing.assert_allclose(moments(torch.tensor(images))[0], expected, rtol=1e-12, atol=1e-15)


@given(images=images())
def test_scale_is_the_standard_deviation_of_the_whole_array(images: Images) -> None:
    constant = (images == images[:1, :, :1, :1]).all(axis=(0, 2, 3))
    expected = np.where(constant, 1, whole_array_moments(images)[1])
    np.testing.assert_allclose(moments(torch.tensor(images))[1], expected, rtol=1e-12)


@pytest.mark.parametrize("value", [0, 77, 255])
def test_constant_channel_has_scale_one(raw: RawSplits[Images], value: int) -> None:
    raw.train.inputs[:, 1] = value
    assert image(raw, True).extras["scale"][1].item() == 1


@pytest.mark.parametrize("value", [0, 77, 255])
def test_constant_channel_becomes_zero(raw: RawSplits[Images], value: int) -> None:
    raw.train.inputs[:, 1] = value
    train = image(raw, True).splits["train"]
    shown = train.ready(train.inputs)[:, 1]
    torch.testing.assert_close(shown, torch.zeros_like(shown), rtol=0, atol=1e-6)


def test_models_see_training_images_of_mean_zero(raw: RawSplits[Images]) -> None:
    train = image(raw, True).splits["train"]
    means = train.ready(train.inputs).mean(dim=(0, 2, 3))
    torch.testing.assert_close(means, torch.zeros(3), rtol=0, atol=1e-5)


def test_models_see_training_images_of_scale_one(raw: RawSplits[Images]) -> None:
    train = image(raw, True).splits["train"]
    scales = train.ready(train.inputs).std(dim=(0, 2, 3), correction=0)
    torch.testing.assert_close(scales, torch.ones(3), rtol=0, atol=1e-5)


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_is_seen_by_the_moments_of_training(raw: RawSplits[Images], split: str) -> None:
    mean, scale = (m[:, None, None] for m in whole_array_moments(raw.train.inputs))
    prepared = image(raw, True).splits[split]
    expected = (getattr(raw, split).inputs / 255 - mean) / scale
    np.testing.assert_allclose(prepared.ready(prepared.inputs), expected, rtol=1e-4, atol=1e-5)


@given(train=images(), one=images(), other=images())
def test_other_splits_do_not_change_the_moments(train: Images, one: Images, other: Images) -> None:
    first = image(raw_splits(train, one, other), True).extras
    second = image(raw_splits(train, other, one), True).extras
    assert {name: m.tolist() for name, m in first.items()} == {
        name: m.tolist() for name, m in second.items()
    }


@pytest.mark.parametrize("split", SPLITS)
def test_inputs_stay_the_bytes_they_were(raw: RawSplits[Images], split: str) -> None:
    expected = torch.tensor(getattr(raw, split).inputs)
    torch.testing.assert_close(image(raw, True).splits[split].inputs, expected, rtol=0, atol=0)


@pytest.mark.parametrize("split", SPLITS)
def test_labels_are_kept(raw: RawSplits[Images], split: str) -> None:
    assert image(raw, True).splits[split].labels.tolist() == getattr(raw, split).labels.tolist()


def test_images_with_channels_last_in_memory_are_taken(raw: RawSplits[Images]) -> None:
    last = np.ascontiguousarray(raw.train.inputs.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    found = image(raw_splits(last, raw.validation.inputs, raw.test.inputs), True)
    np.testing.assert_array_equal(found.splits["train"].inputs, raw.train.inputs)


@pytest.mark.filterwarnings("error")
def test_images_that_may_not_be_written_are_taken(raw: RawSplits[Images]) -> None:
    raw.train.inputs.flags.writeable = False
    np.testing.assert_array_equal(image(raw, True).splits["train"].inputs, raw.train.inputs)


@pytest.mark.parametrize("name", ["mean", "scale"])
def test_moments_are_float32(raw: RawSplits[Images], name: str) -> None:
    assert image(raw, True).extras[name].dtype == torch.float32


def test_facts_say_which_split_normalises(raw: RawSplits[Images]) -> None:
    assert "training split" in image(raw, True).facts["normalised"]
