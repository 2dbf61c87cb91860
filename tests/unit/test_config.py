import json
from pathlib import Path

import pytest
import yaml

from automata.config import (
    Experiment,
    Settings,
    json_schema,
    parse_job,
)
from automata.errors import UserError

CONFIG = Path(__file__).parents[2] / "config"
RUN = {
    "dataset": "dna",
    "search": "tpe",
    "scheduler": "asha",
    "selector": "gradmatch",
    "fraction": 0.1,
    "seed": 0,
}


def shipped(name):
    """Return a shipped configuration over the default one, merged as Snakemake merges."""

    def merge(base, other):
        for key, value in other.items():
            if isinstance(value, dict) and isinstance(base.get(key), dict):
                merge(base[key], value)
            else:
                base[key] = value
        return base

    base = yaml.safe_load((CONFIG / "config.yaml").read_text())
    return merge(base, yaml.safe_load((CONFIG / name).read_text()))


def settings(**changes):
    values = shipped("config.yaml")
    parts = {key: values[key] for key in Settings.model_fields}
    parts["protocol"] = {**values["protocol"]["tabular"], **changes}
    return json.dumps(parts)


def test_schema_file_is_the_generated_one():
    written = json.loads((CONFIG / "schema.json").read_text())
    assert written == json_schema(), "run: automata schema --output config/schema.json"


@pytest.mark.parametrize("name", ["config.yaml", "tabular.yaml", "smoke.yaml"])
def test_shipped_configuration_is_valid(name):
    Experiment.model_validate(shipped(name))


def test_tabular_protocol_is_the_papers():
    experiment = Experiment.model_validate(shipped("tabular.yaml"))
    protocol = experiment.protocol.tabular
    assert (protocol.configurations, protocol.epochs, protocol.reselect_every) == (27, 200, 10)
    assert protocol.search_space.learning_rate.uniform == (0.001, 0.01)
    assert protocol.search_space.hidden1.choice == [150, 200, 250, 300]
    assert (experiment.scheduler.hyperband.warm_start, experiment.scheduler.asha.warm_start) == (
        0.0,
        0.35,
    )
    assert experiment.fractions == [0.01, 0.05, 0.1, 0.3]
    assert len(experiment.seeds) == 5


def test_every_key_has_a_description():
    documented = (CONFIG / "README.md").read_text()
    keys = set(Experiment.model_fields) - {"protocol", "search", "scheduler", "selector"}
    missing = [key for key in keys if f"`{key}" not in documented and f"## {key}" not in documented]
    assert missing == []


def test_job_takes_only_its_own_settings():
    job = parse_job(RUN, settings())
    assert job.settings.warm_start(job.run.scheduler) == 0.35


@pytest.mark.parametrize(
    ("run", "changes", "expected"),
    [
        ({"selector": "grad"}, {}, "selector: .*'grad' is not one of full, random"),
        ({"fraction": 1.5}, {}, "fraction: .*less than or equal to 1 .*got 1.5"),
        ({"selector": "full"}, {}, "selector full takes fraction 1"),
        ({}, {"epochs": 0}, "protocol.epochs: .*greater than 0 .*got 0"),
        ({}, {"epoch": 3}, "protocol.epoch: Extra inputs"),
    ],
)
def test_bad_job_is_one_line(run, changes, expected):
    with pytest.raises(UserError, match=expected) as error:
        parse_job({**RUN, **run}, settings(**changes))
    assert "\n" not in str(error.value)


def test_bounds_in_the_wrong_order_are_refused():
    space = shipped("config.yaml")["protocol"]["tabular"]["search_space"]
    space["learning_rate"] = {"uniform": [0.1, 0.01]}
    with pytest.raises(UserError, match=r"learning_rate.*lower bound 0.1 is not below 0.01"):
        parse_job(RUN, settings(search_space=space))
