"""Tables of simulated searches, as readers see them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd
import yaml

from automata import names
from automata.analysis.claims import parse_claims
from automata.analysis.claims.by_panel import RangeClaim
from automata.analysis.statistics import SEEDS_FOR_INTERVAL
from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.analysis.wording import signed, times
from automata.config.files import DEFAULTS

COSTS = {"samples": "speedup_samples", "CPU time": "speedup_cpu"}
"""What speedups are by, and their columns."""

METHODS = (
    *(names.REPEAT, names.UNTUNED, f"{names.FULL}, {names.scheduler('asha')}", names.ONE_EPOCH),
    *(f"{selector} {size} %" for selector in ("rs2", names.AUTOMATA) for size in (10, 5, 1)),
    *("random 1 %", "rs2 1 %, beta 0.5"),
)
"""The methods of the table of regrets, in its order."""


def regrets(study: Study) -> pd.DataFrame:
    """Return speedups, and by data set the mean regret with its interval, under Hyperband."""
    rows = _under_hyperband(study)
    datasets = names.ordered(rows["dataset"], names.DATASETS)
    lines = []
    for method in METHODS:
        found = rows[rows["method"] == method]
        if found.empty:
            continue
        line = {"method": _name(method)}
        for by, column in COSTS.items():
            ends = times(found[column].min()), times(found[column].max())
            line[f"by {by}"] = "\N{EN DASH}".join(dict.fromkeys(ends))
        cells = {row["dataset"]: _regret(row) for row in found.to_dict("records")}
        line |= {names.dataset(dataset): cells.get(dataset, "") for dataset in datasets}
        lines.append(line | {"worst mean": signed(found["regret"].max())})
    return pd.DataFrame(lines)


def certainty(study: Study) -> pd.DataFrame:
    """Return how far two trainings differ by their seed, and the usual width of an interval.

    The width is half of the 95 % interval of the mean regret: the median over METHODS.
    """
    noise = read_csv(study.folder / "noise.csv")
    rows = _under_hyperband(study)
    rows = rows[rows["method"].isin(METHODS) & (rows["method"] != names.REPEAT)]
    half = (rows["regret_high"] - rows["regret_low"]) / 2
    half = half.groupby(rows["dataset"]).median()
    order = names.ordered(noise["dataset"], names.DATASETS)
    lines = noise.set_index("dataset").loc[order].assign(half=half)
    lines.index = lines.index.map(names.dataset)
    numbers = {name: lines[name].map("{:.2f}".format) for name in ("test", "best", "half")}
    called = {
        "seeds": "training seeds",
        "test": "two trainings",
        "best": "two trainings, best quarter",
        "half": "half an interval",
    }
    return lines.assign(**numbers).reset_index()[["dataset", *called]].rename(columns=called)


def claims(study: Study) -> pd.DataFrame:
    """Return what the simulated searches say of claims about speedups and losses of AUTOMATA.

    By samples, and by CPU time. Means and bounds stand where those over seeds do of real runs.
    ASHA has no warm start.
    """
    rows = read_csv(study.folder / "simulated.csv")
    usual = (rows["metric"] == "accuracy") & (rows["finalists"] == 1)
    plain = (rows["warm_start"] == 0) & (rows["horizon_exponent"] == 0)
    losses = {f"relative_test_error{end}": rows[f"regret{end}"] for end in ("", "_low", "_high")}
    means = rows.assign(**losses, seeds=SEEDS_FOR_INTERVAL)[plain & usual]
    file = DEFAULTS.with_name("claims.yaml")
    parsed = parse_claims(yaml.safe_load(file.read_text()), file).items()
    speedups = {
        name: claim
        for name, claim in parsed
        if type(claim) is RangeClaim and claim.quantity == "speedup"
    }
    lines = []
    for (name, claim), (by, column) in product(speedups.items(), COSTS.items()):
        ends = ("speedup", "speedup_low", "speedup_high")
        table = means.assign(**dict.fromkeys(ends, means[column]))
        if claim.grid.subsets(table, [names.AUTOMATA]).empty:
            continue
        simulated = Study(study.folder)
        simulated.__dict__["tradeoff"] = table
        finding = claim.check(simulated)
        line = {"id": name, "location": claim.location, "by": by}
        lines.append(line | {"verdict": finding.verdict, "simulated": finding.ours})
    return pd.DataFrame(lines)


def _under_hyperband(study: Study) -> pd.DataFrame:
    rows = read_csv(study.folder / "simulated.csv")
    return rows[(rows["search"] == "random") & (rows["scheduler"] == "hyperband")]


def _regret(row: Mapping[Any, Any] | pd.Series[Any]) -> str:
    """Return the mean and its interval; of FULL's repeat, whose mean is 0, 90 % of its searches."""
    ends = ("_5th", "_95th") if row["method"] == names.REPEAT else ("_low", "_high")
    mean, low, high = (signed(row[f"regret{end}"]) for end in ("", *ends))
    return f"{mean} ({low}, {high})"


def _name(method: str) -> str:
    """Return what readers call a method: its selector stands first, if it has one."""
    selector, _, rest = method.partition(" ")
    known = selector in names.METHODS and rest[:1].isdigit()
    return f"{names.selector(selector)} {rest}" if known else method
