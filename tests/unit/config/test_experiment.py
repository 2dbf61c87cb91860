"""Rules that involve several keys of an experiment."""

import json

import pytest
from pydantic import ValidationError

from automata.config.files import DEFAULTS, read_experiments
from automata.config.spaces import Domain
from automata.errors import UserError

SPACE = {
    "learning_rate": {"uniform": [0.001, 0.01]},
    "hidden1": {"choice": [10]},
    "hidden2": {"choice": [10]},
    "batch_size": {"choice": [16]},
}


def refusal(kind="tabular", model="mlp", space=None, searches=("random",), **protocol):
    """Return path and problem of a configuration with a changed protocol, None if it is valid."""
    content = {"model": model, "search_space": {**SPACE, **(space or {})}, **protocol}
    changes = {"searches": list(searches), "protocol": {kind: content}}
    try:
        read_experiments([DEFAULTS], of_module=changes)
    except UserError as error:
        _, path, message = str(error).split(": ", 2)
        return path, message
    return None


def test_a_complete_configuration_is_valid():
    assert refusal() is None


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ({"uniform": [1, 1]}, "uniform: 1 is not below 1"),
        ({"choice": [1, 2, 1]}, "a choice is repeated"),
        ({"choice": [1], "uniform": [0, 1]}, "needs exactly one of .*, has uniform, choice"),
        ({}, "needs exactly one of .*, has none"),
    ],
)
def test_a_domain_that_ray_cannot_sample_is_refused(domain, expected):
    with pytest.raises(ValidationError, match=expected):
        Domain.model_validate(domain)


def test_choices_of_different_types_are_different():
    assert Domain.model_validate({"choice": [1, True, 1.0]}).draw == ("choice", [1, True, 1.0])


@pytest.mark.parametrize("momentum", [{"choice": [0, 0.9]}, {"uniform": [0, 0.9]}, None])
def test_nesterov_needs_a_momentum_that_is_never_zero(momentum):
    space = {"nesterov": {"choice": [True, False]}}
    if momentum is not None:
        space["momentum"] = momentum
    assert refusal(space=space) == ("protocol.tabular.nesterov", "needs a momentum > 0")


def test_nesterov_with_a_fixed_momentum_is_valid():
    assert refusal(space={"nesterov": {"choice": [True, False]}}, momentum=0.9) is None


def test_own_models_may_use_the_names_of_our_hyperparameters():
    model = {"factory": "a:b"}
    assert refusal(model=model, space={"layers": {"choice": ["few", "many"]}}) is None


def test_hyperparameters_of_training_are_checked_for_own_models():
    assert refusal(model={"factory": "a:b"}, space={"batch_size": {"choice": [0]}}) == (
        "protocol.tabular.search_space.batch_size.choice.0",
        "0 is not valid; valid: integer > 0",
    )


def test_an_image_model_needs_one_rate_or_all_four():
    image = {"kind": "image", "model": "resnet18", "searches": ["tpe"]}
    removed = dict.fromkeys([f"lr{i}" for i in range(1, 5)])
    assert refusal(**image, search_space={}) is None
    one = {**removed, "learning_rate": {"uniform": [0.01, 0.1]}}
    assert refusal(**image, search_space=one) is None
    path, message = refusal(**image, search_space={"lr4": None})
    assert path == "protocol.image.search_space.learning_rate"
    assert message == "missing (or all of lr1, lr2, lr3, lr4)"


def test_a_search_that_must_repeat_configurations_is_refused():
    few = {"learning_rate": {"choice": [0.1, 0.2]}, "hidden1": {"randint": [5, 7]}}
    few |= {"optimizer": None, "schedule": None, "hidden2": {"choice": [10]}}
    few["batch_size"] = {"choice": [16]}
    assert refusal(space=few, configurations=4) is None
    assert refusal(space=few, configurations=27) == (
        "protocol.tabular.configurations",
        "27 is more than the 4 of search_space",
    )


def test_balanced_accuracy_weighs_the_classes_unless_the_user_says_otherwise():
    def weights(**protocol):
        changes = {"protocol": {"tabular": protocol}}
        (experiment,) = read_experiments([DEFAULTS], of_module=changes)
        return experiment.protocol_of("dna").under("tpe").class_weights

    assert weights() == "none"
    assert weights(metric="balanced_accuracy") == "balanced"
    assert weights(metric="balanced_accuracy", class_weights="none") == "none"


INITIAL = {
    "learning_rate": 0.5,
    "optimizer": "adam",
    "schedule": "none",
    "hidden1": 10,
    "hidden2": 10,
    "batch_size": 16,
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"hidden1": 0}, r": search.initial.1.hidden1: 0 is not valid; valid: integer > 0$"),
        ({"hidden1": None}, r": search.initial.1.hidden1: missing; search_space has it$"),
        ({"width": 3}, r": search.initial.1.width: is not in search_space; valid: learning_rate, "),
    ],
)
def test_initial_configurations_have_the_names_of_the_search_space(change, expected):
    initial = {name: value for name, value in {**INITIAL, **change}.items() if value is not None}
    read_experiments([DEFAULTS], of_module={"search": {"initial": [INITIAL]}})
    with pytest.raises(UserError, match=expected):
        read_experiments([DEFAULTS], of_module={"search": {"initial": [INITIAL, initial]}})


def test_a_search_cannot_begin_with_more_configurations_than_it_has():
    with pytest.raises(UserError, match=r": search.initial: 28 are more than the 27 config"):
        read_experiments([DEFAULTS], of_module={"search": {"initial": 28 * [INITIAL]}})


def test_changes_for_a_search_that_is_not_run_are_checked():
    change = {"tpe": {"search_space": {"momentum": {"uniform": [1, 0]}}}}
    assert refusal(for_search=change) == (
        "protocol.tabular.for_search.tpe.search_space.momentum",
        "uniform: 1 is not below 0",
    )


def test_the_message_is_about_the_alternative_that_fits_best():
    name = "protocol.tabular.model"
    assert refusal(model={"width": 3}) == (f"{name}.factory", "missing")
    assert refusal(model="mpl") == (
        name,
        '"mpl" is not valid; valid: mlp, lstm, resnet18, resnet50 or a section of keys',
    )


@pytest.mark.parametrize("rungs", [{}, {0: 1}, {1.5: 1}, {0.1: 2, 0.5: 2}, {0.1: 2, 0.5: 3}])
def test_fewer_and_fewer_trials_stay_at_shares_of_an_epoch(rungs):
    valid = "is not valid; valid: shares of T, > 0 and <= 1, with falling counts"
    key, problem = refusal(finalist_rungs=rungs)
    assert (key, problem.partition("} ")[2]) == ("protocol.tabular.finalist_rungs", valid)
    with pytest.raises(UserError, match=rf"scheduler\.sha\.rungs: .* {valid}$"):
        read_experiments([DEFAULTS], of_module={"scheduler": {"sha": {"rungs": rungs}}})


@pytest.mark.parametrize(
    ("key", "value", "valid"),
    [
        ("finalist_rungs", {"half": 1}, "a text that matches ^[0-9]*[.]?[0-9]+$"),
        *(
            (
                "horizon_exponent",
                value,
                "number >= 0 and <= 1 or a list with at least one value, none twice: "
                "number >= 0 and <= 1",
            )
            for value in ([], [0.5, 0.5], [0, 2])
        ),
    ],
)
def test_a_wrong_screen_is_one_line(key, value, valid):
    shown = json.dumps("half" if key == "finalist_rungs" else value)
    assert refusal(**{key: value}) == (
        f"protocol.tabular.{key}",
        f"{shown} is not valid; valid: {valid}",
    )


@pytest.mark.parametrize(
    ("key", "value", "valid"),
    [
        ("seeds", [0, True], "integer >= 0"),
        ("fractions", [0.1, "0.2"], "number > 0 and <= 1"),
        ("fractions", [0.1, True], "number > 0 and <= 1"),
    ],
)
def test_texts_and_booleans_are_not_numbers(key, value, valid):
    with pytest.raises(UserError, match=rf"{key}\.1: .* is not valid; valid: {valid}$"):
        read_experiments([DEFAULTS], of_module={key: value})


def test_a_whole_float_is_an_integer():
    assert read_experiments([DEFAULTS], {"seeds": [1e3]})[0].seeds == [1000]


def test_null_is_among_the_valid_values():
    assert refusal(evaluate_every=0) == (
        "protocol.tabular.evaluate_every",
        "0 is not valid; valid: integer > 0 or null",
    )
