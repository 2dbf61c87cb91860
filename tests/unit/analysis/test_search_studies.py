"""Inside the searches: which scores are paired, and what tau is of them."""

import math
from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.search_studies import agreements, rank_agreement
from automata.analysis.study import Study
from automata.training.subsets import SubsetPlan

from .conftest import only, run

FULL_SCORES = [0.1, 0.2, 0.3, 0.4, 0.5]
SWAPPED = [0.2, 0.1, 0.3, 0.4, 0.5]
"""One of ten pairs in the other order: tau = 8/10."""
AXES = ["dataset", "search", "scheduler", "selector", "fraction", "seed", "record"]


def scored(of, scores, names=None, **changes):
    """Return evaluations of configurations called 0, 1, ... in order, or `names`, at rung 4."""
    rows = zip(names or range(len(scores)), scores, strict=True)
    evaluation = {"epoch": 4, **changes}
    return [
        {
            **{axis: of[axis] for axis in AXES},
            "index": index,
            "configuration": name,
            "accuracy": score,
            **evaluation,
        }
        for index, (name, score) in enumerate(rows)
    ]


def study(runs, trials, protocols=None):
    made = Study(Path())
    tables = {"runs": pd.DataFrame(runs), "trials": pd.DataFrame(trials)}
    made.__dict__.update(tables, protocols=protocols or {})
    return made


def pair(scores, full=(), other=(), epochs=20, **changes):
    """Return a FULL run and another with their scores; `full` and `other` change how they are."""
    first = run("full", 1.0, epochs=epochs)
    second = run(**{"selector": "rs2", "epochs": epochs, **changes})
    both = [*scored(first, FULL_SCORES, **dict(full)), *scored(second, scores, **dict(other))]
    return [first, second], both


@pytest.mark.parametrize(
    "changes",
    [
        *({axis: "other"} for axis in ("dataset", "search", "scheduler", "protocol_hash")),
        *({same: "other"} for same in ("training_version", "data_sha256", "own_model_sha256")),
        *({"seed": 1}, {"other": {"epoch": 8}}),
    ],
)
def test_runs_that_do_not_score_the_same_thing_are_not_paired(changes):
    assert agreements(study(*pair(FULL_SCORES, **changes))).empty
    runs, trials = pair(FULL_SCORES)
    assert agreements(study([{**runs[0], "epochs": 40}, runs[1]], trials)).empty


WARM = {"alike": {"scheduler": {"hyperband": {"warm_start": 0.35}}}}


@pytest.mark.parametrize("after", [0, 1])
def test_rungs_within_the_warm_start_of_training_have_no_tau(after):
    first = SubsetPlan(selector=None, fraction=0.05, warm_start=0.35).warm_start_epochs(20)
    at = {"epoch": first + after}
    row = only(agreements(study(*pair(SWAPPED, at, at, fraction=0.05), WARM)))
    assert row["warm_start_epochs"] == first
    assert math.isnan(row["tau"]) == (after == 0)
    repeat = study(*pair(SWAPPED, selector="full-again", fraction=1.0), WARM)
    assert only(agreements(repeat))["tau"] == pytest.approx(0.8)  # it has no warm start


def test_a_trial_that_repeats_its_score_out_of_patience_counts_once():
    runs, trials = pair(SWAPPED)
    row = only(agreements(study(runs, trials * 2)))
    assert (row["pairs"], row["tau"]) == (5, pytest.approx(0.8))


@pytest.mark.parametrize(("epoch", "level"), [(40, 0), (16, 1)])
def test_rungs_are_grouped_by_the_nearest_third(epoch, level):
    at = {"epoch": epoch}
    row = only(rank_agreement(study(*pair(SWAPPED, at, at, epochs=40))))
    assert (row["level"], row["percent"]) == (level, pytest.approx(100 * epoch / 40))
