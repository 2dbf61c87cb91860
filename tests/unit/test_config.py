"""The shipped configurations, and what a job makes of its settings."""

import json
import re
from pathlib import Path

import pytest
import yaml

from automata.config.base import parsed
from automata.config.experiment import Experiment
from automata.config.files import combine, read_experiments
from automata.config.job import Job, settings_of
from automata.config.protocol import KindProtocol
from automata.config.sections import Carbon, SelectorSettings
from automata.config.spaces import VALUES, Domain
from automata.errors import UserError
from automata.registry import CONTROLS, SELECTORS
from automata.selection.random import Full
from automata.training.subsets import subset_plan
from tools.texts import json_schema, with_keys

CONFIG = Path(__file__).parents[2] / "config"
CONFIGURATION = CONFIG.parent / "docs/configuration.md"
RUN = {
    "dataset": "dna",
    "search": "tpe",
    "scheduler": "asha",
    "selector": "gradmatch",
    "fraction": 0.1,
    "seed": 0,
}


def shipped(*names):
    """Return shipped configurations over the default one, one per part."""
    return read_experiments([CONFIG / name for name in ("config.yaml", *names)])


def settings(**changes):
    """Return the settings of RUN, with changes of its protocol."""
    (values,) = shipped()
    parts = settings_of(values, RUN["dataset"], RUN["search"], RUN["scheduler"], RUN["selector"])
    return json.dumps(combine(parts.model_dump(mode="json"), {"protocol": changes}))


def job_of(run, settings):
    return parsed(Job, {"run": run, "settings": json.loads(settings)})


def test_schema_file_is_the_generated_one():
    written = json.loads((CONFIG / "schema.json").read_text())
    assert written == json_schema(), "run: python tools/texts.py"


def test_bounds_are_in_the_schema_as_json_schema_names_them():
    assert not re.search(r'"[lg][te]":', (CONFIG / "schema.json").read_text())


def space(protocol):
    return {name: domain.draw for name, domain in protocol.search_space.items()}


def test_tabular_protocol_is_the_papers():
    (experiment,) = shipped("tabular.yaml")
    protocol = experiment.protocol.tabular
    assert (protocol.model, protocol.configurations) == ("mlp", 27)
    assert (protocol.epochs, protocol.reselect_every) == (200, 10)
    assert (protocol.decay_every, protocol.decay_factor) == (20, 0.05)
    assert space(protocol) == {
        "learning_rate": ("uniform", [0.001, 0.01]),
        "optimizer": ("choice", ["adam", "sgd"]),
        "schedule": ("choice", ["none", "cosine", "step"]),
        "hidden1": ("choice", [150, 200, 250, 300]),
        "hidden2": ("choice", [150, 200, 250, 300]),
        "batch_size": ("choice", [16, 32, 64]),
    }
    assert experiment.seeds == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("search", "configurations", "more"),
    [("tpe", 27, {}), ("random", 54, {"layers": ("choice", [1, 2])})],
)
def test_text_protocol_is_the_papers(search, configurations, more):
    (experiment,) = shipped("text.yaml")
    protocol = experiment.protocol.text.under(search)
    assert (protocol.model, protocol.optimizer) == ("lstm", "adam")
    assert (protocol.epochs, protocol.reselect_every) == (20, 5)
    assert protocol.configurations == configurations
    assert space(protocol) == {
        "learning_rate": ("uniform", [0.001, 0.1]),
        "hidden": ("choice", [64, 128, 256]),
        "batch_size": ("choice", [16, 32, 64]),
        **more,
    }
    assert experiment.data.vectors.dimension == 300
    assert experiment.data.sst2_neutral == "scores"
    assert experiment.seeds == [0, 1, 2, 3, 4]


def test_image_protocol_is_the_papers():
    (experiment,) = shipped("image.yaml")
    protocol = experiment.protocol.image
    assert (protocol.model, protocol.configurations) == ("resnet18", 27)
    assert (protocol.epochs, protocol.reselect_every) == (300, 20)
    assert (protocol.optimizer, protocol.momentum) == ("sgd", 0.9)
    assert (protocol.weight_decay, protocol.batch_size) == (0.0005, 20)
    assert space(protocol) == {
        **dict.fromkeys(("lr1", "lr2", "lr3", "lr4"), ("uniform", [0.001, 0.01])),
        "nesterov": ("choice", [True, False]),
        "schedule": ("choice", ["cosine", "step"]),
        "decay_factor": ("uniform", [0.05, 0.5]),
    }
    assert protocol.decay_every == 20
    assert experiment.seeds == [0, 1, 2]


@pytest.mark.parametrize("experiment", shipped("paper.yaml"), ids=["tabular", "text", "image"])
def test_every_part_of_the_paper_tunes_as_the_paper(experiment):
    assert experiment.searches == ["random", "tpe"]
    assert experiment.schedulers == ["hyperband", "asha"]
    assert experiment.selectors == ["full", "random", "craig", "gradmatch"]
    assert experiment.fractions == [0.01, 0.05, 0.1, 0.3]
    warm = {name: values.warm_start for name, values in experiment.scheduler}
    assert (warm["hyperband"], warm["asha"]) == (0.0, 0.35)
    assert experiment.selector.of("gradmatch") == {"l2": 0.0, "tolerance": 0.0}


def test_tables_of_keys_are_the_generated_ones():
    text = CONFIGURATION.read_text()
    shipped = yaml.safe_load((CONFIG / "config.yaml").read_text())
    assert text == with_keys(text, shipped), "run: python tools/texts.py"


@pytest.mark.parametrize(
    "row",
    [
        "| `fractions` | subset sizes, as shares of the training set; `full`, `full-again` and "
        "`untuned` have none | a list with at least one value, none twice: number > 0 and <= 1 "
        "| `[0.05, 0.1]` |",
        "| `search.tpe.startup_configurations` | random configurations before TPE starts "
        "| integer > 0 | `10` |",
        "| `epochs` | T: epochs of the final training, and of a trial that is not stopped early "
        "| integer > 0 |  |",
        "| `target` | column of the classes | a text that is not empty |  |",
    ],
)
def test_tables_say_what_is_valid_and_the_shipped_default(row):
    assert f"\n{row}\n" in CONFIGURATION.read_text()


def test_every_key_is_in_a_table():
    found = set(re.findall(r"^\| `([a-z0-9_.-]+)` \|", CONFIGURATION.read_text(), re.M))
    sections = {key.partition(".")[0] for key in found}
    assert set(Experiment.model_fields) - {"protocol"} <= sections
    assert set(KindProtocol.model_fields) - {"augmentation"} <= sections
    named = set(re.findall(r"`([a-z0-9_]+)`", CONFIGURATION.read_text()))
    assert set(VALUES) | set(Domain.model_fields) <= named | {"uniform", "choice"}


def test_shipped_carbon_says_where_its_numbers_are_from():
    (experiment,) = shipped()
    carbon = experiment.carbon
    assert (carbon.grams_per_kwh, carbon.region, carbon.year) == (369.473, "USA", 2023)
    assert (carbon.pue, carbon.tdp_watts) == (1.0, 250)
    assert "codecarbon" in carbon.source
    assert "V100-SXM2-16GB" in carbon.tdp_source


@pytest.mark.parametrize("key", ["grams_per_kwh", "tdp_watts"])
def test_numbers_of_carbon_have_no_default_in_the_code(key):
    (experiment,) = shipped()
    stated = {name: value for name, value in experiment.carbon.model_dump().items() if name != key}
    with pytest.raises(UserError, match=f"^{key}: missing$"):
        parsed(Carbon, stated)


def test_no_run_reads_what_co2_is_computed_from():
    (values,) = shipped()
    names = [RUN[name] for name in ("dataset", "search", "scheduler", "selector")]
    carbon = values.carbon.model_copy(update={"grams_per_kwh": 1.0, "tdp_watts": 9.0})
    elsewhere = values.model_copy(update={"carbon": carbon})
    assert settings_of(elsewhere, *names) == settings_of(values, *names)


def test_job_takes_only_its_own_settings():
    job = job_of(RUN, settings())
    assert job.settings.warm_start(job.run.scheduler) == 0.35


@pytest.mark.parametrize("selector", SELECTORS)
def test_a_job_of_every_selector_builds_it_with_its_settings(selector):
    (values,) = shipped()
    parts = settings_of(values, "dna", "tpe", "asha", selector)
    job = job_of({**RUN, "selector": selector}, parts.model_dump_json())
    found = subset_plan(job).selector
    assert f"{type(found).__module__}:{type(found).__name__}" == SELECTORS[selector].target
    assert vars(found) == values.selector.of(selector)


@pytest.mark.parametrize("control", CONTROLS)
def test_a_job_of_a_control_trains_on_all_data(control):
    run = {**RUN, "selector": control, "fraction": CONTROLS[control].fraction}
    assert type(subset_plan(job_of(run, settings())).selector) is Full


def test_settings_of_a_selector_are_those_of_its_name():
    settings = SelectorSettings.model_validate({"gradmatch-adaptive": {"tolerance": 0.3}})
    assert settings.of("gradmatch-adaptive") == {"l2": 0.0, "tolerance": 0.3, "floor": 0.01}
    assert settings.of("gradmatch") == {"l2": 0.0, "tolerance": 0.0}
    assert settings.of("adaptive-random") == {}


def test_a_job_survives_json():
    values = json.loads(settings())
    values["selector"] = {"gradmatch-adaptive": {"tolerance": 0.3}, "glister": {"updates": 2}}
    job = job_of(RUN, json.dumps(values))
    assert Job.model_validate_json(job.model_dump_json()) == job
    assert job.settings.selector.gradmatch_adaptive.tolerance == 0.3


@pytest.mark.parametrize(
    ("run", "changes", "expected"),
    [
        ({"fraction": 1.5}, {}, "^run.fraction: 1.5 is not valid; valid: number >= 0 and <= 1$"),
        ({"selector": "full"}, {}, "^run.fraction: 0.1 is not valid; valid: 1 for selector full$"),
        ({"selector": "full-again"}, {}, "0.1 is not valid; valid: 1 for selector full-again"),
        ({"selector": "untuned"}, {}, "0.1 is not valid; valid: 0 for selector untuned"),
        (
            {"fraction": 0},
            {},
            "0.0 is not valid; valid: number > 0 and <= 1 for selector grad",
        ),
        ({}, {"epochs": 0}, "^settings.protocol.epochs: 0 is not valid; valid: integer > 0$"),
        (
            {},
            {"epoch": 3},
            "^settings.protocol.epoch: unknown key; valid: model, configurations, ",
        ),
    ],
)
def test_bad_job_is_one_line(run, changes, expected):
    with pytest.raises(UserError, match=expected) as error:
        job_of({**RUN, **run}, settings(**changes))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "values",
    [
        {"uniform": [0.1, 1]},
        {"randint": [-3, 5]},
        {"choice": [True, 1, 1.5, "one"]},
    ],
)
def test_domain_survives_json_as_it_was_written(values):
    domain = Domain.model_validate(values)
    assert json.loads(domain.model_dump_json()) == values
    assert Domain.model_validate_json(domain.model_dump_json()) == domain


def test_choices_keep_their_types():
    choices = Domain.model_validate(yaml.safe_load("choice: [1, 1.0, true, a]")).choice
    assert [type(value) for value in choices] == [int, float, bool, str]
