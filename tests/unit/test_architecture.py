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
    "matplotlib": ["figures"],
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


@pytest.mark.parametrize("module", ["automata.config", "automata.records", "automata.cli"])
def test_light_modules_import_neither_torch_nor_ray(module):
    code = f"import sys, {module}; print({{'torch', 'ray', 'pandas'}} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
