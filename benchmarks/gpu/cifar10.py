"""Cuts the files of config/reference/cifar10-gpu.yaml from CIFAR-10, in its official order."""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZIP_LZMA, ZipFile, ZipInfo

import numpy as np

from automata.catalog import FILES
from automata.datasets.official.acquire import acquire
from automata.datasets.official.readers import cifar10
from automata.datasets.raw import Rows, split_rows

NAME, CACHE = "cifar-10-python.tar.gz", Path("results/downloads")

if __name__ == "__main__":  # an argument names an archive of the same format
    archive = Path(sys.argv[1]) if sys.argv[1:] else acquire("cifar10", FILES[NAME], CACHE, None)
    raw = cifar10("cifar10", {NAME: archive})
    drawn = [(it.inputs, it.labels) for it in (raw.validation, raw.train)]
    order = np.argsort(np.concatenate(split_rows(50_000, 5_000)))
    known = Rows(*map(np.concatenate, zip(*drawn, strict=True)))[order]
    splits = {"train": known, "validation": known[np.arange(10_000, 50_000)], "test": raw.test}
    (CACHE / "cifar10-gpu").mkdir(parents=True, exist_ok=True)
    for (split, rows), count in zip(splits.items(), (10_000, 1_500, 3_000), strict=True):
        images, labels = rows.inputs[:count].transpose(0, 2, 3, 1), rows.labels[:count]
        with ZipFile(CACHE / f"cifar10-gpu/{split}.npz", "w") as file:
            for name, array in {"images": images, "labels": np.array(raw.classes)[labels]}.items():
                entry = ZipInfo(f"{name}.npy")  # without a date: each call writes the same bytes
                entry.compress_type = ZIP_LZMA  # a fifth smaller than by savez_compressed
                with file.open(entry, "w") as stream:
                    np.save(stream, array)
