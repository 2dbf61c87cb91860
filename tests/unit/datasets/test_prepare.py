"""From packaged splits to the prepared file, and back."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sklearn.preprocessing import StandardScaler

from automata.config.data import Preparation
from automata.datasets import prepared as prepared_module
from automata.datasets.catalog import DATASETS
from automata.datasets.kinds import standardisation
from automata.datasets.official import packaged
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Dataset, read_dataset, write_dataset
from automata.errors import UserError

SPLITS = ["train", "validation", "test"]
# Rows of the paper's appendix, typed in again here: train, validation, test, features, classes.
PAPER_COUNTS = {
    "dna": (1400, 600, 1186, 180, 3),
    "satimage": (3104, 1331, 2000, 36, 6),
    "letter": (10500, 4500, 5000, 16, 26),
}


@pytest.fixture(scope="module", params=list(PAPER_COUNTS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def ready(name: str) -> Dataset:
    return prepare(name, Preparation(), Path("nothing-to-download"))


@pytest.fixture
def written(dataset: Dataset, tmp_path: Path) -> Path:
    path = tmp_path / "clouds.safetensors"
    write_dataset(dataset, path)
    return path


def test_training_columns_have_mean_zero(ready: Dataset) -> None:
    means = ready.train.inputs.double().mean(dim=0)
    torch.testing.assert_close(means, torch.zeros_like(means), rtol=0, atol=1e-6)


def test_training_columns_have_standard_deviation_one(ready: Dataset) -> None:
    deviations = ready.train.inputs.double().std(dim=0, correction=0)
    torch.testing.assert_close(deviations, torch.ones_like(deviations), rtol=0, atol=1e-6)


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_is_scaled_by_the_statistics_of_training(
    name: str, ready: Dataset, split: str
) -> None:
    raw = packaged(name, {})
    scaler = StandardScaler().fit(raw.train.inputs.astype(np.float64))
    expected = scaler.transform(getattr(raw, split).inputs.astype(np.float64))
    found = getattr(ready, split).inputs.numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_counts_are_those_of_the_paper(name: str, ready: Dataset) -> None:
    found = (
        *(len(getattr(ready, split)) for split in SPLITS),
        ready.train.inputs.shape[1],
        ready.classes,
    )
    assert found == PAPER_COUNTS[name]


@pytest.mark.parametrize("split", SPLITS)
def test_labels_are_those_of_the_source(name: str, ready: Dataset, split: str) -> None:
    expected = getattr(packaged(name, {}), split).labels
    np.testing.assert_array_equal(getattr(ready, split).labels.numpy(), expected)


@pytest.mark.parametrize("split", SPLITS)
def test_tensors_are_float32_and_int64(ready: Dataset, split: str) -> None:
    rows = getattr(ready, split)
    assert (rows.inputs.dtype, rows.labels.dtype) == (torch.float32, torch.int64)


def test_metadata_names_the_counts(name: str, ready: Dataset) -> None:
    assert tuple(ready.metadata["counts"].values()) == PAPER_COUNTS[name][:3]


def test_a_wrong_count_is_an_error_with_both_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DATASETS, "dna", dataclasses.replace(DATASETS["dna"], test=1187))
    with pytest.raises(UserError, match=r"^dataset dna: test: expected 1187 rows, found 1186$"):
        prepare("dna", Preparation(), Path("nothing-to-download"))


def test_an_unknown_name_is_an_error_that_lists_the_valid_ones() -> None:
    with pytest.raises(UserError, match=r"'iris' is not one of dna, satimage, letter"):
        prepare("iris", Preparation(), Path("nothing-to-download"))


@pytest.mark.parametrize("constant", [0.0, 3.0, 0.1, -1e6])
def test_a_constant_column_becomes_zero(constant: float) -> None:
    features = np.full((1001, 2), constant, dtype=np.float32)
    features[:, 1] = np.arange(1001)
    mean, scale = standardisation(features)
    np.testing.assert_array_equal(((features - mean) / scale)[:, 0], np.zeros(1001))


def test_statistics_are_those_of_a_hand_computation() -> None:
    mean, scale = standardisation(np.array([[1.0, 5.0], [3.0, 5.0]], dtype=np.float32))
    assert (mean.tolist(), scale.tolist()) == ([2.0, 5.0], [1.0, 1.0])


@pytest.mark.parametrize("part", ["inputs", "labels"])
@pytest.mark.parametrize("split", SPLITS)
def test_tensors_survive_the_file(dataset: Dataset, written: Path, split: str, part: str) -> None:
    expected = getattr(getattr(dataset, split), part)
    assert torch.equal(getattr(getattr(read_dataset(written), split), part), expected)


@pytest.mark.parametrize("field", ["name", "kind", "classes", "metadata"])
def test_header_survives_the_file(dataset: Dataset, written: Path, field: str) -> None:
    assert getattr(read_dataset(written), field) == getattr(dataset, field)


def test_writing_leaves_the_file_and_its_digest(written: Path) -> None:
    names = [entry.name for entry in written.parent.iterdir()]
    assert sorted(names) == [written.name, f"{written.name}.sha256"]


@pytest.mark.parametrize("place", [0.1, 0.9])
def test_a_file_with_an_altered_bit_is_refused(written: Path, place: float) -> None:
    content = bytearray(written.read_bytes())
    content[int(place * len(content))] ^= 1
    written.write_bytes(content)
    with pytest.raises(UserError, match=rf"^{re.escape(str(written))}: damaged, or no prepared"):
        read_dataset(written)


def test_a_file_without_a_digest_is_of_an_earlier_version_and_is_read(
    dataset: Dataset, written: Path
) -> None:
    written.with_name(f"{written.name}.sha256").unlink()
    assert read_dataset(written).name == dataset.name


def test_a_file_that_is_written_again_has_its_own_digest(dataset: Dataset, written: Path) -> None:
    write_dataset(dataclasses.replace(dataset, name="other"), written)
    assert read_dataset(written).name == "other"


def test_a_file_of_another_version_is_refused(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new.safetensors"
    with monkeypatch.context() as patch:
        patch.setattr(prepared_module, "FORMAT_VERSION", 99)
        write_dataset(dataset, path)
    with pytest.raises(UserError, match=r"damaged, .*\(format version 99, expected 2\)"):
        read_dataset(path)


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x00" * 64, b'{"json": true}' * 20])
def test_a_file_that_is_garbage_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "garbage.safetensors"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"^{re.escape(str(path))}: "):
        read_dataset(path)


def test_a_cut_file_is_refused(written: Path) -> None:
    written.write_bytes(written.read_bytes()[:-100])
    with pytest.raises(UserError, match=re.escape(str(written))):
        read_dataset(written)


@pytest.mark.parametrize("header", [None, {"other": "tool"}])
def test_tensors_of_another_tool_are_refused(tmp_path: Path, header: Any) -> None:
    path = tmp_path / "other.safetensors"
    save_file({"weights": torch.zeros(2)}, path, metadata=header)
    with pytest.raises(UserError, match=re.escape(str(path))):
        read_dataset(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "absent.safetensors"
    with pytest.raises(UserError, match=re.escape(str(path))):
        read_dataset(path)
