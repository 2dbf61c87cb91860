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

LEAVES = {"catalog", "errors", "files", "loading", "metrics", "names", "registry"}
DOOR = {"records", "config"} | LEAVES
"""The modules that they may import of the others."""

MAKING = {"selection", "models", "training", "tuning", "metering"}
LIGHT = {
    "cli": {"torch", "ray", "pandas"},
    "experiment.status": {"torch", "ray", "pandas"},
    "analysis.views": {"torch", "ray", "pandas", "matplotlib"},
    "experiment.outputs": {"torch", "ray", "pandas", "numpy"},
}
"""Modules that users wait for, and libraries whose import takes long."""


@cache
def imports():
    """Return pairs of a part of the package and a module that it imports."""
    pairs = set()
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module == "automata":
                modules = [f"automata.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            pairs |= {(part, module) for module in modules}
    return pairs


def parts_imported(part):
    """Return the modules of the package that a part imports, without the package's name."""
    names = {module for importer, module in imports() if importer == part}
    return {it.removeprefix("automata.") for it in names if it.startswith("automata.")}


@pytest.mark.parametrize(("name", "parts"), ALLOWED.items())
def test_library_is_imported_only_where_it_belongs(name, parts):
    assert {part for part, module in imports() if module.split(".")[0] == name} == parts


def test_configuration_imports_no_room_but_the_catalogue_of_data_sets():
    others = {name for name in parts_imported("config") if not name.startswith("config")}
    assert others == {"catalog", "metrics", "errors", "files", "registry"}


def test_reading_imports_only_the_record_of_making_and_making_nothing_of_reading():
    read = set().union(*map(parts_imported, READING))
    assert {name for name in read if not {name, name.split(".")[0]} & (DOOR | READING)} == set()
    made = set().union(*map(parts_imported, MAKING))
    assert {name.split(".")[0] for name in made} & READING == set()


@pytest.mark.parametrize(("module", "heavy"), LIGHT.items())
def test_light_modules_import_no_heavy_library(module, heavy):
    code = f"import sys, automata.{module}; print({heavy} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
