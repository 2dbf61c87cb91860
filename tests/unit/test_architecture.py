"""Who may import what, and what importing costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src/automata"
ALLOWED = {
    "snakemake": [],
    "ray": ["tuning"],
    "pyJoules": ["metering"],
    "codecarbon": ["metering"],
    "matplotlib": ["figures", "page", "simulation"],
    "seaborn": ["figures"],
}


def importers(name):
    """Return the parts of the package with a module that imports `name`."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            if any(module.split(".")[0] == name for module in modules):
                found.add(path.relative_to(PACKAGE).parts[0])
    return sorted(found)


@pytest.mark.parametrize(("name", "parts"), ALLOWED.items())
def test_library_is_imported_only_where_it_belongs(name, parts):
    assert importers(name) == parts


READING = ["analysis", "figures", "page", "views.py"]
"""What is made of records."""

RECORD = {"records", "metering.measurement", "training.progress"}
"""The models of a record."""

SIMULATED = {"simulation.readers", "simulation.figures"}
"""Tables and figures of simulated searches, which are in the room of their own."""

DOOR = RECORD | {"config", "names", "errors", "files", "registry", "runs"}
"""What reading may import of the rest."""


def imported_parts(path):
    """Yield the modules of the package that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "automata":
            modules = [f"automata.{alias.name}" for alias in node.names]
        else:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for module in modules:
            if module.startswith("automata."):
                yield module.removeprefix("automata.")


def modules_of(part):
    path = PACKAGE / part
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def test_configuration_imports_no_room_but_the_catalogue_of_data_sets():
    found = {
        (node.module or "").removeprefix("automata.")
        for path in modules_of("config")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("automata")
    }
    others = {name for name in found if not name.startswith("config")}
    assert others == {"datasets.catalog", "errors", "files", "registry"}


def test_reading_knows_of_making_the_record_alone():
    allowed = DOOR | SIMULATED | {part.removesuffix(".py") for part in READING}
    wrong = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for wing in READING
        for path in modules_of(wing)
        for name in imported_parts(path)
        if not {name, name.split(".")[0]} & allowed
    }
    assert wrong == set()


@pytest.mark.parametrize("part", ["selection", "models", "training", "tuning", "metering"])
def test_making_knows_nothing_of_reading(part):
    reading = {part.removesuffix(".py") for part in READING}
    parts = {name.split(".")[0] for path in modules_of(part) for name in imported_parts(path)}
    assert parts & reading == set()


@pytest.mark.parametrize(
    "module",
    [
        "automata.config",
        "automata.outputs",
        "automata.simulation",
        "automata.records",
        "automata.cli",
        "automata.status",
    ],
)
def test_light_modules_import_neither_torch_nor_ray(module):
    code = f"import sys, {module}; print({{'torch', 'ray', 'pandas'}} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


@pytest.mark.parametrize("module", ["automata.grid", "automata.outputs"])
def test_planning_imports_no_numpy(module):
    code = f"import sys, {module}; print('numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
