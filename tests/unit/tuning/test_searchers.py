"""What search algorithms propose."""

from itertools import product

import pytest

from automata.config.sections import SearchSettings, TpeSettings
from automata.config.spaces import Domain
from automata.tuning.searchers import RandomSearch, tpe_search

SPACE = {
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


def proposals(make, seed, startup, count, space=SPACE):
    search = make(space, SearchSettings(tpe=TpeSettings(startup_configurations=startup)), seed)
    return [search.suggest(str(index)) for index in range(count)]


both = pytest.mark.parametrize("make", [RandomSearch, tpe_search])


@both
def test_proposals_depend_on_the_seed_and_not_on_the_order_of_keys(make):
    first = proposals(make, 3, 2, 6)
    assert proposals(make, 3, 2, 6, dict(reversed(SPACE.items()))) == first
    assert proposals(make, 4, 2, 6) != first


@both
@pytest.mark.parametrize("startup", [2, 400])
def test_every_draw_gives_values_of_its_kind(make, startup):
    drawn = proposals(make, 1, startup, 60 if startup == 2 else 400)
    assert all(set(it) == set(SPACE) for it in drawn)
    for name, fits in WITHIN.items():
        values = [it[name] for it in drawn]
        assert all(map(fits, values)), values
        assert len(set(values)) > 1
    if startup == 400:
        below = sum(it["loguniform"] < 1 for it in drawn)
        assert 160 < below < 240  # 200 expected, 4 standard deviations are 40


def test_random_configurations_differ_from_one_another_and_from_the_initial_ones():
    space = {"a": Domain(choice=[1, 2, 3]), "b": Domain(randint=(0, 4))}
    initial = [{"a": 2, "b": 3}]
    search = RandomSearch(space, SearchSettings(initial=initial), 0)
    drawn = [*initial, *(search.suggest(str(number)) for number in range(11))]
    assert {(it["a"], it["b"]) for it in drawn} == {*product((1, 2, 3), range(4))}
    assert search.suggest("11") in drawn
