"""What search spaces must obey besides their schema."""

import re

import pytest

from automata.experiments.checks import domain_problem, problems

SPACE = {
    "learning_rate": {"uniform": [0.001, 0.01]},
    "hidden1": {"choice": [10]},
    "hidden2": {"choice": [10]},
    "batch_size": {"choice": [16]},
}


def found(kind="tabular", model="mlp", space=None, searches=("random",), **protocol):
    """Return the problems of a configuration with one protocol."""
    values = {"model": model, "configurations": 2, "search_space": {**SPACE, **(space or {})}}
    config = {
        "datasets": [],
        "searches": list(searches),
        "protocol": {kind: {**values, **protocol}},
    }
    return [(".".join(path), message) for path, message in problems(config)]


def test_a_whole_configuration_has_none():
    assert found() == []


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ({"uniform": [0, 1]}, None),
        ({"uniform": [1, 1]}, "uniform: 1 is not below 1"),
        ({"uniform": [0, float("inf")]}, "uniform: .* not finite"),
        ({"quniform": [0, 0.6, 0.1]}, None),
        ({"quniform": [0.001, 0.1, 0.03]}, "quniform: 0.001 is no multiple of the step 0.03"),
        ({"choice": [1, True, 1.0]}, None),
        ({"choice": [1, 2, 1]}, "has a choice twice"),
        ({"choice": [1], "uniform": [0, 1]}, "needs exactly one of .*, has choice, uniform"),
        ({}, "needs exactly one of .*, has none"),
    ],
)
def test_a_domain_is_what_ray_can_draw_from(domain, expected):
    problem = domain_problem(domain)
    assert problem is None if expected is None else re.search(expected, problem)


@pytest.mark.parametrize("momentum", [{"choice": [0, 0.9]}, {"uniform": [0, 0.9]}, None])
def test_nesterov_needs_a_momentum_that_is_never_zero(momentum):
    space = {"nesterov": {"choice": [True, False]}}
    if momentum is not None:
        space["momentum"] = momentum
    assert found(space=space) == [("protocol.tabular.nesterov", "needs a momentum > 0")]


def test_nesterov_with_a_fixed_momentum_is_fine():
    assert found(space={"nesterov": {"choice": [True, False]}}, momentum=0.9) == []


def test_names_of_our_models_mean_nothing_to_anothers():
    model = {"factory": "a:b"}
    assert found(model=model, space={"layers": {"choice": ["few", "many"]}}) == []


def test_what_every_training_reads_is_checked_for_any_model():
    ((path, message),) = found(model={"factory": "a:b"}, space={"batch_size": {"choice": [0]}})
    assert path == "protocol.tabular.search_space.batch_size.choice.0"
    assert message == "0 is not valid; valid: integer > 0"


@pytest.mark.parametrize(("rates", "expected"), [(4, []), (3, ["learning_rate"])])
def test_an_image_model_needs_one_rate_or_all_four(rates, expected):
    space = {f"lr{i}": {"choice": [0.1]} for i in range(1, rates + 1)}
    config = {
        "datasets": [],
        "searches": ["tpe"],
        "protocol": {"image": {"model": "resnet18", "configurations": 1, "search_space": space}},
    }
    config["protocol"]["image"]["batch_size"] = 20
    assert [path[-1] for path, _ in problems(config)] == expected


def test_changes_of_a_search_that_is_not_run_are_checked_as_well():
    change = {"tpe": {"search_space": {"momentum": {"uniform": [1, 0]}}}}
    ((path, message),) = found(for_search=change)
    assert path == "protocol.tabular.for_search.tpe.search_space.momentum"
    assert message == "uniform: 1 is not below 0"
