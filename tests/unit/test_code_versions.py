"""What changes the version of code, and what does not."""

import subprocess
import sys

import pytest

from automata import code_versions as module
from automata.code_versions import (
    CLAIMS,
    EQUIVALENCES,
    PACKAGE,
    PARTS,
    Equivalence,
    claims_of,
    code_versions,
    essence,
    needed_for,
    origin,
    other_code,
    version,
)
from automata.metering import measurement
from automata.selection import CONTROLS, SELECTORS

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
    "failures.py",
    "files.py",
    "locks.py",
    "names.py",
    "numerics.py",
    "prediction",
    "provenance.py",
    "recorded.py",
    "records.py",
    "registry.py",
    "runs.py",
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


@pytest.mark.parametrize("method", ["craig", "gradmatch-adaptive", "full"])
def test_modules_of_a_run_are_those_that_it_imports(method):
    target = SELECTORS.get(method, "")
    loading = f"; import {target.partition(':')[0]}" if target else ""
    code = (
        f"import sys, automata.tuning.job, automata.tuning.trainable{loading}\n"
        "print(*(n for n in sys.modules if n.startswith('automata.selection.')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {f"{name.replace('.', '/')}.py" for name in shown.stdout.split()}
    assert {f"automata/{path}" for path in needed_for(target)} == imported


def test_every_selector_has_a_version_of_its_own():
    versions = {method: code_versions(method) for method in [*SELECTORS, *CONTROLS]}
    assert len({code["selection"] for code in versions.values()}) == len(SELECTORS) + 1
    assert {code["training"] for code in versions.values()} == {code_versions()["training"]}


def test_every_part_has_code():
    for paths in PARTS.values():
        assert all((PACKAGE / path).exists() for path in paths)


def test_parts_that_differ_are_named(monkeypatch):
    today = {"selection": "1", "training": "2", "metering": "3"}
    monkeypatch.setattr(module, "code_versions", lambda selector: today)
    assert other_code(today, "rs2") == []
    assert other_code({**today, "training": "0"}, "rs2") == ["training"]
    assert other_code({}, "rs2") == ["selection", "training", "metering"]


def declared(new, old, *covers, part="training"):
    return Equivalence(part, new, old, frozenset(covers), "c0ffee", "by hand")


CHAIN = (
    declared("c", "b", "decisions", "numbers", "times"),
    declared("b", "a", "decisions", "numbers"),
    declared("z", "a", "numbers", part="selection"),
)


@pytest.mark.parametrize(
    ("code", "claims", "oldest"),
    [
        ("c", {"decisions", "numbers"}, "a"),
        ("b", {"numbers"}, "a"),
        ("c", {"numbers", "times"}, "b"),  # the older step covers no times
        ("b", {"times"}, "b"),
        ("c", {"times of interrupted runs"}, "c"),
        ("a", {"numbers"}, "a"),
        ("z", {"numbers"}, "z"),  # of another part
        (None, {"numbers"}, None),
    ],
)
def test_equal_code_is_found_through_steps_that_cover_what_is_asked(
    monkeypatch, code, claims, oldest
):
    monkeypatch.setattr(module, "EQUIVALENCES", CHAIN)
    assert origin("training", code, claims) == oldest


@pytest.mark.parametrize(
    ("covers", "run", "other"),
    [
        (["times", "estimated energy"], {"methods": {"estimated"}}, False),
        (["times"], {}, False),  # a run without energy
        (["times", "estimated energy"], {"methods": {"measured"}}, True),
        (["times", "estimated energy"], {"methods": {"estimated", "polled"}}, True),
        (["times"], {"interrupted": True}, True),
        (["times of interrupted runs"], {"interrupted": True}, False),
        (["times", "times of interrupted runs"], {"device": "NVIDIA H200"}, True),
        (["times on GPUs"], {"device": "NVIDIA H200"}, False),
        (["times on GPUs"], {"device": "NVIDIA H200", "interrupted": True}, True),
        (
            ["times of interrupted runs on GPUs", "polled energy of interrupted runs on GPUs"],
            {"device": "NVIDIA H200", "interrupted": True, "methods": {"polled"}},
            False,
        ),
    ],
)
def test_code_is_other_code_in_all_that_is_not_declared(monkeypatch, covers, run, other):
    today = {"selection": "s", "training": "t", "metering": "new"}
    monkeypatch.setattr(module, "code_versions", lambda selector: today)
    table = (declared("new", "old", *covers, part="metering"),)
    monkeypatch.setattr(module, "EQUIVALENCES", table)
    assert other_code({**today, "metering": "old"}, "rs2", **run) == ["metering"] * other


def test_selection_decides_numbers_and_training_decisions_besides():
    assert claims_of("selection", ["estimated"]) == {"numbers", "times"}
    assert claims_of("training", ["estimated"]) == {"decisions", "numbers", "times"}
    of_interrupted = claims_of("training", [], True, "a GPU")
    assert of_interrupted == {
        "decisions",
        "numbers on GPUs",
        "times of interrupted runs on GPUs",
    }


def test_claims_are_of_all_the_ways_to_obtain_energy():
    ways = {claim for claim in CLAIMS if claim.endswith(" energy")}
    assert ways == {f"{method} energy" for method in measurement.METHODS}


def test_declared_equivalences_are_sound():
    assert all(e.part in PARTS and e.covers and e.covers <= CLAIMS for e in EQUIVALENCES)
    steps = {(e.part, e.new): e.old for e in EQUIVALENCES}
    assert len(steps) == len(EQUIVALENCES), "a hash is new twice"
    for part, code in steps:
        seen = [code]
        while (part, seen[-1]) in steps:
            seen.append(steps[part, seen[-1]])
            assert len(set(seen)) == len(seen), "a circle"


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
