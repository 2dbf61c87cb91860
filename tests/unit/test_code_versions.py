"""What changes the version of code, and what does not."""

import subprocess
import sys

import pytest

from automata import code_versions as module
from automata.code_versions import PACKAGE, PARTS, code_versions, essence, other_code, version

CODE = """
def double(x):
    return x * 2
"""

NOT_DECIDING = {
    "__init__.py",
    "allocation.py",
    "code_versions.py",
    "config",  # what it says is in each record, as the settings of the job
    "datasets/__init__.py",
    "datasets/catalog.py",
    "errors.py",
    "experiments",
    "files.py",
    "locks.py",
    "numerics.py",
    "provenance.py",
    "recorded.py",
    "records.py",
    "registry.py",
}
"""What a job imports besides, and its numbers do not depend on."""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part/one.py").write_text(CODE)
    (tmp_path / "two.py").write_text(CODE)
    return tmp_path


@pytest.mark.parametrize(
    "same",
    [
        "# why\ndef double(x):\n    return x * 2  # twice\n",
        'def double(x):\n    """Return twice x."""\n    return x * 2\n',
        '"""A module."""\n\n\ndef double(\n    x,\n):\n\n    return (x * 2)\n',
    ],
    ids=["comment", "docstring", "layout"],
)
def test_what_does_nothing_changes_no_version(package, same):
    before = version(package, ("part", "two.py"))
    (package / "two.py").write_text(same)
    assert version(package, ("part", "two.py")) == before


@pytest.mark.parametrize(
    "other",
    [
        "def double(x):\n    return x * 3\n",
        "def double(x):\n    return x * 2.0\n",
        "def double(x):\n    return x * True\n",
        "def double(y):\n    return x * 2\n",
        "def double(x):\n    'text'\n    return 'text'\n",
        "def double(x):\n    return\n",
        "def double(x):\n    return None\n",
    ],
)
def test_other_code_is_another_version(package, other):
    before = version(package, ("part", "two.py"))
    (package / "two.py").write_text(other)
    assert version(package, ("part", "two.py")) != before


def test_moved_code_is_another_version(package):
    before = version(package, ("part",))
    (package / "part/one.py").rename(package / "part/other.py")
    assert version(package, ("part",)) != before


def test_files_that_are_no_code_do_not_count(package):
    before = version(package, ("part",))
    (package / "part/notes.txt").write_text("notes")
    assert version(package, ("part",)) == before


def test_essence_is_the_same_text_on_every_python():
    # What `ast.dump` writes for this differs between 3.11, 3.12 and 3.13.
    assert essence("def f(x, *, y=1): return f'{x!r:>{y}}'") == (
        "Module(body=[FunctionDef(name='f',args=arguments(args=[arg(arg='x')],"
        "kwonlyargs=[arg(arg='y')],kw_defaults=[Constant(value=1)]),"
        "body=[Return(value=JoinedStr(values=[FormattedValue(value=Name(id='x',ctx=Load()),"
        "conversion=114,format_spec=JoinedStr(values=[Constant(value='>'),"
        "FormattedValue(value=Name(id='y',ctx=Load()),conversion=-1)]))]))])])"
    )


def test_every_part_has_code():
    for paths in PARTS.values():
        assert all((PACKAGE / path).exists() for path in paths)


def test_parts_that_differ_are_named(monkeypatch):
    today = {"selection": "1", "training": "2", "metering": "3"}
    monkeypatch.setattr(module, "code_versions", lambda: today)
    assert other_code(today) == []
    assert other_code({**today, "training": "0"}) == ["training"]
    assert other_code({}) == ["selection", "training", "metering"]


def test_all_that_a_job_imports_is_in_a_part_or_known_not_to_decide():
    code = (
        "import sys, automata.tuning.job, automata.tuning.trainable\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('automata')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    known = {*NOT_DECIDING, *(path for paths in PARTS.values() for path in paths)}
    names = [file.removeprefix(f"{PACKAGE}/") for file in shown.stdout.split()]
    assert [n for n in names if n not in known and n.split("/")[0] not in known] == []


def test_asking_needs_the_standard_library_alone():
    code = (
        "import sys, automata.code_versions as c; c.code_versions(); "
        "print({'torch', 'ray', 'numpy', 'pydantic', 'yaml'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
    assert set(code_versions()) == set(PARTS)
