"""Tables of simulated searches, as readers see them."""

from __future__ import annotations

import pandas as pd

from automata import names
from automata.analysis.study import Study
from automata.analysis.tables import read_csv
from automata.analysis.wording import percent, signed, times

BEST = 12
"""Methods that the table of the decision shows, besides one epoch."""


def regrets(study: Study, scheduler: str) -> pd.DataFrame:
    """Return regret, its interval and the chance to lose more than 2 points, by data set.

    Of random search; without warm start, and with trials compared by accuracy.
    """
    rows = _random(read_csv(study.folder / "simulated.csv"), scheduler)
    plain = (rows["warm_start"] == 0) & ~rows["method"].str.contains("by loss|^FULL$")
    shown: dict[str, dict[str, str]] = {}
    for row in rows[plain].to_dict("records"):
        line = shown.setdefault(row["method"], {"method": row["method"]})
        line.setdefault("speedup", times(row["speedup_samples"]))
        bounds = [row[f"regret_{end}"] for end in ("low", "high")]
        regret = f"{signed(row['regret'])} ({signed(bounds[0])} to {signed(bounds[1])})"
        line[names.dataset(row["dataset"])] = f"{regret}; {percent(row['lost_2'])}"
    return pd.DataFrame(shown.values())


def decision(study: Study) -> pd.DataFrame:
    """Return the ways of tuning under Hyperband that fail least, and one epoch: the fastest first.

    With the data sets on which each is inferior to FULL's repeat.
    """
    rows = _random(read_csv(study.folder / "decision.csv"), "hyperband")
    shown = (rows.index < rows.index[0] + BEST) | rows["method"].str.startswith("one epoch")
    rows = rows[shown]
    failing = rows["fails_on"].fillna("").str.split()
    return pd.DataFrame(
        {
            "method": rows["method"],
            "speedup": rows["speedup"].map(times),
            "largest bound (points)": rows["most_excess"].map(signed),
            "fails on": failing.map(lambda names_of: ", ".join(map(names.dataset, names_of))),
        }
    )


def validation(study: Study) -> pd.DataFrame:
    """Return how many real searches lie in the central 95 % of the simulated ones."""
    rows = read_csv(study.folder / "validation.csv")
    found = rows.groupby(["dataset", "search", "scheduler"])["inside"].agg(["size", "mean"])
    return (
        found.reset_index()
        .rename(columns={"size": "searches"})
        .assign(inside=found["mean"].map(percent).to_list())
        .drop(columns="mean")
    )


def noise(study: Study) -> pd.DataFrame:
    """Return how far two trainings of one configuration differ by their seed, in points."""
    rows = read_csv(study.folder / "noise.csv")
    scores = {name: rows[name].map("{:.2f}".format) for name in ("validation", "test")}
    return rows.assign(**scores)


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
                "method": method,
                "epochs": " ".join(map(str, sorted(found["epoch"]))),
                "tau": " ".join(taus),
                "ceiling": f"{found['ceiling'].iloc[0]:.2f}",
            }
        )
    return pd.DataFrame(lines)


def _random(rows: pd.DataFrame, scheduler: str) -> pd.DataFrame:
    return rows[(rows["search"] == "random") & (rows["scheduler"] == scheduler)]
