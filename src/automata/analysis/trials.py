"""The table of trials, a row per evaluation on the validation set."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd

from automata.records import Record


def evaluations(record: Record, path: Path) -> pd.DataFrame:
    """Return a row per evaluation of a trial, in the order of time; none without a search.

    `rung`: whether the scheduler saw it. `elapsed_seconds`: since the start of the search, without
    interruptions. `elapsed_joules` spreads the energy of the search evenly over its time, because
    counters are read seconds apart. A trial that diverged keeps its earlier evaluations.
    """
    window = record.tuning.measurement
    joules = window.energy_joules if window else None
    watts = joules / window.wall_seconds if window and joules is not None else math.nan
    made = [
        (trial, rung, evaluation)
        for trial in record.tuning.trials
        for rung, some in ((True, trial.progress.evaluations), (False, trial.progress.curve))
        for evaluation in (some if window else [])
    ]
    elapsed = np.array([record.tuning.elapsed(it.finished_at) for _, _, it in made], np.float64)
    table = pd.DataFrame(
        {
            "index": [trial.index for trial, _, _ in made],
            "configuration": [
                json.dumps(trial.configuration, sort_keys=True) for trial, _, _ in made
            ],
            "status": [trial.status for trial, _, _ in made],
            "epoch": [evaluation.epoch for _, _, evaluation in made],
            "rung": [rung for _, rung, _ in made],
            "accuracy": [evaluation.accuracy for _, _, evaluation in made],
            "elapsed_seconds": elapsed,
            "elapsed_joules": watts * elapsed,
        }
    ).sort_values("elapsed_seconds", kind="stable", ignore_index=True)
    axes = record.job.run.model_dump()
    return pd.DataFrame({**axes, **table, "record": str(path)}, index=table.index)
