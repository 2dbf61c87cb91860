"""A user's own searches, schedulers and selectors: the example of the docs, and mistakes."""

from pathlib import Path

import pytest

import automata
from automata.registry import make
from automata.tuning import job as job_module
from support.searching import search_here


@pytest.fixture(autouse=True)
def example(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs/examples")


def test_example_tunes_on_real_data(monkeypatch):
    monkeypatch.setattr(job_module, "search_in_ray", search_here)
    settings = {
        "own_searches": {"mine": "own_methods:Optuna"},
        "own_schedulers": {"mine": "own_methods:MedianStopping"},
        "own_selectors": {"mine": "own_methods:HighestLoss"},
        "protocol": {"tabular": {"reselect_every": 2}},
        "metering": {"exclusive": False},
    }
    mine = dict.fromkeys(("search", "scheduler", "selector"), "mine")
    record = automata.tune("dna", **mine, configurations=8, epochs=8, settings=settings).record
    trained = [trial.progress for trial in record.tuning.trials]
    assert len(trained) == 8
    assert all(it.gradient_selections for it in trained if it.epochs > 2)
    assert record.test.accuracy > 0.8  # the largest class has 0.53 of the rows


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
    with pytest.raises(automata.UserError, match=expected) as error:
        make("selector", "mine", {"selector": target})
    assert "\n" not in str(error.value)
