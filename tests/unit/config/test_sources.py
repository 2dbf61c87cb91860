"""The user's own files: their roles, and the modules among them."""

import sys

import pytest

from automata.config.data import Preparation
from automata.config.sources import data_files, factory_file
from automata.errors import UserError
from automata.files import sha256
from automata.loading import make, own_file


def test_data_files_are_named_by_role():
    own = {"kind": "text", "path": "a.csv", "test": "b.csv", "text": "x", "target": "y"}
    given = {"own": own, "vectors": {"source": "v.txt", "dimension": 5}}
    files = {"own.path": "a.csv", "own.test": "b.csv", "vectors.source": "v.txt"}
    assert data_files(Preparation.model_validate(given)) == files
    given["vectors"]["source"] = "https://a.org/v.zip"
    assert "vectors.source" not in data_files(Preparation.model_validate(given))


def test_file_of_a_factory_is_found_without_importing_it(tmp_path):
    (tmp_path / "nets").mkdir()
    (tmp_path / "docs/examples").mkdir(parents=True)  # without __init__.py
    names = {"nets": "nets/__init__", "nets.mine": "nets/mine"}
    names["docs.examples.mine"] = "docs/examples/mine"
    for module, name in names.items():
        file = tmp_path / f"{name}.py"
        file.write_text("raise SystemExit('imported')")
        assert factory_file(f"{module}:build", [str(tmp_path)], "key") == file
        assert module not in sys.modules
    for factory in ("no_such:build", "nets.no_such:build"):
        message = f"^key: {factory}: no module .* working directory, PYTHONPATH"
        with pytest.raises(UserError, match=message):
            factory_file(factory, [str(tmp_path)], "key")


def test_file_of_a_factory_must_be_that_of_the_plan(tmp_path, monkeypatch):
    (tmp_path / "mine_here.py").write_text("def build(): ...")
    monkeypatch.syspath_prepend(tmp_path)
    found = own_file("mine_here:build", None, "factory")
    assert found == sha256(tmp_path / "mine_here.py")
    with pytest.raises(UserError, match=r"^factory: mine_here:build: has changed; run the same"):
        own_file("mine_here:build", "0" * 64, "factory")
    (tmp_path / "broken_here.py").write_text("def build(:")
    with pytest.raises(UserError, match="cannot import broken_here: SyntaxError"):
        own_file("broken_here:build", None, "factory")


def test_an_own_method_without_a_member_that_it_needs_is_one_line():
    expected = r"\Aown_selectors\.mine: pathlib:Path: has no cadence; needed: cadence, select\Z"
    with pytest.raises(UserError, match=expected):
        make("selector", "mine", {"selector": "pathlib:Path"})
