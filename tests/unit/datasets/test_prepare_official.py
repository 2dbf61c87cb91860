"""Official files, all the way to prepared data sets."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import torch

from automata.config.data import Preparation, Vectors
from automata.datasets import catalog
from automata.datasets import prepare as prepare_module
from automata.datasets.catalog import DATASETS, FILES, RemoteFile
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.datasets.sst import SCORES
from automata.errors import UserError

# Rows of the paper's appendix, typed in again here: train, validation, test, classes. connect4 is
# split by the appendix's 10 % and 20 %.
PAPER = {
    "connect4": (67557 - 6756 - 13511, 6756, 13511, 3),
    "sst2": (8544, 1101, 2210, 2),
    "sst5": (8544, 1101, 2210, 5),
    "trec6": (4907, 545, 500, 6),
    "glue-sst2": (63982, 872, 3367, 2),
    "cifar10": (45000, 5000, 10000, 10),
    "cifar100": (45000, 5000, 10000, 100),
    "svhn": (65932, 7325, 26032, 10),
}
RANDOM_VECTORS = Preparation(vectors=Vectors(source=None, dimension=4))


@pytest.mark.parametrize("name", PAPER)
def test_catalog_has_the_counts_of_the_paper(name: str) -> None:
    spec = DATASETS[name]
    assert (spec.train, spec.validation, spec.test, spec.classes) == PAPER[name]


@pytest.mark.parametrize("name", ["connect4", "sst2", "sst2-binary", "sst5", "trec6"])
def test_official_files_of_a_mirror_are_prepared(name: str, mirror: Path, tmp_path: Path) -> None:
    preparation = RANDOM_VECTORS if DATASETS[name].kind == "text" else Preparation()
    prepared = prepare(name, preparation, tmp_path / "cache", str(mirror))
    path = tmp_path / "x.safetensors"
    write_dataset(prepared, path)
    dataset = read_dataset(path)
    spec = DATASETS[name]
    counts = [len(dataset.train), len(dataset.validation), len(dataset.test), dataset.classes]
    assert counts == [spec.train, spec.validation, spec.test, spec.classes]
    sums = {file: hashlib.sha256((mirror / file).read_bytes()).hexdigest() for file in spec.files}
    assert dataset.metadata["files"] == sums
    assert not (tmp_path / "cache").exists()  # used where they lie


def glue(rows: int) -> dict[str, bytes]:
    lines = ["sentence\tlabel", *(f"a film number {i} \t{i % 2}" for i in range(rows))]
    text = "\n".join(lines) + "\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("SST-2/train.tsv", text)
        archive.writestr("SST-2/dev.tsv", text)
    return {"SST-2.zip": content.getvalue()}


def svhn(rows: int) -> dict[str, bytes]:
    files = {}
    for name in ("train_32x32.mat", "test_32x32.mat"):
        content = io.BytesIO()
        pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3, rows), dtype=np.uint8)
        labels = np.arange(rows, dtype=np.uint8)[:, None] % 10 + 1  # 10 is the digit 0
        scipy.io.savemat(content, {"X": pixels, "y": labels})
        files[name] = content.getvalue()
    return files


Publish = Callable[[dict[str, bytes]], str]


@pytest.fixture
def publish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Put files into a mirror, and their checksums into the catalog."""

    def publish(files: dict[str, bytes]) -> str:
        folder = tmp_path / "mirror"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
            checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
            monkeypatch.setitem(catalog.FILES, name, RemoteFile(FILES[name].url, checksum))
        return str(folder)

    return publish


@pytest.mark.parametrize(
    ("name", "make", "rows", "expected"),
    [
        ("glue-sst2", glue, 40, "train: expected 63982 rows, found 38"),
        ("svhn", svhn, 30, "train: expected 65932 rows, found 27"),
    ],
)
def test_another_count_than_the_papers_names_both(
    name: str,
    make: Callable[[int], dict[str, bytes]],
    rows: int,
    expected: str,
    publish: Publish,
    tmp_path: Path,
) -> None:
    folder = publish(make(rows))
    with pytest.raises(UserError, match=f"^dataset {name}: {expected}$"):
        prepare(name, RANDOM_VECTORS, tmp_path / "cache", folder)


def test_images_become_bytes_with_the_statistics_of_training(
    publish: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = replace(DATASETS["svhn"], train=27, validation=3, test=30)
    monkeypatch.setitem(DATASETS, "svhn", spec)
    prepared = prepare("svhn", Preparation(), tmp_path / "cache", publish(svhn(30)))
    write_dataset(prepared, tmp_path / "x")
    dataset = read_dataset(tmp_path / "x")
    ready = dataset.train.ready(dataset.train.inputs)
    found = (len(dataset.train), len(dataset.validation), len(dataset.test))
    assert (found, dataset.metadata["flip"]) == ((27, 3, 30), False)
    assert dataset.train.inputs.dtype == torch.uint8
    torch.testing.assert_close(ready.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(ready.std(dim=(0, 2, 3)), torch.ones(3), atol=1e-3, rtol=0)


def test_texts_without_vectors_in_the_settings_are_refused(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"texts need data\.vectors"):
        prepare("trec6", Preparation(), tmp_path, str(mirror))


def test_the_scores_of_sst2_are_wanted_only_where_they_count(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(dataset: str, file: RemoteFile, cache: Path, mirror: str | None) -> None:
        asked.append(file.name)
        if file.name == SCORES:
            raise UserError("no scores")
        return acquire(dataset, file, cache, mirror)

    acquire = prepare_module.acquire
    monkeypatch.setattr(prepare_module, "acquire", refuse)
    scores = RANDOM_VECTORS.model_copy(update={"sst2_neutral": "scores"})
    with pytest.raises(UserError, match="no scores"):
        prepare("sst2", scores, tmp_path, str(mirror))
    trees = RANDOM_VECTORS.model_copy(update={"sst2_neutral": "trees"})
    prepare("sst2", trees, tmp_path, str(mirror))
    assert asked.count(SCORES) == 1
