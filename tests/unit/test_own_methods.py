"""Searches, schedulers and selectors of the user's own: the example of the docs, and mistakes."""

from pathlib import Path

import pytest

from automata.config.data import Preparation
from automata.config.job import Job
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.errors import UserError
from automata.registry import SELECTORS, make
from automata.runs import place_of
from automata.tuning import job as job_module
from automata.tuning.search import search_of
from support.searching import run_job, search_here
from support.simulated import simulate

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
OWN = {
    "search": "own_methods:Optuna",
    "scheduler": "own_methods:MedianStopping",
    "selector": "own_methods:HighestLoss",
}


@pytest.fixture(autouse=True)
def _example_is_there(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


def own_job(own=OWN, configurations=8, **run):
    chosen = {"search": "optuna", "scheduler": "median", "selector": "highest-loss"}
    usual = {"search": "random", "scheduler": "hyperband", "selector": "rs2"}
    names = {kind: chosen[kind] if kind in own else usual[kind] for kind in chosen}
    protocol = {
        "model": "mlp",
        "configurations": configurations,
        "epochs": 8,
        "reselect_every": 2,
        "batch_size": 32,
        "search_space": {
            "learning_rate": {"loguniform": [0.001, 0.1]},
            "hidden1": {"choice": [20, 30]},
            "hidden2": {"choice": [20, 30]},
        },
    }
    return Job.model_validate(
        {
            "run": {"dataset": "dna", "fraction": 0.1, "seed": 0, **names, **run},
            "settings": {
                "protocol": protocol,
                "own": own,
                "compute": {"device": "cpu"},
                "metering": {"exclusive": False},
            },
        }
    )


def test_example_tunes_on_real_data(tmp_path, monkeypatch):
    data = tmp_path / "dna.safetensors"
    write_dataset(prepare("dna", Preparation(), tmp_path), data)
    monkeypatch.setattr(job_module, "search_in_ray", search_here)
    record = run_job(own_job(), data, tmp_path / "work")
    trials = record.tuning.trials
    assert len(trials) == 8
    assert {trial.epochs for trial in (t.progress for t in trials)} <= {2, 4, 8}
    assert all(t.progress.gradient_selections for t in trials if t.progress.epochs > 2)
    assert record.test.accuracy > 0.8  # the largest class has 0.53 of the rows


def test_optuna_learns_from_results():
    """After 10 random proposals its sampler prefers what did well: small rates here."""
    job = own_job({"search": OWN["search"]}, configurations=40, scheduler="none")
    found = simulate(search_of(job), lambda trial, _: -trial.configuration["learning_rate"])
    rates = [trial.configuration["learning_rate"] for trial in found.trials]
    assert sum(rates[10:]) / 30 < 0.5 * sum(rates[:10]) / 10


def test_median_stopping_by_hand():
    scores = {0: 0.5, 1: 0.4, 2: 0.6, 3: 0.45, 4: 0.5}
    job = own_job({"scheduler": OWN["scheduler"]}, configurations=5)
    found = simulate(search_of(job), lambda trial, _: scores[trial.index])
    # Medians of those before: at T/4 0.5, 0.45, 0.5, 0.475; at T/2, of trials 0 and 2, 0.55.
    assert [trial.epoch for trial in found.trials] == [8, 2, 8, 2, 4]


def test_a_selector_of_ones_own_shares_full_with_the_projects_selectors():
    own = place_of(own_job({"selector": OWN["selector"]}))
    ours = place_of(own_job({}))
    assert own.protocol == ours.protocol
    assert (own.variant != "", ours.variant) == (True, "")
    changed = own_job({"selector": OWN["selector"]}).model_copy(
        update={"files": {"own_selectors.highest-loss": "0" * 64}}
    )
    assert place_of(changed).protocol == own.protocol
    assert place_of(changed).variant != own.variant
    assert place_of(own_job({"scheduler": OWN["scheduler"]})).protocol != ours.protocol


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("no_such:It", "own_selectors.mine: no_such:It: cannot import no_such: "),
        ("own_methods:It", "own_methods has no function It; it has HighestLoss, "),
        ("own_methods:MedianStopping", "failed with TypeError: "),
        ("pathlib:Path", "has no cadence; needed: cadence, select"),
    ],
)
def test_a_mistake_is_one_line(target, expected):
    with pytest.raises(UserError, match=expected) as error:
        make("selector", "mine", SELECTORS, {"selector": target})
    assert "\n" not in str(error.value)
