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
SPLITS = ("train", "validation", "test")

PADDING, UNKNOWN = 0, 1
"""Word numbers that are no words: what follows the last word, and words that are not known."""


@dataclass(frozen=True)
class Normalisation:
    """Makes float32 images of mean 0 and scale 1 per channel from those of 0 to 255."""

    mean: Tensor
    """(channels,) of values in [0, 1]."""
    scale: Tensor

    def __call__(self, images: Tensor) -> Tensor:
        """Return (n, channels, height, width) float32."""
        factor = 1 / (255 * self.scale)
        shift = -self.mean / self.scale
        return torch.addcmul(shift[:, None, None], images.float(), factor[:, None, None])

    def to(self, device: torch.device) -> Normalisation:
        """Return the same with its tensors on `device`."""
        return Normalisation(self.mean.to(device), self.scale.to(device))


@dataclass(frozen=True)
class Split:
    """Rows of one split: `inputs` (n, ...) and `labels` (n,) int64.

    Inputs by kind: tabular (n, features) float32; text (n, longest) int32, word numbers with 0
    after the last word; image (n, channels, height, width) uint8.
    """

    inputs: Tensor
    labels: Tensor
    normalisation: Normalisation | None = None
    """Of images; other inputs are what models take already."""

    def __len__(self) -> int:
        return len(self.labels)

    def ready(self, inputs: Tensor) -> Tensor:
        """Return rows of `inputs` as models take them."""
        return inputs if self.normalisation is None else self.normalisation(inputs)

    @cached_property
    def lengths(self) -> Tensor:
        """The words of each row of text: (n,) int64, on the host."""
        return (self.inputs != PADDING).sum(dim=1).cpu()

    def without_padding(self, inputs: Tensor, rows: Tensor | slice) -> Tensor:
        """Return `inputs`, the text of those `rows`, as wide as the longest of them."""
        return inputs[:, : max(1, int(self.lengths[rows].max()))]

    def to(self, device: torch.device) -> Split:
        """Return this split with its tensors on `device`."""
        there = self.normalisation and self.normalisation.to(device)
        return Split(self.inputs.to(device), self.labels.to(device), there)


@dataclass(frozen=True)
class Dataset:
    """A prepared data set; labels are 0 to `classes` - 1 and `metadata` says whence it came."""

    name: str
    kind: str
    classes: int
    train: Split
    validation: Split
    test: Split
    metadata: dict[str, Any]
    extras: dict[str, Tensor] = field(default_factory=dict)
    """What models need besides: text `vectors` (words, dimension) float32, row 0 the padding and
    row 1 unknown words; image `mean` and `scale` (channels,) float32, of values in [0, 1]."""
    encoding: dict[str, Any] = field(default_factory=dict, compare=False)
    """How inputs come from rows of files, as plain JSON values; not in the file. By kind:

    - tabular: of own data `columns`, each a `Column`; `mean` and `scale` of each feature
    - text: the `words` that the model knows; of own data the `longest` text
    - image: `size` [width, height] in pixels, and `mean` and `scale` of each channel

    Own tables and texts have the `separator` and the `encoding` of the training file, too.
    """
    _there: dict[torch.device, Dataset] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def to(self, device: torch.device) -> Dataset:
        """Return this data set with its tensors on `device`: one copy, however often asked."""
        if device not in self._there:
            splits = {name: getattr(self, name).to(device) for name in SPLITS}
            extras = {name: tensor.to(device) for name, tensor in self.extras.items()}
            self._there[device] = replace(self, **splits, extras=extras)
        return self._there[device]

    def train_with_validation(self) -> Split:
        """Return the training and the validation rows as one split."""
        splits = [self.train, self.validation]
        inputs = [split.inputs for split in splits]
        if self.kind == "text":  # each split is as wide as its longest text
            width = max(part.shape[1] for part in inputs)
            inputs = [pad(part, (0, width - part.shape[1]), value=PADDING) for part in inputs]
        labels = torch.cat([split.labels for split in splits])
        return Split(torch.cat(inputs), labels, self.train.normalisation)


def write_dataset(dataset: Dataset, path: Path) -> None:
    """Write `dataset` to `path`, atomically, and its digest beside it.

    The digest is not in the file: records name the file by its bytes.
    """
    tensors = {f"extras.{name}": extra.contiguous() for name, extra in dataset.extras.items()}
    for name in SPLITS:
        split: Split = getattr(dataset, name)
        tensors[f"{name}.inputs"] = split.inputs.contiguous()
        tensors[f"{name}.labels"] = split.labels.contiguous()
    header = {
        "format_version": FORMAT_VERSION,
        "name": dataset.name,
        "kind": dataset.kind,
        "classes": dataset.classes,
        **dataset.metadata,
    }
    _digest_file(path).unlink(missing_ok=True)  # a process killed before the next one leaves none
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"dataset": json.dumps(header)})
        digest = sha256(temporary)
    write_text(_digest_file(path), f"{digest}  {path.name}\n")


def read_dataset(path: Path) -> Dataset:
    """Read a file of `write_dataset`; raises UserError when it is not one of this version.

    A file without a digest is read as it is: a process that was killed may have left none.
    """
    try:
        noted = _digest_file(path)
        if noted.exists() and noted.read_text(encoding="utf-8").split()[:1] != [sha256(path)]:
            raise ValueError(f"its content does not fit {noted.name}")
        with safe_open(path, framework="pt") as file:
            header = dict(json.loads((file.metadata() or {})["dataset"]))
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        version = header.pop("format_version")
        if version != FORMAT_VERSION:
            raise UserError(
                f"{path}: format version {version}, expected {FORMAT_VERSION}: remove it, to "
                "prepare it again"
            )
        extras = {k.removeprefix("extras."): t for k, t in tensors.items() if "extras." in k}
        mean, scale = extras.get("mean"), extras.get("scale")
        normal = None if mean is None or scale is None else Normalisation(mean, scale)
        splits: dict[str, Any] = {
            n: Split(tensors[f"{n}.inputs"], tensors[f"{n}.labels"], normal) for n in SPLITS
        }
        name, kind, classes = (header.pop(key) for key in ("name", "kind", "classes"))
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path}: damaged, or no prepared data set: delete it, and call again to prepare it "
            f"anew ({error})"
        ) from error
    return Dataset(name, kind, classes, metadata=header, extras=extras, **splits)


def _digest_file(path: Path) -> Path:
    """Return where the digest of the prepared file at `path` lies, for `sha256sum --check`."""
    return path.with_name(f"{path.name}.sha256")
