"""Training on the words of a subset alone against training the whole table."""

import copy

import pytest
import torch

from automata.config.protocol import Protocol
from automata.datasets.prepared import Dataset, Split
from automata.training import vocabulary
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, build_selector

WORDS, ROWS = 300, 40
OPTIMIZERS = [
    {"optimizer": "adam"},
    {"optimizer": "sgd"},
    {"optimizer": "sgd", "momentum": 0.9, "nesterov": True},
]


def sizes_of(run):
    """Return a list that grows by the length of the word table at each use."""
    sizes = []
    run.model.word_table.register_forward_pre_hook(lambda table, _: sizes.append(len(table.weight)))
    return sizes


def numbers_of(run):
    """Return all weights and the optimizer's state, in order."""
    states = run.optimizer.state_dict()["state"].values()
    moments = [value for state in states for value in state.values()]
    return [*run.model.state_dict().values(), *filter(torch.is_tensor, moments)]


def training(changes, selector="gradmatch"):
    """Return a run on rows of seven words, each of which few other rows have."""
    generator = torch.Generator().manual_seed(3)
    words = torch.randint(2, WORDS, (ROWS, 7), generator=generator, dtype=torch.int32)
    words[::3, 4:] = 0
    split = Split(words, torch.arange(ROWS) % 3)
    vectors = {"vectors": torch.randn(WORDS, 5, generator=generator)}
    data = Dataset("toy", "text", 3, split, split, split, {}, vectors)
    settings = {"model": "lstm", "configurations": 1, "epochs": 8, "reselect_every": 2}
    protocol = Protocol.model_validate({**settings, "batch_size": 4, "search_space": {}, **changes})
    plan = SubsetPlan(build_selector(selector), 0.2)
    configuration = {"learning_rate": 0.05, "hidden": 6}
    return TrainingRun(data, configuration, protocol, plan, 0, torch.device("cpu"))


@pytest.mark.parametrize("selector", ["gradmatch", "rs2"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_restricted_table_gives_the_same_numbers_also_after_a_restore(
    optimizer, selector, monkeypatch
):
    small, stopped, resumed = (training(optimizer, selector) for _ in range(3))
    sizes = sizes_of(small)
    small.train_to(8)
    stopped.train_to(4)
    resumed.restore(copy.deepcopy(stopped.state()))
    resumed.train_to(8)
    assert sizes[-1] < WORDS  # words that were trained before stay in the small table
    for ours, again in zip(numbers_of(small), numbers_of(resumed), strict=True):
        assert torch.equal(ours, again)
    monkeypatch.setattr(vocabulary, "WORTHWHILE", 0.0)
    whole = training(optimizer, selector)
    sizes = sizes_of(whole)
    whole.train_to(8)
    assert set(sizes) == {WORDS}
    # Not bit by bit: vector and scalar instructions round a table of another length differently.
    for ours, expected in zip(numbers_of(small), numbers_of(whole), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)


def test_weight_decay_moves_all_words():
    run = training({"optimizer": "adam", "weight_decay": 0.01})
    sizes = sizes_of(run)
    run.train_to(2)
    assert set(sizes) == {WORDS}
