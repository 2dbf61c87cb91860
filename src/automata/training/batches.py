"""Mini-batches of a subset, in the form that a model reads."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from automata.config.protocol import Protocol
from automata.datasets.prepared import Dataset
from automata.models.classifier import Classifier
from automata.seeds import derive
from automata.selection.problem import Subset
from automata.training.augmentation import augment

GATHERED = 64
"""How many mini-batches are gathered at once.

One at a time would take a tenth of a small model's step, and on a GPU ten more kernel launches.
"""


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
