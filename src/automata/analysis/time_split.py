"""Where the time of a combination goes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from automata.analysis.study import COMBINATION
from automata.analysis.tables import joined

PARTS = {
    "training": "tuning_training_seconds",
    "selection": "tuning_selection_seconds",
    "evaluation": "tuning_evaluation_seconds",
    "orchestration": "tuning_orchestration_seconds",
    "final": "final_seconds",
}
"""Of a run's seconds, with the columns of the runs; they sum to `total_seconds`."""

COLUMNS = [
    *COMBINATION,
    "seeds",
    *(f"{part}_seconds" for part in PARTS),
    "total_seconds",
    *(f"{part}_share" for part in PARTS),
    "speedup",
    "records",
]


def time_split(runs: pd.DataFrame, ratios: pd.DataFrame) -> pd.DataFrame:
    """Return a row per combination: mean seconds over seeds of each of PARTS, and their shares.

    Shares are of the mean total and sum to one. Orchestration is the rest of the search's wall
    time: starting, pausing and choosing trials, and slots that stood empty. `speedup` is the mean
    of the seeds' ratios, as in the tradeoff table; `untuned` runs have none. Runs that were
    refused the comparison with their FULL are left out.
    """
    refused = set(ratios.loc[ratios["refused"].notna(), "record"])
    compared = runs[~runs["record"].isin(refused)]
    gains = ratios.set_index("record")["speedup"].astype(float)
    rows = []
    for combination, group in compared.groupby(COMBINATION, sort=True):
        seconds = {part: group[column].mean() for part, column in PARTS.items()}
        total = sum(seconds.values())
        rows.append(
            {
                **dict(zip(COMBINATION, combination, strict=True)),
                "seeds": len(group),
                **{f"{part}_seconds": value for part, value in seconds.items()},
                "total_seconds": total,
                **{
                    f"{part}_share": value / total if total else np.nan
                    for part, value in seconds.items()
                },
                "speedup": gains.reindex(group["record"]).mean(),
                "records": joined(group["record"]),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)
