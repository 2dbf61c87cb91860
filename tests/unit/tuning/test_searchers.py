"""What search algorithms propose."""

from itertools import product

import pytest

from automata.config.sections import SearchSettings, TpeSettings
from automata.config.spaces import Domain
from automata.tuning.searchers import RandomSearch, tpe_search

SPACE = {
    "learning_rate": Domain(uniform=(0.001, 0.01)),
    "optimizer": Domain(choice=["adam", "sgd"]),
    "schedule": Domain(choice=["none", "cosine", "step"]),
    "hidden1": Domain(choice=[150, 200]),
    "hidden2": Domain(choice=[150, 200]),
    "batch_size": Domain(choice=[16, 32, 64]),
}
SETTINGS = SearchSettings(tpe=TpeSettings(startup_configurations=2))


def proposals(make, seed, count=6):
    search = make(SPACE, SETTINGS, seed)
    return [search.suggest(str(i)) for i in range(count)]


@pytest.mark.parametrize("make", [RandomSearch, tpe_search])
def test_one_seed_gives_one_sequence(make):
    assert proposals(make, 3) == proposals(make, 3)


@pytest.mark.parametrize("make", [RandomSearch, tpe_search])
def test_another_seed_gives_another_sequence(make):
    assert proposals(make, 3) != proposals(make, 4)


@pytest.mark.parametrize("make", [RandomSearch, tpe_search])
def test_proposals_lie_in_the_space(make):
    for proposal in proposals(make, 0, 20):
        assert set(proposal) == set(SPACE)
        assert 0.001 <= proposal["learning_rate"] <= 0.01
        assert proposal["batch_size"] in (16, 32, 64)


def test_random_configurations_differ_from_one_another_and_from_the_initial_ones():
    space = {"a": Domain(choice=[1, 2, 3]), "b": Domain(randint=(0, 4))}
    initial = [{"a": 2, "b": 3}]
    search = RandomSearch(space, SearchSettings(initial=initial), 0)
    drawn = [*initial, *(search.suggest(str(number)) for number in range(11))]
    assert {(it["a"], it["b"]) for it in drawn} == {*product((1, 2, 3), range(4))}
    assert search.suggest("11") in drawn


def test_tpe_learns_the_score_of_a_trial_that_has_ended():
    search = tpe_search(SPACE, SETTINGS, 0)
    search.suggest("0")
    search.on_trial_complete("0", {"score": 0.25})
    assert [trial["result"]["loss"] for trial in search._hpopt_trials.trials] == [-0.25]


EVERY_DRAW = {
    "uniform": Domain(uniform=(-1, 1)),
    "loguniform": Domain(loguniform=(0.01, 100)),
    "randint": Domain(randint=(-2, 3)),
    "lograndint": Domain(lograndint=(1, 1000)),
    "choice": Domain(choice=[True, "a", 3]),
}
WITHIN = {
    "uniform": lambda value: -1 <= value <= 1,
    "loguniform": lambda value: 0.01 <= value <= 100,
    "randint": lambda value: isinstance(value, int) and -2 <= value < 3,
    "lograndint": lambda value: isinstance(value, int) and 1 <= value < 1000,
    "choice": lambda value: value is True or value in ("a", 3),
}


@pytest.mark.parametrize("draw", WITHIN)
@pytest.mark.parametrize("make", [RandomSearch, tpe_search])
def test_every_draw_gives_values_of_its_kind(make, draw):
    search = make({draw: EVERY_DRAW[draw]}, SETTINGS, 0)
    values = [search.suggest(str(number))[draw] for number in range(60)]
    assert all(WITHIN[draw](value) for value in values), values
    assert len(set(values)) > 1


@pytest.mark.parametrize("make", [RandomSearch, tpe_search])
def test_logarithmic_draws_are_as_often_below_one_as_above(make):
    space = {"loguniform": EVERY_DRAW["loguniform"]}
    settings = SearchSettings(tpe=TpeSettings(startup_configurations=400))
    search = make(space, settings, 1)
    below = sum(search.suggest(str(number))["loguniform"] < 1 for number in range(400))
    assert 160 < below < 240  # 200 expected, 4 standard deviations are 40


@pytest.mark.parametrize("make", [RandomSearch, tpe_search])
def test_proposals_do_not_depend_on_the_order_of_keys(make):
    backwards = make(dict(reversed(SPACE.items())), SETTINGS, 3)
    assert [backwards.suggest(str(index)) for index in range(6)] == proposals(make, 3)
