"""Mini-batches of texts and images; crops and flips against slicing, image by image."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from automata.config.protocol import Augmentation
from automata.datasets.prepared import Dataset, Split
from automata.selection.problem import Subset
from automata.training.batches import MiniBatches, augment


def generator():
    return torch.Generator().manual_seed(11)


def pictures(n):
    """Return images without zeros, so that padding shows."""
    return torch.randint(1, 256, (n, 3, 6, 7), generator=generator(), dtype=torch.uint8)


def crop(image, padding, top, left, mirrored):
    """Return one crop of the padded image by slicing."""
    _, height, width = image.shape
    around = ((0, 0), (padding, padding), (padding, padding))
    part = np.pad(image.numpy(), around)[:, top : top + height, left : left + width]
    return np.flip(part, axis=2) if mirrored else part


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 4, 9])
def test_augmented_images_are_the_slices_at_the_draws(padding, flip):
    """Offsets come before flips from the generator, so that crops do not depend on `flip`."""
    images, draws = pictures(20), generator()
    found = augment(images, padding, flip, generator())
    offsets = torch.randint(2 * padding + 1, (2, 20), generator=draws)
    flips = torch.randint(2, (20,), generator=draws) * flip
    expected = [
        crop(image, padding, int(top), int(left), bool(mirrored))
        for image, top, left, mirrored in zip(images, *offsets, flips, strict=True)
    ]
    np.testing.assert_array_equal(found.numpy(), np.stack(expected))
    assert torch.equal(images, pictures(20))


def test_an_epoch_has_each_mini_batch_once_and_mirrors_no_image_where_the_data_forbid_it():
    split = Split(pictures(80), torch.arange(80))
    data = Dataset("toy", "image", 80, split, split, split, {"flip": False})
    protocol = SimpleNamespace(augmentation=Augmentation(crop_padding=0, flip=True))
    subset = Subset([*torch.arange(80).split(1)], torch.arange(80.0))
    batches = MiniBatches(data, SimpleNamespace(reads_padding=True), protocol, 0)
    found = [*batches.of_epoch(subset, 0)]
    assert sorted(weight for _, _, weight in found) == list(range(80))
    assert all(label == weight for _, label, weight in found)
    assert all(torch.equal(inputs, split.inputs[label]) for inputs, label, _ in found)
