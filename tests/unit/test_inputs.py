"""Hashes of the user's own files, and when they are read again."""

import os
import sys
from pathlib import Path

import pytest

from automata.config.data import Preparation
from automata.config.job import content_of, data_files, factory_file, remembered_content
from automata.errors import UserError
from automata.files import sha256


@pytest.fixture
def reads(monkeypatch):
    """The paths that were read."""
    paths = []

    def read(path):
        paths.append(path)
        return content_of(path)

    monkeypatch.setattr("automata.config.job.content_of", read)
    return paths


def test_a_file_is_read_once_and_again_when_it_has_changed(tmp_path, reads):
    file, memory = tmp_path / "a.csv", tmp_path / "memory.json"
    file.write_text("one")
    first = remembered_content(file, memory)
    assert remembered_content(file, memory) == first == sha256(file)
    file.write_text("two")
    assert remembered_content(file, memory) == sha256(file) != first
    assert reads == [file, file]


def test_a_touched_file_has_the_same_content(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("one")
    before = remembered_content(file, tmp_path / "memory.json")
    os.utime(file, (1, 1))
    assert remembered_content(file, tmp_path / "memory.json") == before


def test_a_folder_changes_with_a_file_in_it(tmp_path):
    folder, memory = tmp_path / "images", tmp_path / "memory.json"
    (folder / "cat").mkdir(parents=True)
    (folder / "cat/1.png").write_bytes(b"1")
    before = remembered_content(folder, memory)
    (folder / "cat/2.png").write_bytes(b"2")
    assert remembered_content(folder, memory) != before


@pytest.mark.parametrize("text", ["", "not JSON", '{"x": 1}', "[1, 2]"])
def test_a_damaged_memory_is_ignored(tmp_path, text):
    file, memory = tmp_path / "a.csv", tmp_path / "memory.json"
    file.write_text("one")
    memory.write_text(text)
    assert remembered_content(file, memory) == sha256(file)


def test_a_memory_that_cannot_be_written_is_ignored(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("one")
    assert remembered_content(file, file / "memory.json") == sha256(file)


def test_data_files_by_role():
    own = {"kind": "text", "path": "a.csv", "test": "b.csv", "text": "x", "target": "y"}
    vectors = {"source": "v.txt", "dimension": 5}
    assert data_files(Preparation.model_validate({"own": own, "vectors": vectors})) == {
        "own.path": "a.csv",
        "own.test": "b.csv",
        "vectors.source": "v.txt",
    }
    away = Preparation.model_validate({"vectors": {"source": "https://a.org/v.zip"}})
    assert data_files(away) == {}


def test_a_factory_is_found_without_importing_it(tmp_path):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets/__init__.py").write_text("raise SystemExit('imported')")
    (tmp_path / "nets/mine.py").write_text("raise SystemExit('imported')")
    assert factory_file("nets.mine:build", [str(tmp_path)], "key") == tmp_path / "nets/mine.py"
    assert factory_file("nets:build", [str(tmp_path)], "key") == tmp_path / "nets/__init__.py"
    assert not {"nets", "nets.mine"} & set(sys.modules)


def test_module_of_folders_without_init_is_found(tmp_path):
    (tmp_path / "docs/examples").mkdir(parents=True)
    (tmp_path / "docs/examples/mine.py").touch()
    file = factory_file("docs.examples.mine:build", [str(tmp_path)], "key")
    assert file == tmp_path / "docs/examples/mine.py"


@pytest.mark.parametrize("factory", ["no_such:build", "nets.no_such:build"])
def test_a_missing_factory_is_one_line(tmp_path, factory):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets/__init__.py").write_text("")
    with pytest.raises(
        UserError, match=f"^key: {factory}: no module .* working directory, PYTHONPATH"
    ):
        factory_file(factory, [str(tmp_path)], "key")


def test_the_file_of_a_factory_is_the_one_whose_checksum_the_record_has(tmp_path, monkeypatch):
    from automata.tuning.context import own_file

    (tmp_path / "mine_here.py").write_text("def build(): ...")
    monkeypatch.syspath_prepend(tmp_path)
    file = factory_file("mine_here:build", sys.path, "key")
    assert isinstance(file, Path)
    assert own_file("mine_here:build", None, "factory") == sha256(file)
