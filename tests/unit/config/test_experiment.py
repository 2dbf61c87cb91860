"""What the keys of an experiment must obey together."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from automata.config.experiment import Experiment
from automata.config.files import combine, parse_experiment
from automata.config.refusals import first_refusal
from automata.config.spaces import Domain

DEFAULTS = yaml.safe_load((Path(__file__).parents[3] / "config/config.yaml").read_text())
SPACE = {
    "learning_rate": {"uniform": [0.001, 0.01]},
    "hidden1": {"choice": [10]},
    "hidden2": {"choice": [10]},
    "batch_size": {"choice": [16]},
}


def found(kind="tabular", model="mlp", space=None, searches=("random",), **protocol):
    """Return path and problem of a configuration with a changed protocol, None if it is good."""
    said = {"model": model, "search_space": {**SPACE, **(space or {})}, **protocol}
    changes = {"searches": list(searches), "protocol": {kind: said}}
    try:
        parse_experiment(combine(DEFAULTS, changes))
    except ValidationError as error:
        path, message = first_refusal(error, Experiment)
        return ".".join(path), message
    return None


def test_a_whole_configuration_is_good():
    assert found() is None


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ({"uniform": [1, 1]}, "uniform: 1 is not below 1"),
        ({"choice": [1, 2, 1]}, "a choice is repeated"),
        ({"choice": [1], "uniform": [0, 1]}, "needs exactly one of .*, has uniform, choice"),
        ({}, "needs exactly one of .*, has none"),
    ],
)
def test_what_ray_cannot_draw_from_is_refused(domain, expected):
    with pytest.raises(ValidationError, match=expected):
        Domain.model_validate(domain)


def test_choices_of_different_types_are_different():
    assert Domain.model_validate({"choice": [1, True, 1.0]}).draw == ("choice", [1, True, 1.0])


@pytest.mark.parametrize("momentum", [{"choice": [0, 0.9]}, {"uniform": [0, 0.9]}, None])
def test_nesterov_needs_a_momentum_that_is_never_zero(momentum):
    space = {"nesterov": {"choice": [True, False]}}
    if momentum is not None:
        space["momentum"] = momentum
    assert found(space=space) == ("protocol.tabular.nesterov", "needs a momentum > 0")


def test_nesterov_with_a_fixed_momentum_is_fine():
    assert found(space={"nesterov": {"choice": [True, False]}}, momentum=0.9) is None


def test_names_of_our_models_mean_nothing_to_anothers():
    model = {"factory": "a:b"}
    assert found(model=model, space={"layers": {"choice": ["few", "many"]}}) is None


def test_what_every_training_reads_is_checked_for_any_model():
    assert found(model={"factory": "a:b"}, space={"batch_size": {"choice": [0]}}) == (
        "protocol.tabular.search_space.batch_size.choice.0",
        "0 is not valid; valid: integer > 0",
    )


def test_an_image_model_needs_one_rate_or_all_four():
    rates = {f"lr{i}": {"choice": [0.1]} for i in range(1, 5)}
    image = {"kind": "image", "model": "resnet18", "batch_size": 20, "searches": ["tpe"]}
    assert found(**image, search_space=rates) is None
    assert found(**image, search_space={"learning_rate": {"choice": [0.1]}}) is None
    del rates["lr4"]
    path, message = found(**image, search_space=rates)
    assert path == "protocol.image.search_space.learning_rate"
    assert message == "missing (or all of lr1, lr2, lr3, lr4)"


def test_changes_of_a_search_that_is_not_run_are_checked_as_well():
    change = {"tpe": {"search_space": {"momentum": {"uniform": [1, 0]}}}}
    assert found(for_search=change) == (
        "protocol.tabular.for_search.tpe.search_space.momentum",
        "uniform: 1 is not below 0",
    )


def test_of_alternatives_the_one_that_was_meant_is_explained():
    name = "protocol.tabular.model"
    assert found(model={"width": 3}) == (f"{name}.factory", "missing")
    assert found(model="mpl") == (
        name,
        '"mpl" is not valid; valid: mlp, lstm, resnet18, resnet50 or a section of keys',
    )


@pytest.mark.parametrize(
    ("key", "value", "valid"),
    [
        ("seeds", [0, True], "integer >= 0"),
        ("fractions", [0.1, "0.2"], "number > 0 and <= 1"),
        ("fractions", [0.1, True], "number > 0 and <= 1"),
    ],
)
def test_texts_and_truths_are_no_numbers(key, value, valid):
    with pytest.raises(ValidationError) as error:
        parse_experiment({**DEFAULTS, key: value})
    path, message = first_refusal(error.value, Experiment)
    assert path == [key, "1"]
    assert message.endswith(f"is not valid; valid: {valid}")


def test_a_number_that_is_whole_is_an_integer():
    assert parse_experiment({**DEFAULTS, "seeds": [1e3]}).seeds == [1000]


def test_null_is_named_where_it_is_valid():
    assert found(evaluate_every=0) == (
        "protocol.tabular.evaluate_every",
        "0 is not valid; valid: integer > 0 or null",
    )
