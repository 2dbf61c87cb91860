"""The prepared form of a data set: one safetensors file with all splits and their metadata."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import pad

from automata.errors import UserError
from automata.files import replacing, sha256, write_text

FORMAT_VERSION = 2
HEADER = ("name", "kind", "classes")
SPLITS = ("train", "validation", "test")

PADDING, UNKNOWN = 0, 1
"""Word numbers of the columns after the last word, and of words that the model does not know."""


@dataclass(frozen=True)
class Normalisation:
    """Mean and scale (channels,) of images with values in [0, 1]."""

    mean: Tensor
    scale: Tensor

    def __call__(self, images: Tensor) -> Tensor:
        """Convert images with values 0 to 255 to float32 with mean 0 and scale 1 per channel."""
        factor = 1 / (255 * self.scale)
        shift = -self.mean / self.scale
        return torch.addcmul(shift[:, None, None], images.float(), factor[:, None, None])


@dataclass(frozen=True)
class Split:
    """Rows of one split: `inputs` (n, ...), see `kinds`, and `labels` (n,) int64."""

    inputs: Tensor
    labels: Tensor
    normalisation: Normalisation | None = None
    """How images are scaled for models; None for other kinds."""

    def __len__(self) -> int:
        return len(self.labels)

    def ready(self, inputs: Tensor) -> Tensor:
        """Return some rows of `inputs` as models read them."""
        return inputs if self.normalisation is None else self.normalisation(inputs)

    @cached_property
    def lengths(self) -> Tensor:
        """Number of words of each row of text: (n,) int64, on the host."""
        return (self.inputs != PADDING).sum(dim=1).cpu()

    def without_padding(self, inputs: Tensor, rows: Tensor | slice) -> Tensor:
        """Return `inputs`, which are the `rows` of text with these numbers, cut to the longest."""
        return inputs[:, : max(1, int(self.lengths[rows].max()))]

    def to(self, device: torch.device) -> Split:
        """Return this split with its tensors on `device`."""
        normal = self.normalisation
        if normal is not None:
            normal = Normalisation(normal.mean.to(device), normal.scale.to(device))
        return Split(self.inputs.to(device), self.labels.to(device), normal)


@dataclass(frozen=True)
class Dataset:
    """A prepared data set; labels are 0 to `classes` - 1, and `metadata` is for the record."""

    name: str
    kind: str
    classes: int
    train: Split
    validation: Split
    test: Split
    metadata: dict[str, Any]
    extras: dict[str, Tensor] = field(default_factory=dict)
    """Other tensors for models. Texts have `vectors` (words, dimension) float32 by number; images
    have `mean` and `scale` (channels,) float32, for values in [0, 1]."""
    encoding: dict[str, Any] = field(default_factory=dict, compare=False)
    """How rows of files become inputs, as plain JSON values: see `kinds`, and `own.load` for own
    data. It is not in the prepared file."""
    sha256: str = field(default="", compare=False)
    """SHA-256 of the prepared file that it was read from."""
    _copies: dict[torch.device, Dataset] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def to(self, device: torch.device) -> Dataset:
        """Return the copy of this data set on `device`; all calls share it."""
        if device not in self._copies:
            splits = {name: getattr(self, name).to(device) for name in SPLITS}
            extras = {name: tensor.to(device) for name, tensor in self.extras.items()}
            self._copies[device] = replace(self, **splits, extras=extras)
        return self._copies[device]

    def train_with_validation(self) -> Split:
        """Return the training and the validation rows as one split."""
        inputs = [self.train.inputs, self.validation.inputs]
        if self.kind == "text":  # each split is as wide as its longest text
            width = max(part.shape[1] for part in inputs)
            inputs = [pad(part, (0, width - part.shape[1]), value=PADDING) for part in inputs]
        labels = torch.cat([self.train.labels, self.validation.labels])
        return Split(torch.cat(inputs), labels, self.train.normalisation)


def write_dataset(dataset: Dataset, path: Path) -> None:
    """Write `dataset` to `path`, atomically, and the digest of the file's bytes beside it."""
    tensors = {f"extras.{name}": extra.contiguous() for name, extra in dataset.extras.items()}
    for name in SPLITS:
        for part in ("inputs", "labels"):
            tensors[f"{name}.{part}"] = getattr(getattr(dataset, name), part).contiguous()
    about = {key: getattr(dataset, key) for key in HEADER}
    header = {"format_version": FORMAT_VERSION, **about, **dataset.metadata}
    digest_file = path.with_name(f"{path.name}.sha256")  # for `sha256sum --check`
    digest_file.unlink(missing_ok=True)  # a kill may leave no digest, but not a wrong one
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"dataset": json.dumps(header)})
        digest = sha256(temporary)
    write_text(digest_file, f"{digest}  {path.name}\n")


def read_dataset(path: Path) -> Dataset:
    """Read a file of `write_dataset`; raises UserError if it is damaged or of another version."""
    try:
        digest = path.with_name(f"{path.name}.sha256")  # missing after a kill of the writer
        if digest.read_text(encoding="utf-8").split()[:1] != [found := sha256(path)]:
            raise ValueError(f"its content is not that of {digest.name}")
        with safe_open(path, framework="pt") as file:
            header = dict(json.loads((file.metadata() or {})["dataset"]))
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        if (version := header.pop("format_version")) != FORMAT_VERSION:
            raise ValueError(f"format version {version}, expected {FORMAT_VERSION}")
        name, kind, classes = (header.pop(key) for key in HEADER)
        extras = {k.removeprefix("extras."): t for k, t in tensors.items() if "extras." in k}
        normal = Normalisation(extras["mean"], extras["scale"]) if kind == "image" else None
        train, validation, test = (
            Split(tensors[f"{part}.inputs"], tensors[f"{part}.labels"], normal) for part in SPLITS
        )
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path}: damaged, or no prepared data set: delete it, and run the same command again "
            f"({error})"
        ) from error
    return Dataset(name, kind, classes, train, validation, test, header, extras, sha256=found)
