"""What search algorithms propose."""

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


def proposals(make, seed, startup, count, space=SPACE):
    search = make(space, SearchSettings(tpe=TpeSettings(startup_configurations=startup)), seed)
    return [search.suggest(str(index)) for index in range(count)]


@pytest.mark.parametrize("make", [RandomSearch, tpe_search])
def test_proposals_depend_on_the_seed_and_not_on_the_order_of_keys(make):
    first = proposals(make, 3, 2, 6)
    assert proposals(make, 3, 2, 6, dict(reversed(SPACE.items()))) == first
    assert proposals(make, 4, 2, 6) != first
    assert all(type(it["randint"]) is int and -2 <= it["randint"] < 3 for it in first)


def test_random_configurations_differ_until_the_space_has_no_other():
    few = {"a": Domain(choice=[1, 2, 3]), "b": Domain(randint=(0, 4))}
    initial = [{"a": 1, "b": 2}, {"a": 9, "b": 9}]  # the second is not in the space
    search = RandomSearch(few, SearchSettings(initial=initial), 1)
    found = [search.suggest(str(index)) for index in range(12)]
    assert len({(it["a"], it["b"]) for it in found[:11]} - {(1, 2)}) == 11
    assert found[11] in [initial[0], *found[:11]]
