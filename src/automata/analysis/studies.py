"""The tables on what the paper does not show, by the name of their file."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from automata.analysis.best import best_of
from automata.analysis.choices import choices
from automata.analysis.comparisons import comparisons
from automata.analysis.fronts import fronts, summary
from automata.analysis.influence import influence_of
from automata.analysis.rank_agreement import agreements, rank_agreement
from automata.analysis.resampling import resampling
from automata.analysis.study import Study
from automata.analysis.time_split import time_split

STUDIES: dict[str, Callable[[Study], pd.DataFrame]] = {
    "fronts": lambda tables: fronts(tables.tradeoff),
    "front-summary": lambda tables: summary(fronts(tables.tradeoff)),
    "rank-agreement": lambda tables: rank_agreement(tables.once(agreements)),
    "resampling": lambda tables: resampling(tables.ratios),
    "comparisons": lambda tables: comparisons(tables.ratios),
    "time-split": lambda tables: time_split(tables.runs, tables.ratios),
    "best": lambda tables: tables.once(best_of),
    "choices": lambda tables: choices(tables.once(best_of)),
    "influence": lambda tables: tables.once(influence_of),
}
