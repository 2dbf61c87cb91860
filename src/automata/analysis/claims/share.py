"""The first shape of a claim: a condition holds in a share of the panels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from automata.analysis.claims.claim import (
    Estimate,
    Finding,
    GridClaim,
    SelectorName,
    of_share,
    selector_words,
)
from automata.analysis.quantities import RATIOS, words
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, Values, bootstrap_bounds, hypervolume
from automata.analysis.study import PANEL, Panel, Study
from automata.analysis.wording import percent, signed, three_digits, times
from automata.config.base import Axis, Share, one_of
from automata.names import AUTOMATA

Panels = Mapping[Panel, pd.DataFrame]

TURNED = {"reaches": [False], "covers-more": [True, False], "falls": [True]}
"""The results that a fraction that was not run could turn."""

ROUNDING = 1e-9
"""A figure at a limit is within it, although binary numbers are not exact."""


class ShareClaim(GridClaim):
    """At least `share` of the panels that were run meet the condition `comparison`."""

    shape: Literal["share"]
    comparison: Literal["reaches", "covers-more", "falls"]
    subject: Axis[SelectorName] = [AUTOMATA]
    baseline: list[SelectorName] = []
    quantity: Annotated[str, one_of(RATIOS)] = "speedup"
    threshold: float = 1.0
    around: Annotated[float, Field(ge=0, lt=1)] = 0.0
    loss: float = math.inf
    most: float = math.inf
    """The upper end of a claimed range: the finding reports it, the verdict ignores it."""
    share: Share = 1.0

    @property
    def rule(self) -> str:
        """The condition, and in how many panels it must hold."""
        measure, subject = words(self.quantity), selector_words(self.subject[0])
        others = "'s and ".join(map(selector_words, self.baseline))
        rule = {
            "reaches": f"the {measure} of one fraction is at least {self._bar:g}x {self._within}",
            "covers-more": f"{subject}'s fractions cover a larger area of {measure} against error "
            f"than {others}'s (seen from a ratio of 1 and the worst error of the panel)",
            "falls": f"the {measure} falls from each fraction to the next larger one",
        }[self.comparison]
        if len(self.grid.panels) == 1:
            return rule
        many = "all panels" if self.share == 1 else f"at least {percent(self.share)} of the panels"
        return f"in {many} {rule}"

    @property
    def _within(self) -> str:
        if self.loss == math.inf:
            return "at any loss"
        kind = "gain of at least" if self.loss < 0 else "loss of at most"
        return f"at a {kind} {abs(self.loss):g} percentage points"

    @property
    def _bar(self) -> float:
        return self.threshold * (1 - self.around)

    @property
    def _selectors(self) -> list[str]:
        return [*self.subject, *self.baseline]

    def check(self, study: Study) -> Finding:
        """Return whether enough panels meet the condition."""
        table = self.runs(study) if self.baseline else self.means(study)
        table = self.grid.subsets(table[table[self.quantity].notna()], self._selectors)
        if self.baseline:  # a fraction and seed count if all selectors have them
            present = table.groupby([*PANEL, "fraction", "seed"])["selector"].transform("nunique")
            table = table[present == len(self._selectors)]
        if self.comparison == "falls":
            sizes = table.groupby([*PANEL, "selector"])["fraction"].transform("nunique")
            table = table[sizes > 1]
        panels = {panel: panel.rows(table) for panel in self.grid.panels}
        panels = {panel: rows for panel, rows in panels.items() if len(rows)}
        if not panels:
            return self.not_run(study, self._selectors)
        estimates = {"reaches": self._margin, "covers-more": self._lead, "falls": self._fall}
        texts = {"reaches": self._reached, "covers-more": self._winners, "falls": self._order}
        outcomes = {}
        for panel, rows in panels.items():
            outcome = estimates[self.comparison](rows).between(0.0, math.inf)
            turned = outcome.passes in TURNED[self.comparison]
            outcomes[panel] = self.weakened(outcome, rows) if turned else outcome
        passing = [panel for panel, outcome in outcomes.items() if outcome.passes]
        whole = of_share(outcomes.values(), len(self.grid.panels), self.share)
        return self.found(whole, texts[self.comparison](panels, passing), table)

    def _margin(self, rows: pd.DataFrame) -> Estimate:
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

    def _inside(self, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[rows["relative_test_error"] <= self.loss + ROUNDING]

    def closest(self, rows: pd.DataFrame) -> pd.Series[Any]:
        """Return the fastest row within the loss, or the row of least error if none is."""
        inside, by_error = self._inside(rows), rows.nsmallest(1, "relative_test_error")
        return (inside.nlargest(1, self.quantity) if len(inside) else by_error).iloc[0]

    def _reached(self, panels: Panels, passing: Sequence[Panel]) -> str:
        """Return the means of a single panel, or the range of the best fractions."""
        if len(self.grid.panels) == 1:
            (rows,) = panels.values()
            shown = [self.closest(rows), rows.nlargest(1, self.quantity).iloc[0]]
            short = not passing and shown[0]["fraction"] != shown[1]["fraction"]
            return "; the fastest: ".join(map(self._means, shown[: 1 + short]))
        inside = {panel: self._inside(rows)[self.quantity] for panel, rows in panels.items()}
        best = {panel: ratios.max() for panel, ratios in inside.items() if len(ratios)}
        ours = f"{len(passing)} of {len(panels)} panels reach {times(self._bar)} {self._within}"
        if best:
            ends = min(best, key=best.__getitem__), max(best, key=best.__getitem__)
            extremes = " to ".join(f"{times(best[panel])} ({panel.path})" for panel in ends)
            ours += f"; the best fraction there has {extremes}"
        if len(best) < len(panels):
            ours += f"; no fraction is within the loss in {len(panels) - len(best)}"
        if self.most < math.inf:
            count = sum(ratio >= self.most for ratio in best.values())
            ours += f"; {times(self.most)} is reached in {count}"
        return ours

    def _means(self, row: pd.Series[Any]) -> str:
        """Return means over seeds: 8.4x (7.1 to 9.6) at +0.6 pp (+0.2 to +1), fraction 1 %."""
        ratio, error = (
            Estimate(row[name], row[f"{name}_low"], row[f"{name}_high"], row["seeds"] == 1)
            for name in (self.quantity, "relative_test_error")
        )
        shown = f"{ratio.shown(three_digits, 'x')} at {error.shown(signed, ' pp')}"
        return f"{shown}, fraction {percent(row['fraction'])}"

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

    def _lead(self, rows: pd.DataFrame) -> Estimate:
        """Return the subject's lead over the best baseline in area; the interval draws seeds."""

        def lead(draws: NDArray[np.intp]) -> Values:
            areas = self._areas(rows, draws)
            difference: Values = areas[:, 0] - areas[:, 1:].max(axis=1)
            return difference

        seeds = rows["seed"].nunique()
        low, high = map(float, bootstrap_bounds(lead, seeds))
        return Estimate(lead(np.arange(seeds)[None]).item(), low, high, seeds < SEEDS_FOR_INTERVAL)

    def _winners(self, panels: Panels, passing: Sequence[Panel]) -> str:
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

    def _fall(self, rows: pd.DataFrame) -> Estimate:
        """Return the smallest fall between two fractions; its interval is the gap of theirs."""
        falls: list[Values] = []
        for _, line in rows.sort_values("fraction").groupby("selector"):
            mean, low, high = (line[f"{self.quantity}{end}"].array for end in ("", "_low", "_high"))
            i, j = np.triu_indices(len(line), 1)
            falls.append(np.stack([mean[i] - mean[j], low[i] - high[j], high[i] - low[j]]))
        value, least, most = np.concatenate(falls, axis=1).min(axis=1).tolist()
        return Estimate(value, least, most, rows["seeds"].min() < SEEDS_FOR_INTERVAL)

    def _order(self, panels: Panels, passing: Sequence[Panel]) -> str:
        """Return how many panels are in order, and the first that are not."""
        wrong = [panel.path for panel in panels if panel not in passing]
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        ours = f"in order in {len(passing)} of {len(panels)} panels"
        return f"{ours}; not in {', '.join(wrong[:3])}{more}" if wrong else ours
