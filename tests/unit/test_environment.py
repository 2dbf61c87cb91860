"""The lock file, the conda environment and the declared dependencies agree."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def locked():
    """Return version by name of the lock file, for the environment on Python 3.11."""
    versions = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            environment = {"python_full_version": "3.11.9", "python_version": "3.11"}
            if requirement.marker is None or requirement.marker.evaluate(environment):
                (pin,) = requirement.specifier
                versions[canonical(requirement.name)] = (pin.operator, pin.version)
    return versions


def conda():
    dependencies = yaml.safe_load((ROOT / "envs/automata.yaml").read_text())["dependencies"]
    (pip,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    return {canonical(name): ("==", version) for name, version in (p.split("==") for p in pip)}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_lock_has_exact_versions_only():
    assert {operator for operator, _ in locked().values()} == {"=="}


def test_lock_pins_torch():
    assert locked()["torch"] == ("==", "2.13.0")


def test_lock_names_no_index_and_no_path():
    text = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"--|file:|https?:| @ ", re.sub(r"(?m)^#.*$", "", text))


@pytest.mark.parametrize(
    "requirement",
    [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())],
)
def test_lock_satisfies_the_declared_range(requirement):
    declared = Requirement(requirement)
    _, pinned = locked()[canonical(declared.name)]
    assert declared.specifier.contains(pinned)


def test_setup_says_which_torch_it_installed():
    (code,) = re.findall(r'python -c "(.*)"', (ROOT / "Makefile").read_text())
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(shown.stdout.splitlines()) == 1
    assert f"torch {version('torch')} (" in shown.stdout


def test_conda_environment_has_the_locked_versions():
    versions = locked()
    assert {name: versions.get(name) for name in conda()} == conda()


@pytest.mark.parametrize("requirement", PROJECT["dependencies"])
def test_conda_environment_has_every_dependency(requirement):
    assert canonical(Requirement(requirement).name) in conda()
