"""The prepared form of a data set: one safetensors file with all splits and their metadata."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from automata.errors import UserError
from automata.files import replacing

FORMAT_VERSION = 1
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class Split:
    """Rows of one split: `inputs` (n, features) float32 and `labels` (n,) int64."""

    inputs: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def to(self, device: torch.device) -> Split:
        """Return this split with its tensors on `device`."""
        return Split(self.inputs.to(device), self.labels.to(device))


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

    def to(self, device: torch.device) -> Dataset:
        """Return this data set with its tensors on `device`."""
        splits = {name: getattr(self, name).to(device) for name in SPLITS}
        return Dataset(self.name, self.kind, self.classes, metadata=self.metadata, **splits)


def write_dataset(dataset: Dataset, path: Path) -> None:
    """Write `dataset` to `path`, atomically."""
    tensors = {}
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
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"dataset": json.dumps(header)})


def read_dataset(path: Path) -> Dataset:
    """Read a file of `write_dataset`; raises UserError when it is not one of this version."""
    try:
        with safe_open(path, framework="pt") as file:
            header = dict(json.loads((file.metadata() or {})["dataset"]))
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        version = header.pop("format_version")
        if version != FORMAT_VERSION:
            raise UserError(
                f"{path}: format version {version}, expected {FORMAT_VERSION}: prepare it again"
            )
        splits = {n: Split(tensors[f"{n}.inputs"], tensors[f"{n}.labels"]) for n in SPLITS}
        name, kind, classes = (header.pop(key) for key in ("name", "kind", "classes"))
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: not a prepared data set: {error}") from error
    return Dataset(name, kind, classes, metadata=header, **splits)
