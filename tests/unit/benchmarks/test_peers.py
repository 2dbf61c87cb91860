"""What the benchmark of whole searches compares, and its tables."""

import csv

import pytest
import torch

from automata.config.files import DEFAULTS, read_experiments
from automata.models.nets import Mlp
from benchmarks.peers import __main__ as peers

optuna = pytest.importorskip("optuna")
script = pytest.importorskip("benchmarks.peers.optuna_script")


@pytest.fixture
def data():
    torch.manual_seed(0)
    rows = {"train": 60, "validation": 7, "test": 5}
    inputs = {f"{split}.inputs": torch.randn(count, 4) for split, count in rows.items()}
    labels = {f"{split}.labels": torch.arange(count) % 3 for split, count in rows.items()}
    return inputs | labels


def test_the_script_tunes_the_same_space(data):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))
    study.optimize(script.Objective(data, epochs=1), n_trials=1)
    found = {
        name: list(getattr(it, "choices", None) or (it.low, it.high))
        for name, it in study.trials[0].distributions.items()
    }
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


def test_the_script_keeps_the_models_of_unpruned_trials(data):
    objective = script.Objective(data, epochs=3)
    study = optuna.create_study(pruner=optuna.pruners.ThresholdPruner(upper=-1, n_warmup_steps=2))
    study.optimize(objective, n_trials=1)
    assert not objective.models
    study = optuna.create_study(pruner=optuna.pruners.NopPruner())
    study.optimize(objective, n_trials=2)
    for trial in study.trials:
        assert objective.accuracy(objective.models[trial.number], "validation") == trial.value
        assert len(trial.intermediate_values) == 3


def test_the_summary_has_medians_and_ranges_in_the_order_of_the_searches():
    rows = [
        {"data": data, "way": way, "seconds": seconds, "epochs": 2, "test accuracy": 0.91}
        for seconds in (7.0, 3.4, 5.0)
        for data in ("letter", "dna")
        for way in ("they", "others", "we")
    ]
    table = peers.summary(rows[:-1])
    assert [row["way"] for row in table] == ["they", "others", "we"]
    assert table[2] == {
        "way": "we",
        "letter: seconds": "5 (3 to 7)",
        "letter: epochs": "2 (2 to 2)",
        "letter: test accuracy": "91.0% (91.0% to 91.0%)",
        "dna: seconds": "5 (3 to 7)",
        "dna: epochs": "2 (2 to 2)",
        "dna: test accuracy": "91.0% (91.0% to 91.0%)",
    }
    assert peers.summary(rows[:1])[0]["letter: seconds"] == "7 (7 to 7)"


@pytest.mark.slow
def test_all_ways_are_run_from_data_to_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "EPOCHS", {"dna": 2})
    peers.main(["--datasets", "dna", "--seeds", "1", "--results", str(tmp_path)])
    with (tmp_path / "searches.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["way"] for row in rows] == [*peers.WAYS]
    assert all(0 < float(row["seconds"]) <= float(row["seconds to the end"]) for row in rows)
    # Each of 27 trials has one or two epochs. RS2's have a tenth of the rows; two epochs follow.
    theirs, full, _, rs2, _ = (float(row["epochs"]) for row in rows)
    assert 27 <= theirs <= 54
    assert 27 <= full <= 54
    assert rs2 == pytest.approx(full / 10 + 2, abs=0.1)
