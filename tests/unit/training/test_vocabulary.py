"""Training on the words of a subset alone against training the whole table."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from automata.config.protocol import Protocol
from automata.datasets.prepared import Dataset, Split
from automata.training import vocabulary
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, build_selector

WORDS, ROWS = 300, 40
OPTIMIZERS: list[dict[str, Any]] = [
    {"optimizer": "adam"},
    {"optimizer": "sgd"},
    {"optimizer": "sgd", "momentum": 0.9, "nesterov": True},
]


@pytest.fixture
def data() -> Dataset:
    """Rows of seven words, each of which few other rows have."""
    generator = torch.Generator().manual_seed(3)
    words = torch.randint(2, WORDS, (ROWS, 7), generator=generator, dtype=torch.int32)
    words[::3, 4:] = 0
    split = Split(words, torch.arange(ROWS) % 3)
    vectors = torch.randn(WORDS, 5, generator=generator)
    return Dataset("toy", "text", 3, split, split, split, {}, {"vectors": vectors})


def training(data: Dataset, optimizer: dict[str, Any], selector: str = "gradmatch") -> TrainingRun:
    protocol = Protocol.model_validate(
        {
            "model": "lstm",
            "configurations": 1,
            "epochs": 8,
            "reselect_every": 2,
            "batch_size": 4,
            "search_space": {},
            **optimizer,
        }
    )
    plan = SubsetPlan(build_selector(selector), 0.2)
    configuration = {"learning_rate": 0.05, "hidden": 6}
    return TrainingRun(data, configuration, protocol, plan, 0, torch.device("cpu"))


def state(run: TrainingRun) -> list[Tensor]:
    """Return all weights and the optimizer's state, in order."""
    moments = [
        value
        for of_one in run.optimizer.state_dict()["state"].values()
        for value in of_one.values()
        if isinstance(value, Tensor)
    ]
    return [*run.model.state_dict().values(), *moments]


def sizes(run: TrainingRun, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the rows of the table in each step of `run`."""
    seen: list[int] = []
    backward = run._backward

    def watched(*arguments: Any) -> Tensor:
        seen.append(len(run.model.embedding.weight))  # type: ignore[arg-type]
        return backward(*arguments)

    monkeypatch.setattr(run, "_backward", watched)
    return seen


@pytest.mark.parametrize("selector", ["gradmatch", "rs2"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_a_restricted_table_gives_the_same_numbers(
    data: Dataset, optimizer: dict[str, Any], selector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = training(data, optimizer, selector)
    seen = sizes(small, monkeypatch)
    small.train_to(8)
    monkeypatch.setattr(vocabulary, "WORTHWHILE", 0.0)
    whole = training(data, optimizer, selector)
    whole.train_to(8)
    assert max(seen) < WORDS
    # Not bit by bit: vector and scalar instructions round a table of another length differently.
    for ours, expected in zip(state(small), state(whole), strict=True):
        torch.testing.assert_close(ours, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=str)
def test_words_of_earlier_subsets_go_on_moving_after_a_restore(
    data: Dataset, optimizer: dict[str, Any]
) -> None:
    straight = training(data, optimizer)
    straight.train_to(8)
    first = training(data, optimizer)
    first.train_to(4)
    second = training(data, optimizer)
    second.restore(copy.deepcopy(first.state()))
    second.train_to(8)
    assert all(torch.equal(a, b) for a, b in zip(state(straight), state(second), strict=True))


def test_weight_decay_moves_all_words(data: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    run = training(data, {"optimizer": "adam", "weight_decay": 0.01})
    seen = sizes(run, monkeypatch)
    run.train_to(2)
    assert set(seen) == {WORDS}


def test_words_that_were_never_trained_stay_as_they_were(data: Dataset) -> None:
    run = training(data, {"optimizer": "adam"}, "random")
    before = run.model.embedding.weight.detach().clone()  # type: ignore[operator, union-attr]
    run.train_to(3)
    assert run.subset is not None
    used = data.train.inputs[torch.cat(run.subset.batches)].unique().long()
    unused = torch.ones(WORDS, dtype=torch.bool)
    unused[used] = False
    after = run.model.embedding.weight.detach()  # type: ignore[union-attr]
    assert torch.equal(after[unused], before[unused])  # type: ignore[index]
    assert not torch.equal(after, before)  # type: ignore[arg-type]


def test_an_interrupted_epoch_leaves_the_whole_table(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = training(data, {"optimizer": "adam"})
    run.train_to(1)

    def interrupted(*_: Any) -> Tensor:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "_backward", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.train_to(2)
    assert len(run.model.embedding.weight) == WORDS  # type: ignore[arg-type]
