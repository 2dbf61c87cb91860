"""Mini-batches of texts and images; crops and flips against slicing, image by image."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from automata.datasets.prepared import Dataset
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


def epoch_of(split, batches, epoch=0, seed=0, **settings):
    """Return the mini-batches of an epoch, weighted by their numbers."""
    kind = "text" if split.inputs.ndim == 2 else "image"
    metadata = {"flip": settings.pop("flip_allowed", True)}
    data = Dataset("toy", kind, 2, split, split, split, metadata)
    augmentation = SimpleNamespace(**{"crop_padding": 0, "flip": False, **settings})
    model, protocol = SimpleNamespace(reads_padding=False), SimpleNamespace()
    model.reads_padding, protocol.augmentation = kind == "image", augmentation
    weights = torch.arange(len(batches)).float()
    return MiniBatches(data, model, protocol, seed).of_epoch(Subset(batches, weights), epoch)
