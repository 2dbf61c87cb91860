"""The benchmark of whole searches: equal models and search spaces."""

import pytest
import torch

from automata.models.nets import Mlp

optuna = pytest.importorskip("optuna")
script = pytest.importorskip("benchmarks.peers.optuna_script")


@pytest.fixture
def data():
    torch.manual_seed(0)
    found = {}
    for split, count in {"train": 60, "validation": 7, "test": 5}.items():
        found[f"{split}.inputs"] = torch.randn(count, 4)
        found[f"{split}.labels"] = torch.arange(count) % 3
    return found


def test_the_model_of_the_script_is_the_mlp_of_the_project(data):
    values = {"hidden1": 150, "hidden2": 250}
    torch.manual_seed(3)
    plain = script.Objective(data, 1).model(optuna.trial.FixedTrial(values))
    torch.manual_seed(3)
    ours = Mlp(4, **values, classes=3)
    inputs = data["train.inputs"]
    assert plain(inputs).equal(ours(inputs))
