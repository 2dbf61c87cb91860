"""Shipped files agree: configurations with the paper, keys with their pages, locks with needs."""

import json
import re
import tomllib
from itertools import chain
from pathlib import Path

import jsonschema
import pytest
import yaml
from packaging.requirements import Requirement

import automata
from automata.config.files import read, read_experiments
from tools.texts import json_schema, with_keys

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGE = (ROOT / "docs/configuration.md").read_text()
SCHEMA = (CONFIG / "schema.json").read_text()
CONFIGURATIONS = [path for path in CONFIG.rglob("*.yaml") if path.name != "claims.yaml"]
PAPER = yaml.safe_load("""
tabular:
  protocol: {model: mlp, epochs: 200, reselect_every: 10, decay_every: 20, decay_factor: 0.05}
  seeds: [0, 1, 2, 3, 4]
  space:
    learning_rate: {uniform: [0.001, 0.01]}
    optimizer: {choice: [adam, sgd]}
    schedule: {choice: [none, cosine, step]}
    hidden1: {choice: [150, 200, 250, 300]}
    hidden2: {choice: [150, 200, 250, 300]}
    batch_size: {choice: [16, 32, 64]}
text:
  protocol: {model: lstm, optimizer: adam, epochs: 20, reselect_every: 5}
  seeds: [0, 1, 2, 3, 4]
  space:
    learning_rate: {uniform: [0.001, 0.1]}
    hidden: {choice: [64, 128, 256]}
    batch_size: {choice: [16, 32, 64]}
image:
  protocol:
    {model: resnet18, epochs: 300, reselect_every: 20, decay_every: 20, batch_size: 20,
     optimizer: sgd, momentum: 0.9, weight_decay: 0.0005}
  seeds: [0, 1, 2]
  space:
    lr1: &rate {uniform: [0.001, 0.01]}
    lr2: *rate
    lr3: *rate
    lr4: *rate
    nesterov: {choice: [true, false]}
    schedule: {choice: [cosine, step]}
    decay_factor: {uniform: [0.05, 0.5]}
""")


def shipped(*names):
    """Return shipped configurations over the default one, one per part."""
    return read_experiments([CONFIG / name for name in ("config.yaml", *names)])


@pytest.mark.parametrize("kind", PAPER)
def test_every_part_of_the_paper_tunes_as_the_paper(kind):
    experiment = shipped("paper.yaml")[[*PAPER].index(kind)]
    assert experiment.searches == ["random", "tpe"]
    assert experiment.schedulers == ["hyperband", "asha"]
    assert experiment.selectors == ["full", "random", "craig", "gradmatch"]
    assert experiment.fractions == [0.01, 0.05, 0.1, 0.3]
    assert experiment.seeds == PAPER[kind]["seeds"]
    warm = {name: values.warm_start for name, values in experiment.scheduler}
    assert (warm["hyperband"], warm["asha"]) == (0.0, 0.35)
    assert experiment.selector.of("gradmatch") == {"l2": 0.0, "tolerance": 0.0}
    protocol = getattr(experiment.protocol, kind).under("tpe").model_dump(mode="json")
    assert protocol.items() >= {**PAPER[kind]["protocol"], "configurations": 27}.items()
    assert protocol["search_space"] == PAPER[kind]["space"]


def test_texts_are_prepared_and_searched_at_random_as_in_the_paper():
    (experiment,) = shipped("text.yaml")
    protocol = experiment.protocol.text.under("random")
    assert (protocol.configurations, protocol.search_space["layers"].choice) == (54, [1, 2])
    assert (experiment.data.vectors.dimension, experiment.data.sst2_neutral) == (300, "scores")


def test_schema_and_tables_of_keys_are_the_generated_ones():
    assert json.loads(SCHEMA) == json_schema(), "run: python -m tools.texts"
    defaults = yaml.safe_load((CONFIG / "config.yaml").read_text())
    assert with_keys(PAGE, defaults) == PAGE, "run: python -m tools.texts"
    assert not re.search(r'"[lg][te]":', SCHEMA)  # pydantic's names of bounds


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.name)
def test_editors_accept_the_shipped_configurations_by_the_schema(path):
    jsonschema.validate(read(path), json.loads(SCHEMA))


def test_the_citation_and_the_changelog_are_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == automata.__version__
    title = f"## {automata.__version__} - {citation['date-released']}"
    assert title in (ROOT / "CHANGELOG.md").read_text()


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
