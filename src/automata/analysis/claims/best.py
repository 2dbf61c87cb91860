"""The claim of the best tradeoff among the paper's subset selectors: whose fractions cover most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from automata.analysis.claims.by_panel import PanelClaim
from automata.analysis.claims.finding import FRACTIONS_MISSING, Estimate, Outcome
from automata.analysis.quantities import words
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, bootstrap_bounds, hypervolume
from automata.analysis.study import Panel, Study
from automata.analysis.wording import percent
from automata.names import AUTOMATA, BASELINES

COMPARED = (AUTOMATA, *BASELINES)
SHOWN = ("AUTOMATA", *(name.upper() for name in BASELINES))

Values = NDArray[np.float64]


class BestTradeoffClaim(PanelClaim):
    """AUTOMATA has the best tradeoff of ratio and error in almost every panel.

    In a panel the tradeoff of a selector is the area (`statistics.hypervolume`) that its
    fractions cover, between them and the point of ratio 1 and the largest error in the panel (or
    FULL's error of 0, if that is larger). AUTOMATA's must be larger than RANDOM's and CRAIG's.
    A panel counts with fractions and seeds of which all three have every run (`_complete` says
    which); its interval is a bootstrap, over seeds, of the difference to the better of the two.
    """

    share: Annotated[float, Field(gt=0, le=1)] = 0.9

    @property
    def _selectors(self) -> Sequence[str]:
        return COMPARED

    @property
    def _condition(self) -> str:
        return (
            f"AUTOMATA's fractions cover a larger area of {words(self.quantity)} against error "
            "than RANDOM's and CRAIG's (seen from a ratio of 1 and the worst error of the panel)"
        )

    @property
    def _lacking(self) -> str:
        names = "AUTOMATA, RANDOM and CRAIG"
        return f"no panel has the {words(self.quantity)} of {names} at one fraction and seed"

    def _table(self, study: Study) -> pd.DataFrame:
        return self._runs(study)

    def _counted(self, rows: pd.DataFrame) -> pd.DataFrame:
        fractions, seeds = _complete(rows)
        return rows[rows["fraction"].isin(fractions) & rows["seed"].isin(seeds)]

    def _outcome(self, rows: pd.DataFrame) -> Outcome:
        seeds = rows["seed"].nunique()
        lead = _lead(self._areas(rows, np.arange(seeds)[None])).item()
        bounds = bootstrap_bounds(lambda draws: _lead(self._areas(rows, draws)), seeds)
        low, high = map(float, bounds)
        few = seeds < SEEDS_FOR_INTERVAL
        outcome = Estimate(lead, low, high, few).above(0.0)
        if not few and self.grid.lacks_fractions(rows):
            return Outcome(outcome.passes, FRACTIONS_MISSING)
        return outcome

    def _areas(self, rows: pd.DataFrame, draws: NDArray[np.intp]) -> Values:
        """Return the areas (draws, COMPARED) of means over `draws` of the seeds (draws, seeds)."""

        def means(column: str) -> Values:
            table = rows.pivot(index=["selector", "fraction"], columns="seed", values=column)
            values = table.reindex(COMPARED, level="selector").to_numpy(np.float64)
            cube = values.reshape(len(COMPARED), -1, draws.shape[-1])
            averaged: Values = np.moveaxis(cube[..., draws].mean(axis=-1), -1, 0)
            return averaged

        ratios, errors = means(self.quantity), means("relative_test_error")
        worst = np.maximum(errors.max(axis=(1, 2)), 0.0)  # FULL is in the panel too
        corner = np.stack([np.ones_like(worst), worst], axis=-1)[:, None]
        return hypervolume(ratios, errors, corner)

    def _ours(self, panels: dict[Panel, pd.DataFrame], passing: list[Panel]) -> str:
        wins, left_out = dict.fromkeys((*SHOWN, ""), 0), []
        for panel, rows in panels.items():
            counted = self._counted(rows)
            (areas,) = self._areas(counted, np.arange(counted["seed"].nunique())[None])
            (largest,) = np.nonzero(areas == areas.max())
            wins[SHOWN[largest[0]] if len(largest) == 1 else ""] += 1
            if missed := _left_out(rows, counted):
                left_out.append(f"{missed} of {panel.path}")
        ours = f"the largest area in {wins['AUTOMATA']} of {len(panels)} panels"
        ours += f" ({percent(wins['AUTOMATA'] / len(panels))})"
        if others := ", ".join(f"{name} in {wins[name]}" for name in SHOWN[1:] if wins[name]):
            ours += f"; {others}"
        if wins[""]:
            ours += f"; no single best in {wins['']}"
        if left_out:
            more = [f"and {len(left_out) - 3} more"] if len(left_out) > 3 else []
            ours += f"; incomplete and left out: {', '.join([*left_out[:3], *more])}"
        return ours


def _lead(areas: Values) -> Values:
    """Return how much larger AUTOMATA's area is than the larger of the others'."""
    lead: Values = areas[:, 0] - areas[:, 1:].max(axis=1)
    return lead


def _complete(rows: pd.DataFrame) -> tuple[Sequence[float], set[int]]:
    """Return the fractions and seeds of a panel with which it counts: all selectors have them.

    Of all sets of fractions, with the seeds that are complete in them, it is the one with the
    most runs of those that leave three seeds, else two, else one: neither may a fraction that few
    seeds have cut the seeds, nor a seed that has few fractions the fractions. Of equals it is the
    one with more seeds, then that of smaller fractions.
    """
    selectors = rows.groupby(["fraction", "seed"])["selector"].nunique()
    seeds: dict[float, set[int]] = {}
    for fraction, seed in selectors.index[selectors == len(COMPARED)]:
        seeds.setdefault(fraction, set()).add(seed)
    sets = chain.from_iterable(combinations(seeds, size + 1) for size in range(len(seeds)))
    choices = [(chosen, set.intersection(*(seeds[f] for f in chosen))) for chosen in sets]

    def worth(choice: tuple[Sequence[float], set[int]]) -> tuple[int, int, int]:
        count = len(choice[1])
        return min(count, SEEDS_FOR_INTERVAL), count * len(choice[0]), count

    return max(choices, key=worth, default=((), set()))


def _left_out(rows: pd.DataFrame, counted: pd.DataFrame) -> str:
    """Return the fractions and seeds of `rows` that are not among those `counted`, in words."""
    words = []
    for axis, shown in (("fraction", percent), ("seed", str)):
        if others := sorted(set(rows[axis]) - set(counted[axis])):
            words.append(f"{axis}{'s' * (len(others) > 1)} {', '.join(map(shown, others))}")
    return " and ".join(words)
