"""A user's own searches, schedulers and selectors: the example of the docs, and mistakes."""

from pathlib import Path

import pytest

from automata.config.data import Preparation
from automata.config.job import Job
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.errors import UserError
from automata.registry import make
from automata.runs import place_of
from automata.tuning import job as job_module
from support.searching import run_job, search_here

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
OWN = {
    "search": "own_methods:Optuna",
    "scheduler": "own_methods:MedianStopping",
    "selector": "own_methods:HighestLoss",
}


@pytest.fixture(autouse=True)
def example(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


def own_job(own=OWN):
    """Return a job with the methods of `own`, and the project's others."""
    ours = {"search": "random", "scheduler": "hyperband", "selector": "rs2"}
    names = {kind: "mine" if kind in own else name for kind, name in ours.items()}
    space = {
        "learning_rate": {"loguniform": [0.001, 0.1]},
        "hidden1": {"choice": [20, 30]},
        "hidden2": {"choice": [20, 30]},
    }
    protocol = {"model": "mlp", "epochs": 8, "reselect_every": 2, "batch_size": 32}
    settings = {
        "protocol": {**protocol, "configurations": 8, "search_space": space},
        "own": own,
        "compute": {"device": "cpu"},
        "metering": {"exclusive": False},
    }
    run = {"dataset": "dna", "fraction": 0.1, "seed": 0, **names}
    return Job.model_validate({"run": run, "settings": settings})


def test_example_tunes_on_real_data(tmp_path, monkeypatch):
    data = tmp_path / "dna.safetensors"
    write_dataset(prepare("dna", Preparation(), tmp_path), data)
    monkeypatch.setattr(job_module, "search_in_ray", search_here)
    record = run_job(own_job(), data, tmp_path / "work")
    trained = [trial.progress for trial in record.tuning.trials]
    assert len(trained) == 8
    assert all(it.gradient_selections for it in trained if it.epochs > 2)
    assert record.test.accuracy > 0.8  # the largest class has 0.53 of the rows


def test_own_selector_is_compared_with_the_same_full_run():
    ours, own = own_job({}), own_job({"selector": OWN["selector"]})
    changed = own.model_copy(update={"files": {"own_selectors.mine": "0" * 64}})
    places = list(map(place_of, (ours, own, changed)))
    assert len({place.protocol for place in places}) == 1
    assert len({place.variant for place in places}) == 3
    assert place_of(own_job({"scheduler": OWN["scheduler"]})).protocol != places[0].protocol


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("no_such:It", "own_selectors.mine: no_such:It: cannot import no_such: "),
        ("own_methods:It", "own_methods has no function It; it has HighestLoss, "),
        ("own_methods:MedianStopping", "failed with TypeError: "),
        ("pathlib:Path", "has no cadence; needed: cadence, select"),
    ],
)
def test_mistake_in_an_own_method_is_one_line(target, expected):
    with pytest.raises(UserError, match=expected) as error:
        make("selector", "mine", {"selector": target})
    assert "\n" not in str(error.value)
