"""The best configuration of each run, with a column per hyper-parameter."""

from __future__ import annotations

import json
import re
from typing import Any

import pandas as pd

from automata.analysis.study import RUN, Study

PREFIX = "configuration."
"""Before the name of a hyper-parameter: a user's may have the name of another column."""

FACTS = [
    *RUN,
    "model",
    "best_index",
    "best_epochs",
    "best_validation_accuracy",
    "test_accuracy",
    "record",
]


def best_of(study: Study) -> pd.DataFrame:
    """Return the table of `best` of a study."""
    return best(study.runs, study.trials)


def best(runs: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """Return a row per run: FACTS, and its best configuration's values by hyper-parameter.

    Values are exact where the best trial was evaluated. Those of `untuned`, which has no trials,
    come from the runs, at four digits (`exact` is False). A hyper-parameter that a model does not
    have is missing.
    """
    written = _configurations(trials)
    rows = []
    for run in runs.to_dict("records"):
        text = written.get((run["record"], run["best_index"]))
        found = json.loads(text) if text is not None else _parsed(str(run["best_configuration"]))
        values = {f"{PREFIX}{name}": found[name] for name in sorted(found)}
        rows.append({**{fact: run[fact] for fact in FACTS}, "exact": text is not None, **values})
    table = pd.DataFrame(rows)
    names = sorted(column for column in table.columns if str(column).startswith(PREFIX))
    return table.reindex(columns=[*FACTS, "exact", *names])


def _configurations(trials: pd.DataFrame) -> dict[tuple[str, int], str]:
    """Return each trial's configuration, in JSON, by record and index."""
    once = trials.drop_duplicates(["record", "index"])
    keys = zip(once["record"], once["index"], strict=True)
    return dict(zip(keys, once["configuration"], strict=True))


def _parsed(compact: str) -> dict[str, Any]:
    """Return the values of `automata.analysis.runs.compact`'s text; what is no number is text."""
    pairs = (part.partition("=") for part in re.split(r" (?=\w+=)", compact))
    return {name: _value(value) for name, _, value in pairs}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"True": True, "False": False}.get(text, text)
