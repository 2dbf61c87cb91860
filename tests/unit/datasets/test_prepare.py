"""From official files to the prepared file, and back."""

import dataclasses
import hashlib
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save

from automata.config.data import Preparation, Vectors
from automata.datasets import prepare as prepare_module
from automata.datasets import prepared as prepared_module
from automata.datasets.catalog import DATASETS, FILES, RemoteFile
from automata.datasets.kinds import standardisation
from automata.datasets.official import packaged
from automata.datasets.prepare import prepare
from automata.datasets.prepared import SPLITS, read_dataset, write_dataset
from automata.datasets.sst import SCORES
from automata.errors import UserError

# Rows of the paper's appendix, typed in again here: train, validation, test, classes. connect4 is
# split by the appendix's 10 % and 20 %.
PAPER = {
    "dna": (1400, 600, 1186, 3),
    "satimage": (3104, 1331, 2000, 6),
    "letter": (10500, 4500, 5000, 26),
    "connect4": (67557 - 6756 - 13511, 6756, 13511, 3),
    "sst2": (8544, 1101, 2210, 2),
    "sst5": (8544, 1101, 2210, 5),
    "trec6": (4907, 545, 500, 6),
    "glue-sst2": (63982, 872, 3367, 2),
    "cifar10": (45000, 5000, 10000, 10),
    "cifar100": (45000, 5000, 10000, 100),
    "svhn": (65932, 7325, 26032, 10),
}
WEIGHTS = {"weights": torch.zeros(2)}
RANDOM_VECTORS = Preparation(vectors=Vectors(source=None, dimension=4))


@pytest.fixture
def written(dataset, tmp_path):
    path = tmp_path / "clouds.safetensors"
    write_dataset(dataset, path)
    return path


def counts_of(dataset):
    return (*(len(getattr(dataset, split)) for split in SPLITS), dataset.classes)


def test_catalog_has_the_counts_of_the_paper():
    specs = {name: DATASETS[name] for name in PAPER}
    counts = {n: (it.train, it.validation, it.test, it.classes) for n, it in specs.items()}
    assert counts == PAPER


@pytest.mark.parametrize("name", ["dna", "satimage", "letter"])
def test_packaged_set_has_the_rows_of_the_source_in_units_of_the_training_rows(name):
    raw, found = packaged(name, {}), prepare(name, Preparation(), Path("nothing-to-download"))
    assert counts_of(found) == PAPER[name]
    assert tuple(found.metadata["counts"].values()) == PAPER[name][:3]
    mean, scale = standardisation(raw.train.inputs)
    for split in SPLITS:
        rows, expected = getattr(found, split), getattr(raw, split)
        scaled = (expected.inputs - mean) / scale
        np.testing.assert_array_equal(rows.inputs.numpy(), scaled.astype(np.float32), strict=True)
        np.testing.assert_array_equal(rows.labels.numpy(), expected.labels, strict=True)


@pytest.mark.parametrize("name", ["connect4", "sst2", "sst2-binary", "sst5", "trec6"])
def test_official_files_of_a_mirror_are_prepared(name, mirror, tmp_path):
    preparation = RANDOM_VECTORS if DATASETS[name].kind == "text" else Preparation()
    dataset = prepare(name, preparation, tmp_path / "cache", str(mirror))
    spec = DATASETS[name]
    assert counts_of(dataset) == (spec.train, spec.validation, spec.test, spec.classes)
    sums = {file: hashlib.sha256((mirror / file).read_bytes()).hexdigest() for file in spec.files}
    assert dataset.metadata["files"] == sums
    assert not (tmp_path / "cache").exists()  # used where they lie


def test_another_count_than_the_papers_names_both(tmp_path, monkeypatch):
    for name, rows in {"train_5500.label": 20, "TREC_10.label": 3}.items():
        content = b"HUM:ind Who ?\n" * rows
        (tmp_path / name).write_bytes(content)
        checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
        monkeypatch.setitem(FILES, name, RemoteFile(FILES[name].url, checksum))
    with pytest.raises(UserError, match=r"^dataset trec6: train: expected 4907 rows, found 18$"):
        prepare("trec6", RANDOM_VECTORS, tmp_path / "cache", str(tmp_path))


def test_images_survive_the_file_with_the_statistics_of_training(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (40, 8, 9, 3), dtype=np.uint8)
    np.savez(tmp_path / "a.npz", images=images, labels=np.arange(40) % 2)
    own = {"own": {"kind": "image", "path": str(tmp_path / "a.npz"), "flip": False}}
    write_dataset(prepare("mine", Preparation.model_validate(own), tmp_path), tmp_path / "x")
    found = read_dataset(tmp_path / "x")
    ready = found.train.ready(found.train.inputs)
    assert (found.train.inputs.dtype, found.metadata["flip"]) == (torch.uint8, False)
    torch.testing.assert_close(ready.mean(dim=(0, 2, 3)), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(ready.std(dim=(0, 2, 3)), torch.ones(3), atol=1e-3, rtol=0)


def test_unknown_names_and_texts_without_vectors_are_refused(mirror, tmp_path):
    with pytest.raises(UserError, match=r"'iris' is not one of dna, satimage, letter"):
        prepare("iris", Preparation(), tmp_path)
    with pytest.raises(UserError, match=r"texts need data\.vectors"):
        prepare("trec6", Preparation(), tmp_path, str(mirror))


@pytest.mark.parametrize("rule", ["scores", "trees"])
def test_scores_of_sst2_are_wanted_only_where_they_count(mirror, tmp_path, monkeypatch, rule):
    asked = []

    def acquired(_, file, *__):
        asked.append(file.name)
        return mirror / file.name

    monkeypatch.setattr(prepare_module, "acquire", acquired)
    settings = RANDOM_VECTORS.model_copy(update={"sst2_neutral": rule})
    with suppress(FileNotFoundError):  # of the scores, which no folder needs to have
        prepare("sst2", settings, tmp_path)
    assert (SCORES in asked) is (rule == "scores")


def test_data_set_survives_the_file(dataset, written):
    found = read_dataset(written)
    for field in ("name", "kind", "classes", "metadata"):
        assert getattr(found, field) == getattr(dataset, field)
    for split in SPLITS:
        rows, expected = getattr(found, split), getattr(dataset, split)
        assert torch.equal(rows.inputs, expected.inputs)
        assert torch.equal(rows.labels, expected.labels)


def test_file_has_its_digest_beside_it_whenever_it_is_written(dataset, written):
    write_dataset(dataclasses.replace(dataset, name="other"), written)
    digest = written.with_name(f"{written.name}.sha256")
    assert {*written.parent.iterdir()} == {written, digest}
    assert read_dataset(written).name == "other"
    digest.unlink()  # as earlier versions left it
    assert read_dataset(written).name == "other"


def test_file_of_another_version_is_refused(dataset, written, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(prepared_module, "FORMAT_VERSION", 99)
        write_dataset(dataset, written)
    with pytest.raises(UserError, match=r"damaged, .*\(format version 99, expected 2\)"):
        read_dataset(written)


@pytest.mark.parametrize(
    "content",
    [
        *(None, "cut", 0.1, 0.9, b"", b"garbage", b"\x00" * 64),
        *(save(WEIGHTS), save(WEIGHTS, {"other": "tool"})),
    ],
    ids=["absent", "cut", "bit", "late bit", "empty", "text", "zeros", "tensors", "other tool"],
)
def test_what_is_no_prepared_file_is_refused_by_its_name(written, content):
    whole = bytearray(written.read_bytes())
    if isinstance(content, float):
        whole[int(content * len(whole))] ^= 1
        written.write_bytes(whole)
    else:
        for file in written.parent.iterdir():
            file.unlink()
        if content is not None:
            written.write_bytes(whole[:-100] if content == "cut" else content)
    with pytest.raises(UserError, match=rf"^{re.escape(str(written))}: damaged, or no prepared"):
        read_dataset(written)
