"""The best hyper-parameters: validation scores choose them, test scores never do."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from automata import names
from automata.analysis import study, wording
from automata.analysis.how_good import SCORES, how_good
from automata.analysis.quantities import ERROR
from automata.analysis.statistics import bounds, interval
from automata.analysis.study import COMBINATION

HEADER = """\
# The best hyper-parameters of each data set: those of the run with the highest validation score. A
# selector that reads the validation labels (GLISTER) counts only if no other was run.
# `over_seeds` has means over the seeds of the same search, scheduler, selector and fraction.
# `relative_test_error` says what they are worth: FULL's test accuracy minus theirs, in percentage
# points. If it is positive, FULL's hyper-parameters are better on test data; null: no FULL run to
# compare with.
# `how_good`: its verdict says which model to take; scores of the tuned model are means over seeds.
# Predictions of the best run's model: automata predict FOLDER new.csv --output predictions.csv
"""

MEASURES = {
    "validation_score": "best_score",
    **{f"test_{metric}": column for metric, column in SCORES.items()},
    "wall_seconds": "total_seconds",
    "energy_joules": "energy_joules",
}
"""Names in best.yaml -> columns of the runs."""


class Choice(NamedTuple):
    """The run with the highest score of a combination, and all runs of the combination."""

    run: dict[Any, Any]
    runs: pd.DataFrame

    @property
    def combination(self) -> tuple[Any, ...]:
        """The values of COMBINATION."""
        return tuple(self.run[key] for key in COMBINATION)

    @property
    def configuration(self) -> dict[str, Any]:
        """The hyper-parameters, with all digits."""
        return dict(json.loads(self.run["best_configuration_json"]))


def winner(runs: pd.DataFrame) -> dict[Any, Any] | None:
    """Return the run with the highest validation score (of equal ones, the fastest), or None."""
    ranked = _ranked(runs)
    return None if ranked.empty else ranked.iloc[0].to_dict()


def choices(runs: pd.DataFrame) -> list[Choice]:
    """Return the choice of each combination of FULL and of selectors, the best score first.

    `runs` are of one data set. Selectors that read validation labels come last: their scores do not
    compare with others.
    """
    ranked = _ranked(runs[~runs["selector"].isin(names.CONTROLS.keys() - {"full"})])
    firsts = ranked.drop_duplicates(COMBINATION).to_dict("records")
    firsts.sort(key=lambda run: names.look(run["selector"]).reads_validation)
    groups = runs.groupby(COMBINATION)
    return [Choice(run, groups.get_group(tuple(run[key] for key in COMBINATION))) for run in firsts]


def _ranked(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with a score and a final model, in the order of `winner`."""
    scored = runs[runs["best_score"].notna() & runs["final_failure"].isna()]
    keys = ["best_score", "total_seconds", "record"]
    return scored.sort_values(keys, ascending=[False, True, True])


def text(
    runs: pd.DataFrame,
    tradeoff: pd.DataFrame,
    trials: pd.DataFrame,
    baselines: Mapping[str, dict[str, Any]],
) -> str:
    """Return the text of best.yaml; `baselines` has the scores of simple models by data set."""
    ratios, best = tradeoff.set_index(COMBINATION).to_dict("index"), {}
    for name in study.datasets(runs):
        own_runs = runs[runs["dataset"] == name]
        ranked = choices(own_runs)
        if not ranked:
            continue
        to_full = ratios.get(ranked[0].combination, {})
        best[name] = _entry(ranked[0], to_full)
        if name not in names.DATASETS:
            draws = drawn(own_runs, ranked[0].run["search"])
            verdict = how_good(*ranked[0], draws, trials, baselines.get(name, {}), to_full)
            best[name] = {"how_good": verdict, **best[name]}
    return HEADER + yaml.safe_dump({"best": best}, sort_keys=False, allow_unicode=True)


def drawn(runs: pd.DataFrame, search: str) -> pd.DataFrame:
    """Return the runs of configurations drawn from a search's space, once for all schedulers."""
    own = (runs["selector"] == "untuned") & (runs["search"] == search)
    return runs[own].drop_duplicates("seed")


def _entry(choice: Choice, to_full: Mapping[Any, Any]) -> dict[str, Any]:
    run, runs = choice.run, choice.runs
    measures = {name: column for name, column in MEASURES.items() if column in runs}
    over_seeds: dict[str, Any] = {
        "seeds": len(runs),
        **{name: _number(runs[column].mean()) for name, column in measures.items()},
        ERROR: _number(to_full.get(ERROR)),
        "interval": None,
    }
    if len(runs) > 1:
        low, high = np.clip(bounds(runs["test_accuracy"].to_numpy(np.float64)), 0, 1).tolist()
        ends = {"test_accuracy_low": low, "test_accuracy_high": high}
        over_seeds |= {"interval": interval(len(runs)), **ends}
    return {
        **{name: run[name] for name in ("selector", "fraction", "search", "scheduler", "seed")},
        "configuration": choice.configuration,
        "model": run["model"],
        "epochs": _epochs(run),
        "metric": run["metric"],
        **{name: _number(run[column]) for name, column in measures.items()},
        "energy_method": run["energy_method"],
        "over_seeds": over_seeds,
        "record": run["record"],
    }


def _epochs(run: Mapping[Any, Any]) -> int:
    """Return the epochs of the tested model; `final_epochs` is the sum over all finalists."""
    if wording.known(run.get("kept_epoch")):
        return int(run["kept_epoch"])
    return int(run["epochs"] if run["final_epochs"] else run["best_epochs"])


def _number(value: float | None) -> float | None:
    """Return a cell for YAML; None (null) if it is missing."""
    return None if value is None or math.isnan(value) else float(value)
