from typing import ClassVar

import hyperopt.tpe
import pytest

from automata.config import Domain, SearchSettings
from automata.config.methods import TpeSettings
from automata.tuning.history import History
from automata.tuning.search import (
    PatientSearch,
    domains,
    random_search,
    tpe_search,
)

SPACE = {
    "learning_rate": Domain(uniform=(0.001, 0.01)),
    "optimizer": Domain(choice=["adam", "sgd"]),
    "schedule": Domain(choice=["none", "cosine", "step"]),
    "hidden1": Domain(choice=[150, 200]),
    "hidden2": Domain(choice=[150, 200]),
    "batch_size": Domain(choice=[16, 32, 64]),
}
SETTINGS = SearchSettings(tpe=TpeSettings(startup_configurations=2))


class Scheduler:
    """Judges two groups, of 2 and 3 trials."""

    ray = None
    groups: ClassVar = [2, 3]

    def rungs(self, index):
        return [index + 1]

    def generations(self):
        return self.groups


def proposals(make, seed, count=6):
    search = make(domains(SPACE), SETTINGS, seed)
    return [search.suggest(str(i)) for i in range(count)]


@pytest.fixture
def search():
    return PatientSearch(tpe_search(domains(SPACE), SETTINGS, 0), Scheduler(), 5, 1, History())


@pytest.mark.parametrize("make", [random_search, tpe_search])
def test_one_seed_gives_one_sequence(make):
    assert proposals(make, 3) == proposals(make, 3)


@pytest.mark.parametrize("make", [random_search, tpe_search])
def test_another_seed_gives_another_sequence(make):
    assert proposals(make, 3) != proposals(make, 4)


@pytest.mark.parametrize("make", [random_search, tpe_search])
def test_proposals_lie_in_the_space(make):
    for proposal in proposals(make, 0, 20):
        assert set(proposal) == set(SPACE)
        assert 0.001 <= proposal["learning_rate"] <= 0.01
        assert proposal["batch_size"] in (16, 32, 64)


def test_a_generation_is_proposed_at_once(search):
    assert [search.suggest(name)["index"] for name in "ab"] == [0, 1]


def test_proposals_carry_the_rungs_of_their_index(search):
    assert [search.suggest(name)["rungs"] for name in "ab"] == [[1], [2]]


def test_next_generation_waits_for_all_of_the_last(search):
    for name in "ab":
        search.suggest(name)
    search.on_trial_complete("a", {"score": 0.5})
    assert search.suggest("c") is None


def test_next_generation_follows_the_end_of_the_last(search):
    for name in "ab":
        search.suggest(name)
    for name in "ab":
        search.on_trial_complete(name, {"score": 0.5})
    assert search.suggest("c")["index"] == 2


def test_search_is_finished_when_all_trials_have_ended(search):
    for generation in ("ab", "cde"):
        for name in generation:
            search.suggest(name)
        for name in generation:
            search.on_trial_complete(name, {"score": 0.5})
    assert search.suggest("f") == "FINISHED"


def test_search_is_not_finished_while_a_trial_is_left(search):
    for name in "ab":
        search.suggest(name)
        search.on_trial_complete(name, {"score": 0.5})
    for name in "cde":
        search.suggest(name)
    search.on_trial_complete("c", {"score": 0.5})
    assert search.suggest("f") is None


def test_tpe_learns_the_last_result_of_a_trial_that_ended_while_paused(search):
    search.suggest("a")
    search.on_trial_result("a", {"score": 0.25})
    search.on_trial_complete("a")  # Ray gives no result for a paused trial
    losses = [trial["result"].get("loss") for trial in search.searcher._hpopt_trials.trials]
    assert losses == [-0.25]


def test_search_that_learns_nothing_waits_for_nothing():
    search = PatientSearch(random_search(domains(SPACE), SETTINGS, 0), Scheduler(), 5, 1, History())
    assert [search.suggest(str(i))["index"] for i in range(5)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("slots", [1, 3])
def test_without_groups_a_proposal_waits_for_a_free_slot(monkeypatch, slots):
    monkeypatch.setattr(Scheduler, "groups", None)
    settings = SearchSettings(tpe=TpeSettings(startup_configurations=1))
    search = PatientSearch(
        tpe_search(domains(SPACE), settings, 0), Scheduler(), 5, slots, History()
    )
    first = [search.suggest(str(i)) for i in range(slots)]
    assert None not in first
    assert search.suggest("late") is None
    search.on_trial_complete("0", {"score": 0.5})
    assert search.suggest("late")["index"] == slots


@pytest.mark.parametrize("startup", [3, 4])
@pytest.mark.parametrize("groups", [None, [2, 3]])
def test_proposals_drawn_at_random_wait_for_nothing(monkeypatch, groups, startup):
    monkeypatch.setattr(Scheduler, "groups", groups)
    settings = SearchSettings(tpe=TpeSettings(startup_configurations=startup))
    search = PatientSearch(tpe_search(domains(SPACE), settings, 0), Scheduler(), 5, 1, History())
    made = [search.suggest(str(number)) for number in range(5)]
    assert [proposal is not None for proposal in made] == [True] * startup + [False] * (5 - startup)


EVERY_DRAW = {
    "uniform": Domain(uniform=(-1, 1)),
    "loguniform": Domain(loguniform=(0.01, 100)),
    "quniform": Domain(quniform=(0, 1, 0.25)),
    "randint": Domain(randint=(-2, 3)),
    "lograndint": Domain(lograndint=(1, 1000)),
    "choice": Domain(choice=[True, "a", 3]),
}
WITHIN = {
    "uniform": lambda value: -1 <= value <= 1,
    "loguniform": lambda value: 0.01 <= value <= 100,
    "quniform": lambda value: value in (0, 0.25, 0.5, 0.75, 1),
    "randint": lambda value: isinstance(value, int) and -2 <= value < 3,
    "lograndint": lambda value: isinstance(value, int) and 1 <= value < 1000,
    "choice": lambda value: value is True or value in ("a", 3),
}


@pytest.mark.parametrize("draw", WITHIN)
@pytest.mark.parametrize("make", [random_search, tpe_search])
def test_every_draw_gives_values_of_its_kind(make, draw):
    search = make(domains({draw: EVERY_DRAW[draw]}), SETTINGS, 0)
    values = [search.suggest(str(number))[draw] for number in range(60)]
    assert all(WITHIN[draw](value) for value in values), values
    assert len(set(values)) > 1


@pytest.mark.parametrize("make", [random_search, tpe_search])
def test_logarithmic_draws_are_as_often_below_one_as_above(make):
    space = domains({"loguniform": EVERY_DRAW["loguniform"]})
    settings = SearchSettings(tpe=TpeSettings(startup_configurations=400))
    search = make(space, settings, 1)
    below = sum(search.suggest(str(number))["loguniform"] < 1 for number in range(400))
    assert 160 < below < 240  # 200 expected, 4 standard deviations are 40


def test_tpe_proposes_the_same_from_a_graph_that_it_keeps(monkeypatch):
    def proposals():
        settings = SearchSettings(tpe=TpeSettings(startup_configurations=3))
        search = tpe_search(domains(SPACE), settings, 0)
        for index in range(8):
            configuration = search.suggest(str(index))
            search.on_trial_complete(str(index), {"score": index % 3, "training_iteration": 1})
            yield configuration

    kept = hyperopt.tpe.build_posterior_wrapper
    kept.cache_clear()
    first = list(proposals())
    assert kept.cache_info().hits == 7
    monkeypatch.setattr(hyperopt.tpe, "build_posterior_wrapper", kept.__wrapped__)
    assert list(proposals()) == first
