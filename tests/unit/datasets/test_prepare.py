"""From official files to the prepared file, and back."""

import dataclasses
import hashlib
import re
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from safetensors.torch import save

from automata.catalog import DATASETS, FILES, RemoteFile
from automata.config.data import Preparation, Vectors
from automata.datasets import prepare as prepare_module
from automata.datasets.official.sst import SCORES
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.errors import UserError

WEIGHTS = {"weights": torch.zeros(2)}
RANDOM_VECTORS = Preparation(vectors=Vectors(source=None, dimension=4))


@pytest.mark.parametrize("name", ["connect4", "sst2", "sst2-binary", "sst5", "trec6"])
def test_official_files_of_a_mirror_are_prepared(name, mirror, tmp_path):
    preparation = RANDOM_VECTORS if DATASETS[name].kind == "text" else Preparation()
    dataset = prepare(name, preparation, tmp_path / "cache", str(mirror))
    spec = DATASETS[name]
    assert dataset.classes == spec.classes
    sums = {file: hashlib.sha256((mirror / file).read_bytes()).hexdigest() for file in spec.files}
    assert dataset.metadata["files"] == sums
    assert not (tmp_path / "cache").exists()  # used where they lie


def test_another_count_than_the_papers_names_both(tmp_path, monkeypatch):
    for name, rows in {"train_5500.label": 20, "TREC_10.label": 3}.items():
        (tmp_path / name).write_bytes(b"HUM:ind Who ?\n" * rows)
        monkeypatch.setitem(FILES, name, RemoteFile(FILES[name].url))
    with pytest.raises(UserError, match=r"^dataset trec6: train: expected 4907 rows, found 18$"):
        prepare("trec6", RANDOM_VECTORS, tmp_path / "cache", str(tmp_path))


def test_images_that_must_not_be_mirrored_say_so(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.zeros((40, 8, 9), np.uint8), labels=np.arange(40) % 2)
    own = {"own": {"kind": "image", "path": str(tmp_path / "a.npz"), "flip": False}}
    assert prepare("mine", Preparation.model_validate(own), tmp_path).metadata["flip"] is False


def test_unknown_names_and_texts_without_vectors_are_refused(mirror, tmp_path):
    with pytest.raises(UserError, match=r"'iris' is not one of dna, satimage, letter"):
        prepare("iris", Preparation(), tmp_path)
    with pytest.raises(UserError, match=r"texts need data\.vectors"):
        prepare("trec6", Preparation(), tmp_path, str(mirror))


@pytest.mark.parametrize("rule", ["scores", "trees"])
def test_scores_of_sst2_are_wanted_only_where_they_count(tmp_path, monkeypatch, rule):
    asked = Mock(return_value=tmp_path / "absent")
    monkeypatch.setattr(prepare_module, "acquire", asked)
    with pytest.raises(FileNotFoundError):
        prepare("sst2", RANDOM_VECTORS.model_copy(update={"sst2_neutral": rule}), tmp_path)
    files = [call.args[1].name for call in asked.call_args_list]
    assert (SCORES in files) is (rule == "scores")


def test_file_has_its_digest_beside_it_whenever_it_is_written(dataset, tmp_path):
    written = tmp_path / "clouds.safetensors"
    write_dataset(dataset, written)
    write_dataset(dataclasses.replace(dataset, name="other"), written)
    digest = written.with_name(f"{written.name}.sha256")
    assert {*tmp_path.iterdir()} == {written, digest}
    assert read_dataset(written).name == "other"
    content = written.read_bytes()
    written.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(UserError, match=f"{written}: damaged, .*is not that of {digest.name}"):
        read_dataset(written)
    digest.unlink()  # as a kill of the writer may leave it
    with pytest.raises(UserError, match=r"delete it, and run the same .*\.safetensors\.sha256"):
        read_dataset(written)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, ""),
        (save(WEIGHTS), ""),
        (save(WEIGHTS, {"other": "tool"}), ""),
        (save(WEIGHTS, {"dataset": '{"format_version": 99}'}), "format version 99, expected 2"),
    ],
)
def test_what_is_no_prepared_file_is_refused_by_its_name(tmp_path, content, reason):
    file = tmp_path / "clouds.safetensors"
    if content is not None:
        file.write_bytes(content)
        file.with_name(f"{file.name}.sha256").write_text(hashlib.sha256(content).hexdigest())
    with pytest.raises(UserError, match=rf"^{re.escape(str(file))}: damaged, or no .*{reason}"):
        read_dataset(file)
