"""Mini-batches of a subset, in the form that a model reads; images are augmented."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn.functional import pad

from automata.config.protocol import Protocol
from automata.datasets.prepared import Dataset
from automata.models.classifier import Classifier
from automata.seeds import derive
from automata.selection.problem import Subset

GATHERED = 64
"""Mini-batches that are gathered at once: one at a time would take a tenth of a small model's step,
and on a GPU ten more kernel launches."""


class MiniBatches:
    """Gathers the mini-batches of an epoch from a training set on the device."""

    def __init__(self, dataset: Dataset, model: Classifier, protocol: Protocol, seed: int) -> None:
        self._train = dataset.train
        self._padded = model.reads_padding
        self._images = dataset.kind == "image"
        self._augmentation = protocol.augmentation
        self._flip = self._augmentation.flip and bool(dataset.metadata.get("flip", True))
        self._seed = seed

    def of_epoch(self, subset: Subset, epoch: int) -> Iterator[tuple[Tensor, Tensor, float]]:
        """Yield inputs, labels and weight of each mini-batch of `subset`, in a random order."""
        order = torch.randperm(len(subset.batches), generator=self._generator("order", epoch))
        augmentation = self._generator("augmentation", epoch) if self._images else None
        weights = subset.weights.tolist()
        for places in order.split(GATHERED):
            batches = [subset.batches[place] for place in places.tolist()]
            rows = torch.cat(batches).to(self._train.labels.device)
            lengths = [len(batch) for batch in batches]
            inputs = self._inputs(rows, augmentation).split(lengths)
            if not self._padded:
                cut = self._train.without_padding
                inputs = [cut(*part) for part in zip(inputs, batches, strict=True)]
            labels = self._train.labels[rows].split(lengths)
            yield from zip(inputs, labels, [weights[i] for i in places.tolist()], strict=True)

    def _inputs(self, rows: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return rows of the training set as the model reads them; `generator` augments images."""
        inputs = self._train.inputs[rows]
        if generator is not None:
            inputs = augment(inputs, self._augmentation.crop_padding, self._flip, generator)
        return self._train.ready(inputs)

    def _generator(self, stream: str, epoch: int) -> torch.Generator:
        return torch.Generator().manual_seed(derive(self._seed, stream, epoch))


def augment(images: Tensor, padding: int, flip: bool, generator: torch.Generator) -> Tensor:
    """Return a random crop of each image, of the same size; `flip` mirrors it with probability 1/2.

    Each image gets `padding` zero pixels on every side; the upper left corner of its crop is
    uniform over all (2 padding + 1)^2 positions. Images are (n, channels, height, width) uint8 on
    any device; a CPU `generator` gives the same crops on all of them.
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
