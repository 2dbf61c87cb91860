"""The tables on what the paper does not show, by the name of their file."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from automata.analysis.search_studies import agreements, best, influence, rank_agreement
from automata.analysis.selector_comparisons import comparisons, resampling
from automata.analysis.study import Study
from automata.analysis.tradeoff import fronts

STUDIES: dict[str, Callable[[Study], pd.DataFrame]] = {
    "best": lambda study: best(study.runs),
    "fronts": lambda study: fronts(study.tradeoff),
    "rank-agreement": lambda study: rank_agreement(study.once(agreements)),
    "resampling": lambda study: resampling(study.ratios),
    "comparisons": lambda study: comparisons(study.ratios),
    "influence": lambda study: influence(study.runs, study.trials, study.protocols),
}
