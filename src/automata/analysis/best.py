"""The best hyper-parameters: which run chose them, and what says how good and how sure they are.

Chosen by validation score alone; no choice looks at a test score.
"""

from __future__ import annotations

import json
import math
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pandas as pd
import yaml

from automata.analysis import study
from automata.analysis.statistics import bounds, interval, known, mean_of
from automata.analysis.study import COMBINATION
from automata.names import CONTROLS

HEADER = """\
# The best hyper-parameters: first those to take for each data set, then those of each combination.
# Chosen by validation score alone: of a combination the seed with the highest, of these `best`.
# Predictions of the best run's model: automata predict FOLDER new.csv --output predictions.csv
"""

MEASURES = {
    "validation_score": "best_score",
    "test_accuracy": "test_accuracy",
    "test_balanced_accuracy": "test_balanced_accuracy",
    "test_macro_f1": "test_macro_f1",
    "test_log_loss": "test_loss",
    "wall_seconds": "total_seconds",
    "energy_joules": "energy_joules",
}
"""What is said of a run and, as means over seeds, of its combination; columns of the runs."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The hyper-parameters of a combination: those of the run with the highest score."""

    run: dict[Any, Any]
    """Its row in the table of runs."""
    runs: pd.DataFrame
    """All rows of the combination, a seed each."""

    @property
    def configuration(self) -> dict[str, Any]:
        """The hyper-parameters, with all digits."""
        found: dict[str, Any] = json.loads(self.run["best_configuration_json"])
        return found

    @property
    def spread(self) -> dict[str, Any]:
        """The bounds of the mean test accuracy, and what they are; of one seed there are none."""
        if len(self.runs) == 1:
            return {"interval": None}
        low, high = bounds(known("test_accuracy")(self.runs))
        kind = interval(len(self.runs))
        return {"interval": kind, "test_accuracy_low": low, "test_accuracy_high": high}


def winner(runs: pd.DataFrame) -> dict[Any, Any] | None:
    """Return the run with the highest validation score, of equal ones the fastest, or None."""
    ranked = _ranked(runs)
    return None if ranked.empty else ranked.iloc[0].to_dict()


def choices(runs: pd.DataFrame) -> list[Choice]:
    """Return the choice of each combination of FULL and selectors; the best score is first.

    `runs` are those of one data set. Controls choose nothing that anybody would take.
    """
    ranked = _ranked(runs[~runs["selector"].isin(CONTROLS.keys() - {"full"})])
    firsts = ranked.drop_duplicates(COMBINATION).to_dict("records")
    alike = runs.groupby(COMBINATION)
    return [Choice(run, alike.get_group(tuple(run[key] for key in COMBINATION))) for run in firsts]


def _ranked(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with a score and a final model, as `winner` ranks them."""
    scored = runs[runs["best_score"].notna() & runs["final_failure"].isna()]
    keys = ["best_score", "total_seconds", "record"]
    return scored.sort_values(keys, ascending=[False, True, True])


def text(runs: pd.DataFrame) -> str:
    """Return the text of best.yaml, with all digits."""
    return HEADER + yaml.safe_dump(answer(runs), sort_keys=False, allow_unicode=True)


def answer(runs: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return what best.yaml has: by data set the best choice, then that of each combination."""
    names = study.datasets(runs)
    told = {name: [*map(_told, choices(runs[runs["dataset"] == name]))] for name in names}
    # A copy, as YAML would only refer to what is there twice.
    best = {name: deepcopy(found[0]) for name, found in told.items() if found}
    return {"best": best, "combinations": told}


def _told(choice: Choice) -> dict[str, Any]:
    run, runs = choice.run, choice.runs
    return {
        **{name: run[name] for name in ("selector", "fraction", "search", "scheduler", "seed")},
        "configuration": choice.configuration,
        "model": run["model"],
        # Of the model that was tested: `final_epochs` counts all finalists, the last one trains T.
        "epochs": run["epochs"] if run["final_epochs"] else run["best_epochs"],
        "metric": run["metric"],
        **{name: _number(run[column]) for name, column in MEASURES.items()},
        "energy_method": run["energy_method"],
        "over_seeds": {
            "seeds": len(runs),
            **{name: _number(mean_of(column)(runs)) for name, column in MEASURES.items()},
            **choice.spread,
        },
        "record": run["record"],
    }


def _number(value: float | None) -> float | None:
    """Return a cell as YAML has it: null where it is missing."""
    return None if value is None or math.isnan(value) else float(value)
