"""The lock file, the conda environment and the declared dependencies agree."""

import re
import tomllib
from itertools import chain
from pathlib import Path

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
                assert pin.operator == "=="
                versions[canonical(requirement.name)] = pin.version
    return versions


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_lock_pins_a_version_in_the_range_of_each_dependency():
    versions = locked()
    declared = map(
        Requirement, chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    )
    wrong = [it for it in declared if not it.specifier.contains(versions[canonical(it.name)])]
    assert wrong == []


def test_conda_environment_has_every_dependency_in_the_locked_version():
    entries = yaml.safe_load((ROOT / "envs/automata.yaml").read_text())["dependencies"]
    (pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    pins = {canonical(name): pin for name, pin in (entry.split("==") for entry in pip)}
    assert pins.items() <= locked().items()
    assert {canonical(Requirement(it).name) for it in PROJECT["dependencies"]} <= pins.keys()


def test_lock_names_no_index_and_no_path():
    text = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"--|file:|https?:| @ ", re.sub(r"(?m)^#.*$", "", text))
