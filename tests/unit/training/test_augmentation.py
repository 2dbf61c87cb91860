"""Crops and flips against slicing, image by image."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from automata.training.batches import augment


def generator(seed: int = 11) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(n: int, channels: int = 3, height: int = 6, width: int = 7) -> Tensor:
    """Return images without zeros, so that padding shows."""
    shape = (n, channels, height, width)
    return torch.randint(1, 256, shape, generator=generator(), dtype=torch.uint8)


def crop(image: Tensor, padding: int, top: int, left: int, mirrored: bool) -> np.ndarray:
    """Return one crop of the padded image by slicing."""
    _, height, width = image.shape
    around = ((0, 0), (padding, padding), (padding, padding))
    part = np.pad(image.numpy(), around)[:, top : top + height, left : left + width]
    return np.flip(part, axis=2) if mirrored else part


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 4, 9])
def test_images_are_the_slices_at_the_draws(padding: int, flip: bool) -> None:
    images, draws = pictures(20), generator()
    found = augment(images, padding, flip, generator())
    offsets = torch.randint(2 * padding + 1, (2, 20), generator=draws)
    flips = torch.randint(2, (20,), generator=draws) * flip
    expected = [
        crop(image, padding, int(top), int(left), bool(mirrored))
        for image, top, left, mirrored in zip(images, *offsets, flips, strict=True)
    ]
    np.testing.assert_array_equal(found.numpy(), np.stack(expected))


@given(
    n=st.integers(1, 4),
    channels=st.integers(1, 3),
    height=st.integers(1, 5),
    width=st.integers(1, 5),
    padding=st.integers(0, 3),
    flip=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_every_image_is_a_crop_of_its_padded_self(
    n: int, channels: int, height: int, width: int, padding: int, flip: bool, seed: int
) -> None:
    images = pictures(n, channels, height, width)
    found = augment(images, padding, flip, generator(seed)).numpy()
    assert all(
        any(
            np.array_equal(crop(images[i], padding, top, left, mirrored), found[i])
            for top in range(2 * padding + 1)
            for left in range(2 * padding + 1)
            for mirrored in {False, flip}
        )
        for i in range(n)
    )


def corners(padding: int, flip: bool, n: int) -> Counter[tuple[int, ...]]:
    """Count where crops of a 3x3 image with pixels 1 to 9 lie, by their pixels."""
    image = torch.arange(1, 10, dtype=torch.uint8).view(1, 1, 3, 3)
    found = augment(image.expand(n, 1, 3, 3), padding, flip, generator())
    return Counter(map(tuple, found.flatten(1).tolist()))


@pytest.mark.parametrize(("flip", "kinds"), [(False, 9), (True, 18)])
def test_all_offsets_and_flips_are_equally_likely(flip: bool, kinds: int) -> None:
    """The square sum of 18 standardised counts exceeds 45 in one of 3000 samples."""
    counts = np.array(list(corners(1, flip, 9000).values()))
    expected = 9000 / kinds
    assert len(counts) == kinds
    assert ((counts - expected) ** 2 / expected).sum() < 45


def test_rows_columns_and_flips_are_drawn_independently() -> None:
    assert len(corners(2, True, 2000)) == 5 * 5 * 2


def test_a_flip_without_padding_mirrors_left_to_right() -> None:
    image = pictures(1)
    found = augment(image.expand(50, -1, -1, -1), 0, True, generator())
    kinds = {picture.numpy().tobytes() for picture in found}
    assert kinds == {image.numpy().tobytes(), image.flip(3).numpy().tobytes()}


def test_crops_are_the_same_with_and_without_flips() -> None:
    """Offsets come before flips from the generator: one seed, one set of crops."""
    images = pictures(30)
    plain, flipped = (augment(images, 2, flip, generator()) for flip in (False, True))
    same = (plain == flipped).flatten(1).all(dim=1)
    mirrored = (plain.flip(3) == flipped).flatten(1).all(dim=1)
    assert (same | mirrored).all()


def test_nothing_to_do_returns_the_images_and_draws_nothing() -> None:
    images, draws = pictures(3), generator()
    before = draws.get_state()
    assert augment(images, 0, False, draws) is images
    assert torch.equal(draws.get_state(), before)


def test_images_given_are_left_as_they_are() -> None:
    images = pictures(5)
    augment(images, 3, True, generator())
    assert torch.equal(images, pictures(5))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_cpu_and_gpu_agree() -> None:
    images = pictures(20)
    found = augment(images.to("cuda"), 3, True, generator())
    assert torch.equal(found.cpu(), augment(images, 3, True, generator()))
