"""Claims of the best tradeoff among the paper's subset selectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from automata.analysis.claims.cells import evidence, of_panel, why_missing
from automata.analysis.claims.claim import GridClaim, Share
from automata.analysis.claims.finding import (
    FEW_SEEDS,
    FRACTIONS_MISSING,
    Finding,
    Outcome,
    by_interval,
    not_run,
    of_share,
    records_of,
    verdict,
)
from automata.analysis.claims.reach import Quantity
from automata.analysis.claims.words import but_estimates, panel_name
from automata.analysis.quantities import words
from automata.analysis.statistics import SEEDS_FOR_INTERVAL, bootstrap_bounds, hypervolume
from automata.analysis.study import Panel, Study
from automata.analysis.wording import percent
from automata.names import AUTOMATA, BASELINES

COMPARED = (AUTOMATA, *BASELINES)

Values = NDArray[np.float64]


class BestTradeoffClaim(GridClaim):
    """AUTOMATA has the best tradeoff of ratio and error in almost every panel.

    In a panel the tradeoff of a selector is the area (`pareto.hypervolume`) that its fractions
    cover, between them and the point of ratio 1 and the largest error in the panel (or FULL's
    error of 0, if that is larger). AUTOMATA's must be larger than RANDOM's and CRAIG's in at
    least `share` of the panels. A panel counts with fractions and seeds of which all three have
    every run (`_chosen` says which); its interval is a bootstrap, over seeds, of the difference
    to the better of the two.
    """

    quantity: Quantity = "speedup"
    share: Share = 0.9

    @property
    def rule(self) -> str:
        """Say what is compared, and in how many panels it must be best."""
        return (
            f"in at least {percent(self.share)} of the panels AUTOMATA's fractions cover a larger "
            f"area of {words(self.quantity)} against error than RANDOM's and CRAIG's (seen from a "
            f"ratio of 1 and the worst error of the panel){but_estimates(self.quantity)}"
        )

    def check(self, tables: Study) -> Finding:
        """Return in which share of the panels AUTOMATA covers the largest area."""
        ratios = evidence(tables.ratios, self.quantity)
        contests = {}
        for panel in self.grid.panels:
            contest = _contest(ratios, panel, self)
            if contest is not None:
                contests[panel] = contest
        of = len(self.grid.panels)
        if not contests:
            wanted = f"{words(self.quantity)} of AUTOMATA, RANDOM and CRAIG"
            why = f"no panel has the {wanted} at one fraction and seed"
            return not_run(why_missing(tables, self.grid, COMPARED, self.quantity, why), of)
        outcomes = {panel: contest.outcome(self) for panel, contest in contests.items()}
        whole = of_share(outcomes, of, self.share)
        return Finding(
            verdict(whole.passes),
            _ours(contests) + _left_out(contests),
            whole.firm,
            tuple(contests),
            of,
            records_of(
                contest.rows[column]
                for contest in contests.values()
                for column in ("record", "full_record")
            ),
        )


@dataclass(frozen=True)
class _Contest:
    """The runs of one panel that all selectors have; arrays are selectors x fractions x seeds."""

    rows: pd.DataFrame
    fractions: list[float]
    ratios: Values
    errors: Values
    left_out: str
    """Fractions and seeds that have runs in the panel and are not in the contest, in words."""

    def areas(self, seeds: NDArray[np.intp] | None = None) -> Values:
        """Return the area per selector (COMPARED), of means over all seeds, or over each draw."""
        if seeds is None:
            seeds = np.arange(self.ratios.shape[-1])
        ratios, errors = (
            np.moveaxis(values[..., seeds].mean(axis=-1), (0, 1), (-2, -1))
            for values in (self.ratios, self.errors)
        )
        worst = np.maximum(errors.max(axis=(-2, -1)), 0.0)  # FULL is in the panel too
        corner = np.stack([np.ones_like(worst), worst], axis=-1)[..., None, :]
        return hypervolume(ratios, errors, corner)

    def outcome(self, claim: BestTradeoffClaim) -> Outcome:
        seeds = self.ratios.shape[-1]
        lead = float(_lead(self.areas()))
        low, high = bootstrap_bounds(lambda draws: _lead(self.areas(draws)), seeds)
        outcome = by_interval(lead, float(low), float(high), 0.0, above=True)
        if seeds < SEEDS_FOR_INTERVAL:
            return Outcome(outcome.passes, FEW_SEEDS)
        if set(claim.grid.fractions) - set(self.fractions):
            return Outcome(outcome.passes, FRACTIONS_MISSING)
        return outcome


def _lead(areas: Values) -> Values:
    """Return how much larger AUTOMATA's area is than the larger of the others'."""
    lead: Values = areas[..., 0] - areas[..., 1:].max(axis=-1)
    return lead


def _contest(ratios: pd.DataFrame, panel: Panel, claim: BestTradeoffClaim) -> _Contest | None:
    rows = of_panel(ratios, panel, COMPARED, claim.grid.fractions)
    rows = there = rows[rows[claim.quantity].notna()]
    selectors = rows.groupby(["fraction", "seed"])["selector"].nunique()
    whole = selectors[selectors == len(COMPARED)].index.to_frame(index=False)
    if not len(whole):
        return None
    complete: dict[float, set[int]] = {}
    for fraction, seed in whole.itertuples(index=False, name=None):
        complete.setdefault(float(fraction), set()).add(int(seed))
    fractions, seeds = _chosen(complete)
    rows = rows[rows["fraction"].isin(fractions) & rows["seed"].isin(seeds)]
    left_out = _not_in(there, fractions, seeds)
    ordered = rows.assign(place=rows["selector"].map(COMPARED.index)).sort_values(
        ["place", "fraction", "seed"]
    )
    shape = (len(COMPARED), len(fractions), len(seeds))
    values = ordered[[claim.quantity, "relative_test_error"]].to_numpy(dtype=np.float64)
    gains, errors = (values[:, column].reshape(shape) for column in (0, 1))
    return _Contest(rows, fractions, gains, errors, left_out)


def _chosen(seeds: Mapping[float, set[int]]) -> tuple[list[float], list[int]]:
    """Return the fractions and seeds of a contest, from the seeds that all have at each fraction.

    Of all sets of fractions, with the seeds that are complete in them, it is the one with the
    most runs of those that leave three seeds, else two, else one: neither may a fraction that few
    seeds have cut the seeds, nor a seed that has few fractions the fractions. Of equals it is the
    one with more seeds, then that of smaller fractions.
    """
    sets = chain.from_iterable(combinations(sorted(seeds), size + 1) for size in range(len(seeds)))
    choices = [(list(chosen), set.intersection(*(seeds[f] for f in chosen))) for chosen in sets]

    def worth(choice: tuple[list[float], set[int]]) -> tuple[int, int, int]:
        count = len(choice[1])
        return min(count, SEEDS_FOR_INTERVAL), count * len(choice[0]), count

    fractions, complete = max(choices, key=worth)
    return fractions, sorted(complete)


def _not_in(rows: pd.DataFrame, fractions: list[float], seeds: list[int]) -> str:
    """Return the fractions and seeds of `rows` that are not among those, in words."""
    sizes = sorted(set(rows["fraction"]) - set(fractions))
    others = sorted(set(rows["seed"]) - set(seeds))
    words = []
    if sizes:
        words.append(f"fraction{'s' * (len(sizes) > 1)} {', '.join(map(percent, sizes))}")
    if others:
        words.append(f"seed{'s' * (len(others) > 1)} {', '.join(map(str, others))}")
    return " and ".join(words)


def _left_out(contests: dict[Panel, _Contest]) -> str:
    """Return what is not complete and was left out, of the first panels by name."""
    parts = [
        f"{contest.left_out} of {panel_name(panel)}"
        for panel, contest in contests.items()
        if contest.left_out
    ]
    if not parts:
        return ""
    more = [f"and {len(parts) - 3} more"] if len(parts) > 3 else []
    return f"; incomplete and left out: {', '.join([*parts[:3], *more])}"


def _ours(contests: dict[Panel, _Contest]) -> str:
    names = ("AUTOMATA", "RANDOM", "CRAIG")
    wins = dict.fromkeys((*names, "none"), 0)
    for contest in contests.values():
        areas = contest.areas()
        largest = [n for n, area in zip(names, areas, strict=True) if area == areas.max()]
        wins[largest[0] if len(largest) == 1 else "none"] += 1
    count = len(contests)
    others = ", ".join(f"{name} in {wins[name]}" for name in names[1:] if wins[name])
    ties = f"; no single best in {wins['none']}" if wins["none"] else ""
    return (
        f"the largest area in {wins['AUTOMATA']} of {count} panels "
        f"({percent(wins['AUTOMATA'] / count)})" + (f"; {others}" if others else "") + ties
    )
