"""The imports that each part of the package may have, and the cost of importing."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src/automata"
ALLOWED = {
    "snakemake": set(),
    "ray": {"tuning"},
    "pyJoules": {"metering"},
    "codecarbon": {"metering"},
    "matplotlib": {"figures", "page"},
    "seaborn": {"figures"},
}
READING = {"analysis", "figures", "page"}
"""The parts that read records."""

LEAVES = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__", "api"}
"""The modules outside of rooms. They import nothing of the package but one another."""

DOOR = {"records", "config"} | LEAVES
"""The modules that the parts of READING may import of the others."""

MUTUAL = {
    # `prepare` has a data set read by one of these rooms, which fill the raw splits that all share.
    ("datasets", "datasets.official"),
    ("datasets", "datasets.own"),
}
"""The pairs of rooms that import each other."""

MAKING = {"datasets", "selection", "models", "training", "search", "tuning", "metering"}
LIGHT = {
    "api": {"ray", "sklearn", "codecarbon", "snakemake"},
    "cli": {"torch", "ray", "pandas"},
    "experiment.status": {"torch", "ray", "pandas"},
    "analysis.views": {"torch", "ray", "pandas", "matplotlib"},
    "experiment.outputs": {"torch", "ray", "pandas", "numpy"},
}
"""Modules that users wait for, and libraries whose import takes long."""


@cache
def imports():
    """Return pairs of a module of the package, without the package's name, and one it imports."""
    pairs = set()
    for path in PACKAGE.rglob("*.py"):
        importer = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                inner = [f"{node.module}.{alias.name}" for alias in node.names]
                modules = [name if is_module(name) else node.module for name in inner]
            pairs |= {(importer, module) for module in modules}
    return pairs


def is_module(name):
    path = PACKAGE.parent.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def parts_imported(part):
    """Return the modules of the package that a part imports, without the package's name."""
    names = {module for importer, module in imports() if importer.split(".")[0] == part}
    return {it.removeprefix("automata.") for it in names if it.startswith("automata.")}


def room(module):
    """Return the innermost folder of a module, or the module itself if it is in none."""
    parts = module.split(".")
    folders = parts if PACKAGE.joinpath(*parts).is_dir() else parts[:-1]
    return ".".join(folders) or module


@pytest.mark.parametrize(("name", "parts"), ALLOWED.items())
def test_library_is_imported_only_where_it_belongs(name, parts):
    importers = {importer for importer, module in imports() if module.split(".")[0] == name}
    assert {importer.split(".")[0] for importer in importers} == parts


@pytest.mark.parametrize("leaf", sorted(LEAVES))
def test_leaves_import_nothing_of_the_package_but_leaves(leaf):
    assert parts_imported(leaf) <= LEAVES


def test_rooms_import_each_other_in_few_pairs():
    inside = [(room(a), b.removeprefix("automata.")) for a, b in imports() if "automata." in b]
    pairs = {(importer, room(module)) for importer, module in inside}
    assert {(a, b) for a, b in pairs if a < b and (b, a) in pairs} == MUTUAL


def test_configuration_imports_no_room_but_the_catalogue_of_data_sets():
    others = {name for name in parts_imported("config") if not name.startswith("config")}
    assert others == {"catalog", "metrics", "errors", "files", "registry"}


def test_reading_imports_only_the_record_of_making_and_making_nothing_of_reading():
    read = set().union(*map(parts_imported, READING))
    assert {name for name in read if not {name, name.split(".")[0]} & (DOOR | READING)} == set()
    made = set().union(*map(parts_imported, MAKING))
    assert {name.split(".")[0] for name in made} & READING == set()


@pytest.mark.parametrize(("module", "heavy"), LIGHT.items())
def test_light_modules_import_no_heavy_library_and_change_no_environment(module, heavy):
    code = f"import os, sys; before = dict(os.environ); import automata.{module}; "
    code += f"print({heavy} & set(sys.modules), dict(os.environ) == before)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set() True"
