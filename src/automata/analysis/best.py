"""The best hyper-parameters, which validation scores alone choose, never a test score."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import yaml

from automata import names
from automata.analysis import study, wording
from automata.analysis.how_good import SCORES, how_good
from automata.analysis.quantities import ERROR
from automata.analysis.statistics import bounds, interval, known, mean_of
from automata.analysis.study import COMBINATION

HEADER = """\
# The best hyper-parameters: `best` has those to take for each data set, `combinations` those of
# each search, scheduler, selector and fraction. The highest validation score decides, first among
# the seeds of a combination, then among the combinations. A selector that reads the validation
# labels (GLISTER) is `best` only if no other was run.
# `relative_test_error` says what they are worth: FULL's test accuracy minus the combination's, in
# percentage points, over seeds. If it is positive, FULL's hyper-parameters are better on test data;
# null: no FULL run to compare with.
# `how_good`: its verdict says which model to take; scores of the tuned model are means over seeds.
# Predictions of the best run's model: automata predict FOLDER new.csv --output predictions.csv
"""

MEASURES = {
    "validation_score": "best_score",
    **{f"test_{metric}": column for metric, column in SCORES.items()},
    "wall_seconds": "total_seconds",
    "energy_joules": "energy_joules",
}
"""Numbers of a run and, as means over seeds, of its combination -> columns of the runs."""


class Choice(NamedTuple):
    """The run of a combination with the highest score, and the combination's runs."""

    run: dict[Any, Any]
    runs: pd.DataFrame

    @property
    def combination(self) -> tuple[Any, ...]:
        """Its values of COMBINATION."""
        return tuple(self.run[key] for key in COMBINATION)

    @property
    def configuration(self) -> dict[str, Any]:
        """The hyper-parameters, with all digits."""
        return dict(json.loads(self.run["best_configuration_json"]))


def winner(runs: pd.DataFrame) -> dict[Any, Any] | None:
    """Return the run with the highest validation score, among equals the fastest, or None."""
    ranked = _ranked(runs)
    return None if ranked.empty else ranked.iloc[0].to_dict()


def choices(runs: pd.DataFrame) -> list[Choice]:
    """Return the choice of each combination of FULL and selectors in the runs of a data set.

    The best score is first, but selectors that read the validation labels are last: their scores
    are not comparable with those of others.
    """
    ranked = _ranked(runs[~runs["selector"].isin(names.CONTROLS.keys() - {"full"})])
    firsts = ranked.drop_duplicates(COMBINATION).to_dict("records")
    firsts.sort(key=lambda run: names.look(run["selector"]).reads_validation)
    alike = runs.groupby(COMBINATION)
    return [Choice(run, alike.get_group(tuple(run[key] for key in COMBINATION))) for run in firsts]


def _ranked(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with a score and a final model, as `winner` ranks them."""
    scored = runs[runs["best_score"].notna() & runs["final_failure"].isna()]
    keys = ["best_score", "total_seconds", "record"]
    return scored.sort_values(keys, ascending=[False, True, True])


def text(
    runs: pd.DataFrame,
    tradeoff: pd.DataFrame,
    trials: pd.DataFrame,
    baselines: Mapping[str, dict[str, Any]],
) -> str:
    """Return best.yaml; `baselines` has the scores of simple models by data set."""
    ratios = tradeoff.set_index(COMBINATION).to_dict("index")
    entries, best = {}, {}
    for name in study.datasets(runs):
        mine = runs[runs["dataset"] == name]
        found = choices(mine)
        entries[name] = [_entry(choice, ratios) for choice in found]
        if found:
            best[name] = _entry(found[0], ratios)
        if found and name not in names.DATASETS:
            own, beside = baselines.get(name, {}), ratios.get(found[0].combination, {})
            worth = how_good(*found[0], drawn(mine), trials, own, beside)
            best[name] = {"how_good": worth, **best[name]}
    content = {"best": best, "combinations": entries}
    return HEADER + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def drawn(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of configurations drawn at random, which all panels share."""
    return runs[runs["selector"] == "untuned"].drop_duplicates("seed")


def _entry(choice: Choice, ratios: dict[Any, dict[Any, Any]]) -> dict[str, Any]:
    run, runs = choice.run, choice.runs
    beside = ratios.get(choice.combination, {})
    measures = {name: column for name, column in MEASURES.items() if column in runs}
    over_seeds: dict[str, Any] = {
        "seeds": len(runs),
        **{name: _number(mean_of(column)(runs)) for name, column in measures.items()},
        ERROR: _number(beside.get(ERROR)),
        "interval": None,
    }
    if len(runs) > 1:
        low, high = bounds(known("test_accuracy")(runs))
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
    """Return the epochs of the tested model; `final_epochs` sums those of all finalists."""
    if wording.known(run.get("kept_epoch")):
        return int(run["kept_epoch"])
    return int(run["epochs"] if run["final_epochs"] else run["best_epochs"])


def _number(value: float | None) -> float | None:
    """Return a cell as YAML has it: null if it is missing."""
    return None if value is None or math.isnan(value) else float(value)
