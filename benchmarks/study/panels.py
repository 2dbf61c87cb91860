"""The panels of docs/study.md: how each is tuned and trained, and its data as tensors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import yaml
from pydantic import TypeAdapter

from automata.config.data import OwnDataset, Preparation
from automata.config.protocol import Protocol
from automata.config.spaces import Domain
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, Split
from benchmarks.study.files import ROWS

CONFIG = Path(__file__).parents[2] / "config"


@dataclass(frozen=True)
class Panel:
    """One data set with one model and search space."""

    name: str
    epochs: int
    rates: tuple[float, float] | None = None
    """Bounds of the learning rate, log-uniform; None: those of the paper's tabular space."""

    @property
    def fraction(self) -> float:
        """Return the subset size of RS2."""
        return 0.01 if self.name != "tiny" else 0.1

    @property
    def protocol(self) -> Protocol:
        """Return how a trial trains."""
        if self.name == "fashion-convnet":
            base = _section("config.yaml", "image")
            own = _section("reference/cifar10-small.yaml", "image")
        else:
            base, own = _section("tabular.yaml", "tabular"), {}
        protocol = Protocol.model_validate({**base, **own, "epochs": self.epochs})
        if self.rates is None:
            return protocol
        rate = {"learning_rate": Domain(loguniform=self.rates)}
        return protocol.model_copy(update={"search_space": protocol.search_space | rate})

    def dataset(self, data: Path) -> Dataset:
        """Return the panel's splits from the files of `benchmarks.study.files` in `data`."""
        folder = data / self.name
        if self.name == "fashion-mlp":
            return _pixels(self.name, folder)
        kind = {"kind": "image"}
        if self.name != "fashion-convnet":
            kind = {"kind": "tabular", "target": "class"}
        suffix = "npz" if kind["kind"] == "image" else "csv"
        parts = {"path": "train", "validation": "validation", "test": "test"}
        paths = {key: str(folder / f"{part}.{suffix}") for key, part in parts.items()}
        own = TypeAdapter(OwnDataset).validate_python({**kind, **paths})
        dataset = prepare(self.name, Preparation(own=own), data)
        splits = (dataset.train, dataset.validation, dataset.test)
        assert tuple(map(len, splits)) == ROWS[self.name]
        return dataset


PANELS = {
    panel.name: panel
    for panel in (
        Panel("optdigits", 100, (1e-3, 1.0)),
        Panel("penbased", 100),
        Panel("magic", 100, (1e-5, 1e-3)),
        Panel("fashion-mlp", 100, (1e-4, 1.0)),
        Panel("fashion-convnet", 20),
    )
}
"""Those of the study, in the order in which they run."""

TINY = Panel("tiny", 9)
"""Proves the runner; not in the study."""


def _section(file: str, kind: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((CONFIG / file).read_text())["protocol"][kind]
    return found


def _pixels(name: str, folder: Path) -> Dataset:
    """Return images as rows of pixels / 255, without those that are constant in training."""
    files = {part: np.load(folder / f"{part}.npz") for part in ("train", "validation", "test")}
    rows = {
        part: np.float32(it["images"].reshape(len(it["labels"]), -1) / 255)
        for part, it in files.items()
    }
    varies = np.ptp(rows["train"], axis=0) > 0
    splits = {
        part: Split(
            torch.from_numpy(np.ascontiguousarray(rows[part][:, varies])),
            torch.from_numpy(files[part]["labels"].astype(np.int64)),
        )
        for part in files
    }
    return Dataset(name, "tabular", 10, metadata={}, **splits)
