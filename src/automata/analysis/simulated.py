"""Tables of simulated searches, as readers see them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import product
from operator import itemgetter
from typing import Any

import pandas as pd
import yaml

from automata import names
from automata.analysis.claims import parse_claims
from automata.analysis.claims.share import ShareClaim
from automata.analysis.statistics import SEEDS_FOR_INTERVAL
from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.analysis.wording import MISSING, bounded, percent, signed, times
from automata.config.files import DEFAULTS
from automata.config.sections import SchedulerSettings

BEST = 12
"""Methods that the table of the decision shows, besides FULL and one epoch."""

COSTS = {"samples": "speedup_samples", "CPU time": "speedup_cpu"}
"""What speedups are by, and their columns."""

WARM_STARTS = {name: it["warm_start"] for name, it in SchedulerSettings().model_dump().items()}
"""The warm start of each scheduler in the paper."""


def regrets(study: Study, scheduler: str, *, finalists: bool = False) -> pd.DataFrame:
    """Return speedups, and by data set regret with its interval and the chance to lose 2 points.

    Of random search, with trials compared by accuracy; ASHA without warm start, and with the
    paper's. Methods with `finalists` are another table.
    """
    rows = _random(read_csv(study.folder / "simulated.csv"), scheduler)
    warm = rows["warm_start"].isin([0, WARM_STARTS[scheduler]])
    plain = warm & (rows["horizon_exponent"] == 0)
    others = (rows["metric"] == "accuracy") & (rows["method"] != names.FULL)
    chosen = (rows["finalists"] > 1) == finalists
    return _told(rows[plain & others & chosen])


def horizon(study: Study) -> pd.DataFrame:
    """Return what `regrets` does, of RS2 under Hyperband by its horizon exponent.

    By accuracy and by loss, of the data sets where the exponent was recorded.
    """
    rows = _random(read_csv(study.folder / "simulated.csv"), "hyperband")
    recorded = rows.groupby("dataset")["horizon_exponent"].transform("max") > 0
    plain = (rows["finalists"] == 1) & (rows["warm_start"] == 0)
    return _told(rows[recorded & plain & (rows["selector"] == "rs2")])


def _told(rows: pd.DataFrame) -> pd.DataFrame:
    lines = []
    for method, found in rows.groupby("method", sort=False):
        line = {"method": _called(str(method))}
        for by, column in COSTS.items():
            ends = times(found[column].min()), times(found[column].max())
            line[f"speedup by {by}"] = " to ".join(dict.fromkeys(ends))
        for row in found.to_dict("records"):
            line[names.dataset(row["dataset"])] = f"{_regret(row)}; {percent(row['lost_2'])}"
        lines.append(line)
    return _by_dataset(lines, rows)


def decision(study: Study) -> pd.DataFrame:
    """Return FULL, one epoch, and the ways that pass on most data sets, under Hyperband."""
    rows = _random(read_csv(study.folder / "decision.csv"), "hyperband").fillna("")
    own = rows["method"].str.match(f"{names.FULL}|{names.ONE_EPOCH}")
    rows = pd.concat([rows[own], rows[~own].head(BEST)])
    return pd.DataFrame(
        {
            "method": rows["method"].map(_called),
            "speedup": rows["speedup"].map(times),
            "largest bound (points)": rows["most_excess"].map(signed),
            "passes on": rows["passes"],
            "fails on": rows["fails_on"].map(_listed),
            "not tested on": rows["untested"].map(_listed),
        }
    )


def _listed(datasets: str) -> str:
    return ", ".join(map(names.dataset, datasets.split()))


def chosen(study: Study) -> pd.DataFrame:
    """Return the median learning rate that FULL, one epoch and subsets choose, under Hyperband."""
    pools = read_csv(study.folder / "pool.csv")
    rates = pools["hyperparameters"].map(json.loads).map(itemgetter("learning_rate"))
    choices = read_csv(study.folder / "chosen.csv").merge(
        pools.assign(rate=rates), on=["dataset", "configuration"]
    )
    rows = _random(choices, "hyperband").sort_values("rate")
    shown = [names.FULL, names.ONE_EPOCH]
    shown += [f"{selector} {size} %" for selector in ("rs2", names.AUTOMATA) for size in (1, 10)]
    lines = {method: {"method": _called(method)} for method in shown}
    for (dataset, method), found in rows[rows["method"].isin(shown)].groupby(["dataset", "method"]):
        half = found["share"].cumsum() >= found["share"].sum() / 2
        lines[str(method)][names.dataset(str(dataset))] = f"{found.loc[half, 'rate'].iloc[0]:.2g}"
    return _by_dataset(lines.values(), rows)


def validation(study: Study) -> pd.DataFrame:
    """Return how many real searches lie in the central 95 % of the simulated ones.

    Those that proposed the pool stand apart.
    """
    rows = read_csv(study.folder / "validation.csv")
    others = rows[~rows["from_pool"]]
    keys = ["dataset", "search", "scheduler"]
    lines = []
    for key, found in rows.groupby(keys, sort=True):
        new = others[(others[keys] == list(key)).all(axis=1)]["inside"]
        pool = found[found["from_pool"]]["inside"]
        lines.append(
            {
                **dict(zip(keys, key, strict=True)),
                "searches": len(new),
                "inside": percent(new.mean()) if len(new) else MISSING,
                "from the pool": f"{pool.sum()} of {len(pool)}" if len(pool) else MISSING,
            }
        )
    return pd.DataFrame(lines)


def real(study: Study) -> pd.DataFrame:
    """Return what real searches lose against FULL's: their mean and range over seeds.

    By data set, with the speedup by CPU time; searches may have run side by side.
    """
    runs = study.runs
    one_epoch = (runs["scheduler"] == "one-epoch") & (runs["selector"] != "untuned")
    full = runs[(runs["selector"] == "full") & ~one_epoch]
    subset = runs["selector"] + " " + runs["fraction"].map(percent)
    method = subset.where(runs["selector"] != "untuned", "untuned").mask(one_epoch, names.ONE_EPOCH)
    others = runs.assign(method=method).drop(full.index)
    pairs = others.merge(full, on=["dataset", "search", "seed"], suffixes=("", "_full"))
    lost = 100 * (pairs["test_accuracy_full"] - pairs["test_accuracy"])
    pairs = pairs.assign(lost=lost, speedup=pairs["cpu_seconds_full"] / pairs["cpu_seconds"])
    lines: dict[str, dict[str, str]] = {}
    for key, found in pairs.groupby(["method", "dataset"]):
        name, dataset = map(str, key)
        told = map(signed, found["lost"].agg(["mean", "min", "max"]))
        line = lines.setdefault(name, {"method": _called(name)})
        line[names.dataset(dataset)] = f"{bounded(*told)}; {times(found['speedup'].mean())}"
    return _by_dataset(lines.values(), pairs)


def noise(study: Study) -> pd.DataFrame:
    """Return how far two trainings of one configuration differ by their seed, in points."""
    rows = read_csv(study.folder / "noise.csv")
    scores = {name: rows[name].map("{:.2f}".format) for name in ("validation", "test", "best")}
    return rows.assign(**scores).rename(columns={"best": "test, best quarter"})


def correlations(study: Study) -> pd.DataFrame:
    """Return Kendall's tau of scores at each rung with FULL's at T, and its ceiling.

    Of FULL, RS2 and AUTOMATA, by accuracy.
    """
    rows = read_csv(study.folder / "rank-correlation.csv")
    usual = (rows["warm_start"] == 0) & (rows["horizon_exponent"] == 0)
    some = rows[usual & (rows["metric"] == "accuracy")]
    some = some[some["selector"].isin(["full", "rs2", names.AUTOMATA])]
    lines = []
    for (dataset, method), found in some.groupby(["dataset", "method"], sort=False):
        taus = [f"{tau:.2f}" for tau in found.sort_values("epoch")["tau"]]
        lines.append(
            {
                "dataset": dataset,
                "method": _called(str(method)),
                "epochs": " ".join(map(str, sorted(found["epoch"]))),
                "tau": " ".join(taus),
                "ceiling": f"{found['ceiling'].iloc[0]:.2f}",
            }
        )
    return pd.DataFrame(lines)


def claims(study: Study) -> pd.DataFrame:
    """Return what the simulated searches say of claims about speedups and losses of AUTOMATA.

    By samples, and by CPU time. Means and bounds stand where those over seeds do of real runs.
    ASHA has the paper's warm start.
    """
    rows = read_csv(study.folder / "simulated.csv")
    warm = rows["warm_start"] == rows["scheduler"].map(WARM_STARTS)
    plain = warm & (rows["horizon_exponent"] == 0)
    usual = (rows["metric"] == "accuracy") & (rows["finalists"] == 1)
    losses = {f"relative_test_error{end}": rows[f"regret{end}"] for end in ("", "_low", "_high")}
    means = rows.assign(**losses, seeds=SEEDS_FOR_INTERVAL)[plain & usual]
    file = DEFAULTS.with_name("claims.yaml")
    told = parse_claims(yaml.safe_load(file.read_text()), file).items()
    speedups = {
        name: claim
        for name, claim in told
        if isinstance(claim, ShareClaim) and claim.comparison == "reaches"
        if claim.quantity == "speedup" and len(claim.grid.panels) > 1
    }
    lines = []
    for (name, claim), (by, column) in product(speedups.items(), COSTS.items()):
        ends = ("speedup", "speedup_low", "speedup_high")
        table = means.assign(**dict.fromkeys(ends, means[column]))
        subsets = claim.grid.subsets(table, [names.AUTOMATA])
        if subsets.empty:
            continue
        simulated = Study(study.folder)
        simulated.__dict__["tradeoff"] = table
        finding = claim.check(simulated)
        closest = (claim.closest(panel.rows(subsets)) for panel in finding.panels)
        weakest = max(closest, key=itemgetter("regret"))
        where = f"{names.dataset(weakest['dataset'])}, {percent(weakest['fraction'])}"
        lines.append(
            {
                "id": name,
                "location": claim.location,
                "by": by,
                "verdict": finding.verdict,
                "firm": finding.firm,
                "simulated": finding.ours,
                "weakest panel": f"{where}: {times(weakest['speedup'])}, {_regret(weakest)}",
                "panels": f"{len(finding.panels)} of {finding.of}",
            }
        )
    return pd.DataFrame(lines)


def contrasts(study: Study) -> pd.DataFrame:
    """Return how much more AUTOMATA loses than other methods, under random search and Hyperband.

    With the interval that holds for all pairs of a data set at once.
    """
    rows = _random(read_csv(study.folder / "contrasts.csv"), "hyperband")
    own = rows[rows["method"].str.startswith(names.AUTOMATA)]
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in own.to_dict("records"):
        pair = row["method"], row["other"]
        line = lines.setdefault(
            pair, dict(zip(("method", "compared with"), map(_called, pair), strict=True))
        )
        middle, low, high = (
            signed(row[f"difference{end}"]) for end in ("", "_all_low", "_all_high")
        )
        line[names.dataset(row["dataset"])] = bounded(middle, low, high)
    return _by_dataset(lines.values(), rows)


def _by_dataset(lines: Iterable[Mapping[str, str]], rows: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose last columns are the data sets of `rows`, in order."""
    found = pd.DataFrame([*lines])
    order = [names.dataset(name) for name in names.ordered(rows["dataset"], names.DATASETS)]
    last = [name for name in order if name in found]
    return found[[*found.columns.difference(last, sort=False), *last]]


def _random(rows: pd.DataFrame, scheduler: str) -> pd.DataFrame:
    return rows[(rows["search"] == "random") & (rows["scheduler"] == scheduler)]


def _regret(row: Mapping[Any, Any] | pd.Series[Any]) -> str:
    """Return the mean and its interval; of FULL's repeat, whose mean is 0, 90 % of its searches."""
    ends = ("_5th", "_95th") if row["method"] == names.REPEAT else ("_low", "_high")
    return bounded(*(signed(row[f"regret{end}"]) for end in ("", *ends)))


def _called(method: str) -> str:
    """Return what readers call a method: its selector stands first, if it has one."""
    selector, _, rest = method.partition(" ")
    known = selector in names.METHODS and rest[:1].isdigit()
    return f"{names.selector(selector)} {rest}" if known else method
