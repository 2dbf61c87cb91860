"""Claims about panels: a condition holds in a share of them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from automata.analysis.claims.claim import (
    Estimate,
    Finding,
    GridClaim,
    Outcome,
    SelectorName,
    of_share,
    selector_words,
)
from automata.analysis.quantities import ROUNDING
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, Values, bootstrap_bounds, hypervolume
from automata.analysis.study import PANEL, Panel, Study
from automata.analysis.wording import percent, signed, three_digits, times
from automata.config.base import Axis, Share
from automata.names import AUTOMATA

Panels = Mapping[Panel, pd.DataFrame]


class ShareClaim(GridClaim):
    """At least `share` of the panels that were run meet a condition."""

    quantity: Literal["speedup", "energy_ratio"] = "speedup"
    share: Share = 1.0

    turnable: ClassVar[Sequence[bool]]
    """The results for a panel that a fraction that was not run could turn."""

    @property
    @abstractmethod
    def _condition(self) -> str:
        """The condition in words."""

    @property
    def _selectors(self) -> list[str]:
        return [AUTOMATA]

    @abstractmethod
    def _estimate(self, rows: pd.DataFrame) -> Estimate:
        """Return a figure of the `rows` of a panel; the condition holds if it is above 0."""

    @abstractmethod
    def _ours(self, panels: Panels, passing: Sequence[Panel]) -> str:
        """Return our result in words; the condition holds in the panels `passing`."""

    @property
    def rule(self) -> str:
        """The condition, and in how many panels it must hold."""
        if len(self.grid.panels) == 1:
            return self._condition
        many = "all panels" if self.share == 1 else f"at least {percent(self.share)} of the panels"
        return f"in {many} {self._condition}"

    def _rows(self, study: Study) -> pd.DataFrame:
        table = self.means(study)
        return self.grid.subsets(table[table[self.quantity].notna()], self._selectors)

    def check(self, study: Study) -> Finding:
        """Return whether enough panels meet the condition."""
        table = self._rows(study)
        panels = {panel: panel.rows(table) for panel in self.grid.panels}
        panels = {panel: rows for panel, rows in panels.items() if len(rows)}
        if not panels:
            return self.not_run(study, self._selectors)
        outcomes = {panel: self._outcome(rows) for panel, rows in panels.items()}
        passing = [panel for panel, outcome in outcomes.items() if outcome.passes]
        whole = of_share(outcomes.values(), len(self.grid.panels), self.share)
        return self.found(whole, self._ours(panels, passing), table)

    def _outcome(self, rows: pd.DataFrame) -> Outcome:
        outcome = self._estimate(rows).between(0.0, math.inf)
        return self.weakened(outcome, rows) if outcome.passes in self.turnable else outcome


class ReachesClaim(ShareClaim):
    """One fraction of AUTOMATA reaches a threshold of the quantity within a loss."""

    shape: Literal["reaches"]
    threshold: float
    around: Annotated[float, Field(ge=0, lt=1)] = 0.0
    loss: float = math.inf
    most: float = math.inf
    """The upper end of a claimed range: the finding reports it, the verdict ignores it."""

    turnable = (False,)

    @property
    def _condition(self) -> str:
        measure = self._measure.words
        return f"the {measure} of one fraction is at least {self._bar:g}x {self._within}"

    @property
    def _within(self) -> str:
        if self.loss == math.inf:
            return "at any loss"
        kind = "gain of at least" if self.loss < 0 else "loss of at most"
        return f"at a {kind} {abs(self.loss):g} percentage points"

    @property
    def _bar(self) -> float:
        return self.threshold * (1 - self.around)

    def _estimate(self, rows: pd.DataFrame) -> Estimate:
        """Return the smaller of the margins to both limits, at the fraction where it is largest.

        Only its sign has a meaning, because the margins have different units.
        """

        def margins(ratio: str, error: str) -> pd.Series[float]:
            faster = rows[f"{self.quantity}{ratio}"] - self._bar
            better = self.loss - rows[f"relative_test_error{error}"]
            return faster.where(faster < better, better) + ROUNDING

        enough, value = rows["seeds"] >= SEEDS_FOR_INTERVAL, margins("", "")
        low = margins("_low", "_high").where(enough, -math.inf).max()
        high = margins("_high", "_low").where(enough, math.inf).max()
        met = value > 0
        few = not (enough[met].any() if met.any() else enough.all())
        return Estimate(value.max(), low, high, few)

    def _ours(self, panels: Panels, passing: Sequence[Panel]) -> str:
        """Return the means of a single panel, or the range of the best fractions."""
        inside = {
            panel: rows[rows["relative_test_error"] <= self.loss + ROUNDING]
            for panel, rows in panels.items()
        }
        if len(self.grid.panels) == 1:
            ((panel, rows),) = panels.items()
            fastest = rows.nlargest(1, self.quantity)
            within = inside[panel].nlargest(1, self.quantity)
            shown = within if len(within) else rows.nsmallest(1, "relative_test_error")
            if not passing and shown.index[0] != fastest.index[0]:
                shown = pd.concat([shown, fastest])
            return "; the fastest: ".join(self._means(row) for _, row in shown.iterrows())
        best = {panel: rows[self.quantity].max() for panel, rows in inside.items() if len(rows)}
        parts = [f"{len(passing)} of {len(panels)} panels reach {times(self._bar)} {self._within}"]
        if best:
            ends = min(best, key=best.__getitem__), max(best, key=best.__getitem__)
            extremes = " to ".join(f"{times(best[panel])} ({panel.path})" for panel in ends)
            parts.append(f"the best fraction there has {extremes}")
        if len(best) < len(panels):
            parts.append(f"no fraction is within the loss in {len(panels) - len(best)}")
        if self.most < math.inf:
            count = sum(ratio >= self.most for ratio in best.values())
            parts.append(f"{times(self.most)} is reached in {count}")
        return "; ".join(parts)

    def _means(self, row: pd.Series[Any]) -> str:
        """Return means over seeds: 8.4x (7.1 to 9.6) at +0.6 pp (+0.2 to +1), fraction 1 %."""
        ratio, error = (
            Estimate(row[name], row[f"{name}_low"], row[f"{name}_high"], row["seeds"] == 1)
            for name in (self.quantity, "relative_test_error")
        )
        shown = f"{ratio.shown(three_digits, 'x')} at {error.shown(signed, ' pp')}"
        return f"{shown}, fraction {percent(row['fraction'])}"


class CoversMoreClaim(ShareClaim):
    """AUTOMATA's fractions cover a larger area of quantity against error than each baseline's."""

    shape: Literal["covers-more"]
    baseline: Axis[SelectorName]

    turnable = (True, False)

    @property
    def _condition(self) -> str:
        others = "'s and ".join(map(selector_words, self.baseline))
        return (
            f"AUTOMATA's fractions cover a larger area of {self._measure.words} against error "
            f"than {others}'s "
            "(seen from a ratio of 1 and the worst error of the panel)"
        )

    @property
    def _selectors(self) -> list[str]:
        return [AUTOMATA, *self.baseline]

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return the runs whose fraction and seed all selectors have."""
        table = self.grid.subsets(self.runs(study), self._selectors)
        present = table.groupby([*PANEL, "fraction", "seed"])["selector"].transform("nunique")
        return table[present == len(self._selectors)]

    def _estimate(self, rows: pd.DataFrame) -> Estimate:
        """Return AUTOMATA's lead over the best baseline in area; the interval draws seeds."""

        def lead(draws: NDArray[np.intp]) -> Values:
            areas = self._areas(rows, draws)
            difference: Values = areas[:, 0] - areas[:, 1:].max(axis=1)
            return difference

        seeds = rows["seed"].nunique()
        low, high = map(float, bootstrap_bounds(lead, seeds))
        return Estimate(lead(np.arange(seeds)[None]).item(), low, high, seeds < SEEDS_FOR_INTERVAL)

    def _ours(self, panels: Panels, passing: Sequence[Panel]) -> str:
        """Return how often each selector has the largest area."""
        names = [*map(selector_words, self._selectors), "no single best"]
        wins: Counter[str] = Counter()
        for rows in panels.values():
            (areas,) = self._areas(rows, np.arange(rows["seed"].nunique())[None])
            (best,) = np.nonzero(areas == areas.max())
            wins[names[best[0] if len(best) == 1 else -1]] += 1
        share = percent(len(passing) / len(panels))
        ours = f"the largest area in {len(passing)} of {len(panels)} panels ({share})"
        others = [f"{name} in {wins[name]}" for name in names[1:] if wins[name]]
        return f"{ours}; {', '.join(others)}" if others else ours

    def _areas(self, rows: pd.DataFrame, draws: NDArray[np.intp]) -> Values:
        """Return the areas (draws, selectors) that the fractions of each selector cover.

        An area (`statistics.hypervolume`) is of means over the seeds of `draws` (draws, seeds),
        from the ratio 1 and the largest error of the panel, or FULL's 0 if that is larger.
        """

        def means(column: str) -> Values:
            table = rows.pivot(index=["selector", "fraction"], columns="seed", values=column)
            cube = table.reindex(self._selectors, level="selector").to_numpy(np.float64)
            drawn = cube.reshape(len(self._selectors), -1, draws.shape[-1])[..., draws]
            # A fraction of no drawn seed becomes a ratio of 0, which covers no area.
            mean = np.ma.masked_invalid(drawn).mean(axis=-1).filled(0.0)
            averaged: Values = np.moveaxis(mean, -1, 0)
            return averaged

        ratios, errors = means(self.quantity), means("relative_test_error")
        worst = np.maximum(errors.max(axis=(1, 2)), 0.0)
        return hypervolume(ratios, errors, np.stack([np.ones_like(worst), worst], axis=-1)[:, None])


class FallsClaim(ShareClaim):
    """The mean falls from each fraction to the next larger one, for each `subject`."""

    shape: Literal["falls"]
    subject: Axis[SelectorName] = [AUTOMATA]

    turnable = (True,)

    @property
    def _condition(self) -> str:
        return f"the {self._measure.words} falls from each fraction to the next larger one"

    @property
    def _selectors(self) -> list[str]:
        return self.subject

    def _rows(self, study: Study) -> pd.DataFrame:
        """Return the means of selectors that have several fractions."""
        table = super()._rows(study)
        return table[table.groupby([*PANEL, "selector"])["fraction"].transform("nunique") > 1]

    def _estimate(self, rows: pd.DataFrame) -> Estimate:
        """Return the smallest fall between two fractions; its interval is the gap of theirs."""
        falls: list[Values] = []
        for _, line in rows.sort_values("fraction").groupby("selector"):
            mean, low, high = (line[f"{self.quantity}{end}"].array for end in ("", "_low", "_high"))
            i, j = np.triu_indices(len(line), 1)
            falls.append(np.stack([mean[i] - mean[j], low[i] - high[j], high[i] - low[j]]))
        value, least, most = np.concatenate(falls, axis=1).min(axis=1).tolist()
        return Estimate(value, least, most, rows["seeds"].min() < SEEDS_FOR_INTERVAL)

    def _ours(self, panels: Panels, passing: Sequence[Panel]) -> str:
        """Return how many panels are in order, and the first that are not."""
        wrong = [panel.path for panel in panels if panel not in passing]
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        ours = f"in order in {len(passing)} of {len(panels)} panels"
        return f"{ours}; not in {', '.join(wrong[:3])}{more}" if wrong else ours
