"""Random crops and flips of training images."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad


def augment(images: Tensor, padding: int, flip: bool, generator: torch.Generator) -> Tensor:
    """Return a random crop of each image, of the same size; `flip` mirrors it with probability 1/2.

    Each image gets `padding` zero pixels on every side; the upper left corner of its crop is
    uniform over all (2 padding + 1)^2 positions.

    Args:
        images: (n, channels, height, width) uint8, on any device.
        padding: pixels; 0 for no crops.
        flip: whether to mirror left to right; false for digits, for example.
        generator: a CPU generator, so that a seed gives the same images on every device.

    Returns:
        (n, channels, height, width) uint8 on the device of `images`; `images` itself if there is
        nothing to do.
    """
    if padding == 0 and not flip:
        return images
    n, channels, height, width = images.shape
    # One tensor, so that there is one copy to the device.
    draws = torch.zeros(3, n, dtype=torch.int64)
    draws[:2] = torch.randint(2 * padding + 1, (2, n), generator=generator)
    if flip:
        draws[2] = torch.randint(2, (n,), generator=generator)
    top, left, mirrored = draws.to(images.device)[:, :, None]
    rows = torch.arange(height, device=images.device)
    columns = torch.arange(width, device=images.device)
    columns = torch.where(mirrored == 1, columns.flip(0), columns)
    image = torch.arange(n, device=images.device)[:, None, None, None]
    channel = torch.arange(channels, device=images.device)[:, None, None]
    padded = pad(images, [padding] * 4)
    return padded[image, channel, (top + rows)[:, None, :, None], (left + columns)[:, None, None]]
