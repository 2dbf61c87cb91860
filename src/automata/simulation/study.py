"""Methods compared on the same simulated searches: regret against FULL, cost, and how sure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from automata import names
from automata.errors import UserError
from automata.registry import ALL_DATA_SCHEDULERS, SCHEDULERS
from automata.seeds import derive
from automata.simulation.asked import Simulated
from automata.simulation.methods import (
    Draws,
    Method,
    Outcome,
    Proposals,
    Searched,
    drawn,
    outcome,
    searched,
    untuned,
)
from automata.simulation.table import FULL, SAVED, Complete, Floats, Way, hyperparameters
from automata.simulation.tpe import Tpe
from automata.tuning.schedulers import FINALISTS

SEARCHES = 2000
"""Simulated searches behind each mean."""
RESAMPLES, SEARCHES_EACH = 200, 50
"""Resamples of pool and seeds behind an interval, and searches in each."""
RARELY = 0.01
"""A smaller share of choices is not reported."""
AGAINST_EPOCH = (names.AUTOMATA, "rs2")
"""Selectors that are compared with one epoch on all data."""
LOSSES = (1, 2, 5)
"""Points of accuracy; the chance to lose more is reported."""
ROUNDING = 1e-9
"""Points by which a difference of two counts of rows may be off in binary: 100 x (0.88 - 0.86) is
above 2."""


def methods(
    ways: Iterable[Way], others: Iterable[str], *, repeated: bool, by_loss: bool
) -> list[Method]:
    """Return the methods that can be simulated on curves of these `ways`, FULL first.

    FULL is simulated under `others` of the schedulers, too, and can be `repeated` where there are
    trainings under several seeds; `by_loss` says whether trials are compared by their loss as well.
    """
    metrics = ("accuracy", "log_loss") if by_loss else ("accuracy",)
    subsets = [way for way in ways if way != FULL]
    return [
        Method(),
        *[Method(repeat=True)] * repeated,
        *(Method(scheduler=name) for name in others),
        Method(searches=False),
        *(Method(metric=metric, scheduler="one-epoch") for metric in metrics),
        *(
            Method(way, metric, finalists)
            for way, metric, finalists in product(subsets, metrics, (1, FINALISTS))
        ),
    ]


class Regrets(NamedTuple):
    """What a method loses against FULL's own search, in points."""

    plain: Floats
    """(d,) of the searches behind the means."""
    resampled: Floats
    """(r, k) of the k searches in each of r resamples of pool and seeds."""


class Compared(NamedTuple):
    """What comes of methods on the same searches of one data set."""

    methods: pd.DataFrame
    """A row per method."""
    chosen: pd.DataFrame
    """How often each method chooses a configuration; rare ones are left out."""
    contrasts: pd.DataFrame
    """A row per pair of methods: how much more the first loses, on the same searches."""


class Bench:
    """The curves of one data set, and the draws on which all methods are compared."""

    def __init__(self, recorded: Complete) -> None:
        """Take the curves of the data set; those of FULL are among the complete ones."""
        self.asked = asked = recorded.asked
        self.pool = hyperparameters(recorded.table, asked.pool)
        self.curves = recorded.curves
        self.seeds = len(recorded.seeds)
        generator = np.random.default_rng(derive(0, "simulated searches"))
        self._draws = (
            _draws(generator, asked, self.seeds, SEARCHES),
            _resampled(generator, asked, self.seeds),
        )
        self._latest: tuple[object, list[Searched]] = None, []

    def outcomes(self, method: Method, search: str, scheduler: str) -> list[Outcome]:
        """Return what `method` chooses: for the means, and in resamples of pool and seeds."""
        full = self.curves[FULL]
        if not method.searches:
            return [untuned(full, draws) for draws in self._draws]
        trained = self.curves[method.way]
        key = search, scheduler, method.scheduler, method.way, method.metric, method.repeat
        if key != self._latest[0]:  # the same with finalists and without, which follow each other
            propose: Proposals = drawn
            if search == "tpe":
                startup = self.asked.search.tpe.startup_configurations
                propose = Tpe(self.asked.space, self.pool, startup)
            self._latest = (
                key,
                [
                    searched(method, trained, draws, scheduler, self.asked.scheduler, propose)
                    for draws in self._draws
                ],
            )
        return [outcome(method, found, trained, full) for found in self._latest[1]]


def study(bench: Bench, search: str, scheduler: str) -> Compared:
    """Compare methods on one data set under one search and scheduler.

    Regret is in points of test accuracy: that of FULL's choice, trained on all data, minus that of
    the method's, on the same pool, in the same order, under the same seed. Trials with a warm start
    take part under schedulers that have one.
    """
    rows: list[dict[str, object]] = []
    choices: list[pd.DataFrame] = []
    regrets: dict[str, Regrets] = {}
    others = [name for name in bench.asked.schedulers if name != scheduler]
    repeated, by_loss = bench.seeds > 1, search == "random"
    warm = getattr(bench.asked.scheduler, scheduler).warm_start > 0
    ways = [way for way in bench.curves if warm or not way.warm_start]
    for method in methods(ways, others, repeated=repeated, by_loss=by_loss):
        mean, around = bench.outcomes(method, search, scheduler)
        if not rows:
            base, based = mean, around
        regrets[method.name] = lost = Regrets(
            _regret(mean, base), _regret(around, based).reshape(RESAMPLES, SEARCHES_EACH)
        )
        said = {"search": search, "scheduler": scheduler, "method": method.name}
        rows.append(
            {
                **said,
                **method.way._asdict(),
                "metric": method.metric,
                "finalists": method.finalists,
                "seeds": bench.seeds,
                **_means(lost.plain, mean, base),
                **_chances(lost),
                **_percentiles("test", around.test),
            }
        )
        choices.append(_chosen(mean, len(bench.pool)).assign(**said))
    found = pd.DataFrame(rows)
    for name, other in (("regret", names.FULL), ("excess", names.REPEAT)):
        if other in regrets:
            against = {method: (of, regrets[other]) for method, of in regrets.items()}
            found = found.join(_differences(against, name), on="method")
    pairs = _contrasts(regrets, ways)
    for place, (name, value) in enumerate((("search", search), ("scheduler", scheduler))):
        pairs.insert(place, name, value)
    return Compared(found, pd.concat(choices, ignore_index=True), pairs)


def studies(recorded: Mapping[str, Complete], processes: int = 1) -> Compared:
    """Return `study` for each data set, search and scheduler; so many `processes` simulate.

    Raises UserError if there is none.
    """
    panels = [
        (dataset, here, search, scheduler)
        for dataset, here in recorded.items()
        for search, scheduler in product(here.asked.searches, here.asked.schedulers)
    ]
    if not panels:
        kinds = ", ".join(name for name in SCHEDULERS if name not in ALL_DATA_SCHEDULERS)
        raise UserError(
            "learning_curves: no search of this configuration can be simulated; valid: searches "
            f"{', '.join(names.SEARCHES)} on the space of random search, schedulers {kinds}"
        )
    with ProcessPoolExecutor(processes) as pool:
        found = list(pool.map(_panel, *zip(*panels, strict=True)))
    return Compared(*(pd.concat(parts, ignore_index=True) for parts in zip(*found, strict=True)))


def _panel(dataset: str, recorded: Complete, search: str, scheduler: str) -> Compared:
    found = study(Bench(recorded), search, scheduler)
    for part in found:
        part.insert(0, "dataset", dataset)
    return found


def _draws(generator: np.random.Generator, asked: Simulated, seeds: int, searches: int) -> Draws:
    """Return searches that see the pool in different orders."""
    order = generator.random((searches, asked.pool)).argsort(axis=1)
    of = generator.integers(0, seeds, searches)
    return Draws(order, asked.configurations, of, (of + 1) % seeds)


def _resampled(generator: np.random.Generator, asked: Simulated, seeds: int) -> Draws:
    """Return searches in resamples of pool and seeds, those of one resample in a row."""
    parts = []
    for _ in range(RESAMPLES):
        members = generator.integers(0, asked.pool, asked.pool)
        kept = generator.integers(0, seeds, seeds)
        part = _draws(generator, asked, seeds, SEARCHES_EACH)
        parts.append((members[part.pool], kept[part.seeds], kept[part.others]))
    pools, places, others = (np.concatenate(of) for of in zip(*parts, strict=True))
    return Draws(pools, asked.configurations, places, others)


def _contrasts(regrets: Mapping[str, Regrets], ways: Collection[Way]) -> pd.DataFrame:
    """Return how much more one method loses than another, with 95 % intervals.

    Selectors are compared in the pairs of `names.CONTRASTS`, at the same fraction, and with one
    epoch; a horizon exponent with none.
    """
    usual = [way for way in ways if way == Way(way.selector, way.fraction)]
    of = {(way.selector, way.fraction): Method(way).name for way in usual}
    found = [
        (of[one, fraction], of[other, fraction])
        for one, other in names.CONTRASTS
        for fraction in sorted({way.fraction for way in usual})
        if {(one, fraction), (other, fraction)} <= of.keys()
    ]
    found += [
        (name, names.ONE_EPOCH) for (selector, _), name in of.items() if selector in AGAINST_EPOCH
    ]
    found += [
        (Method(way).name, Method(plain).name)
        for way in ways
        if way != (plain := way._replace(horizon_exponent=0.0)) and plain in ways
    ]
    if not found:
        return pd.DataFrame(columns=["method", "other"])
    pairs = pd.MultiIndex.from_tuples(found, names=["method", "other"])
    compared = {pair: (regrets[pair[0]], regrets[pair[1]]) for pair in pairs}
    return _differences(compared, "difference").set_axis(pairs).reset_index()


def _differences(pairs: Mapping[Any, tuple[Regrets, Regrets]], name: str) -> pd.DataFrame:
    """Return the mean of first less second regrets of each pair, with 95 % intervals.

    Of each pair alone, and (`all`) of all pairs at once: `comparisons` is how many differ.
    """
    means = [(one.plain - other.plain).mean() for one, other in pairs.values()]
    resampled = [(one.resampled - other.resampled).mean(axis=1) for one, other in pairs.values()]
    rows = [
        {name: mean, **_interval(name, mean, around)}
        for mean, around in zip(means, resampled, strict=True)
    ]
    found = pd.DataFrame(rows, index=[*pairs])
    half = _simultaneous(np.stack(resampled))
    found[f"{name}_all_low"] = found[name] - half
    found[f"{name}_all_high"] = found[name] + half
    return found.assign(**{f"{name}_comparisons": int((half > 0).sum())})


def _chosen(found: Outcome, pool: int) -> pd.DataFrame:
    """Return the configurations that are chosen in one of a hundred searches or more."""
    shares = np.bincount(found.chosen, minlength=pool) / len(found.chosen)
    often = [place for place in np.argsort(-shares, kind="stable") if shares[place] >= RARELY]
    return pd.DataFrame({"configuration": often, "share": shares[often]})


def _regret(found: Outcome, base: Outcome) -> Floats:
    """Return in points how much worse the chosen configurations are than those of FULL: (d,)."""
    return np.asarray(100 * (base.test - found.test))


def _simultaneous(excesses: Floats) -> Floats:
    """Return half the width of intervals that hold for all m methods at once with 95 %: (m,).

    `excesses` (m, r) are means of r bootstrap resamples: the largest deviation of any of them, in
    its standard errors, stays within the intervals in 95 % of the resamples (max-t).
    """
    apart = np.abs(excesses - excesses.mean(axis=1, keepdims=True))
    errors: Floats = excesses.std(axis=1, ddof=1)
    moves = errors > 0
    if not moves.any():
        return errors
    largest = (apart[moves] / errors[moves, None]).max(axis=0)
    return np.asarray(errors * np.percentile(largest, 95))


def _means(regret: Floats, found: Outcome, base: Outcome) -> dict[str, float]:
    return {
        "searches": len(regret),
        "regret_5th": np.percentile(regret, 5),
        "regret_95th": np.percentile(regret, 95),
        **dict(zip(SAVED, base.costs.sum(axis=1) / found.costs.sum(axis=1), strict=True)),
        "test_accuracy": found.test.mean(),
    }


def _chances(regret: Regrets) -> dict[str, float]:
    """Return the chances to lose more than so many points, with intervals."""
    found: dict[str, float] = {}
    for points in LOSSES:
        limit = points + ROUNDING
        name, mean = f"lost_{points}", float((regret.plain > limit).mean())
        ends = _interval(name, mean, (regret.resampled > limit).mean(axis=1))
        found |= {name: mean, **{end: min(max(value, 0), 1) for end, value in ends.items()}}
    return found


def _interval(name: str, mean: float, resampled: Floats) -> dict[str, float]:
    """Return the 95 % bootstrap interval around a `mean`: pool and training seeds are drawn anew.

    A resample has configurations more than once, so that fewer are tried and more is lost: what
    that adds on average is subtracted.
    """
    ends = _percentiles(name, resampled)
    return {end: mean + value - float(resampled.mean()) for end, value in ends.items()}


def _percentiles(name: str, values: Floats) -> dict[str, float]:
    """Return the central 95 % of `values`."""
    low, high = np.percentile(values, (2.5, 97.5))
    return {f"{name}_low": float(low), f"{name}_high": float(high)}
