"""The benchmark of whole searches: equal models and search spaces."""

import pytest
import torch

from automata.config.files import DEFAULTS, read_experiments
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


def test_the_script_tunes_the_same_space(data):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))
    study.optimize(script.Objective(data, epochs=1), n_trials=1)
    drawn = study.trials[0].distributions.items()
    found = {name: list(getattr(it, "choices", None) or (it.low, it.high)) for name, it in drawn}
    (experiment,) = read_experiments([DEFAULTS])
    protocol = experiment.protocol.tabular
    expected = {name: domain.draw[1] for name, domain in protocol.search_space.items()}
    assert found == expected
    assert protocol.configurations == script.CONFIGURATIONS
    assert (protocol.decay_every, protocol.decay_factor) == (20, 0.05)
    assert (protocol.momentum, protocol.weight_decay) == (0, 0)


def test_the_model_of_the_script_is_the_mlp_of_the_project(data):
    values = {"hidden1": 150, "hidden2": 250}
    torch.manual_seed(3)
    plain = script.Objective(data, 1).model(optuna.trial.FixedTrial(values))
    torch.manual_seed(3)
    ours = Mlp(4, **values, classes=3)
    inputs = data["train.inputs"]
    assert plain(inputs).equal(ours(inputs))
