"""Facts about an experiment: runs, machines, dates, and reasons to doubt its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from automata import names
from automata.analysis import study, wording
from automata.analysis.energy import follows_time, obtained, ways
from automata.analysis.ratios import disturbed

FLAGS = {
    "short_window": "a phase under 10 s, whose energy rests on few readings of the counters",
    "contaminated": "other work took over 10 % of the host's CPU time, and counters include it",
    "shared_gpu": "other processes used the GPU, and its energy includes theirs",
    "counter_reset": "a counter was reset, and its energy before that is lost",
    "elsewhere": "trials ran on a Ray cluster, so their energy and CPU time were not measured",
}
"""Flag of a run -> its meaning."""
SHARED = "another measured job may have run at the same time"

MACHINE = ["machine", "device", "software", "threads_per_trial", "concurrent_trials"]


def summary(runs: pd.DataFrame, ratios: pd.DataFrame, differences: pd.DataFrame) -> dict[str, Any]:
    """Return the facts of one experiment's tables; `runs` has at least one row."""
    ends = runs["started_at"] + runs["setup_seconds"] + runs["total_seconds"]
    days = pd.to_datetime([runs["started_at"].min(), ends.max()], unit="s")
    seconds = float((runs["total_seconds"] + runs["setup_seconds"]).sum())
    failed, trials = int(runs["failed_trials"].sum()), int(runs["configurations"].sum())
    estimated = runs[runs["energy_method"] == "estimated"]
    from_time = sum(follows_time(*pair) for pair in obtained(runs))
    searches = names.ordered(runs["search"], names.SEARCHES)
    schedulers = names.ordered(runs["scheduler"], names.SCHEDULERS)
    return {
        "searches": [names.search(name) for name in searches],
        "schedulers": [names.scheduler(name) for name in schedulers],
        "datasets": [names.dataset(name) for name in study.datasets(runs)],
        "fractions": [wording.percent(value) for value in study.fractions(runs)],
        "runs": len(runs),
        "selectors": [names.look(name) for name in study.selectors(runs)],
        "seeds": _seeds(runs),
        "machines": runs.groupby(MACHINE).size().reset_index(name="runs").to_dict("records"),
        "days": list(dict.fromkeys(days.strftime("%Y-%m-%d"))),
        "duration": wording.seconds(seconds),
        "energy": ways(runs),
        "estimated": {"all": from_time, "in part": len(estimated) - from_time},
        "differences": _differences(differences, runs),
        "busy": _busy(runs, ratios),
        "caveats": _caveats(runs),
        "refused": [
            (str(reason), "", sorted(group["record"]))
            for reason, group in ratios.groupby("refused", sort=True)
        ],
        "failed": f"{wording.count(failed, 'trial')} of {trials:,} failed" if failed else "",
    }


def seed_list(seeds: Iterable[int]) -> str:
    """Return distinct seeds as a list."""
    return ", ".join(map(str, sorted(map(int, set(seeds)))))


def _seeds(runs: pd.DataFrame) -> str:
    """Return the seeds of `runs`, with separate ones of `untuned` if they differ."""
    drawn = runs["selector"] == "untuned"
    searches, draws = set(runs["seed"][~drawn]), set(runs["seed"][drawn])
    texts = [seed_list(searches)] if searches else []
    return "; ".join(texts + [f"untuned: {seed_list(draws)}"] * bool(draws - searches))


def _differences(table: pd.DataFrame, runs: pd.DataFrame) -> list[dict[str, str]]:
    """Return each difference from the paper's protocol once, with its data sets."""
    settings, columns = [], ["key", "here", "paper"]
    for texts, rows in table.fillna(wording.MISSING).groupby(columns):
        own = study.datasets(rows)
        where = [names.dataset(name) for name in own] if own != study.datasets(runs) else ["all"]
        setting = dict(zip(columns, map(str, texts), strict=True))
        settings.append({**setting, "where": ", ".join(where)})
    return settings


def _busy(runs: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Return a sentence about other work on the host; "" if there was little."""
    busy = runs[disturbed(runs)]
    if busy.empty:
        return ""
    share, total = wording.percent(busy["other_cpu_share"].max()), wording.count(len(runs), "run")
    lost = int(study.compared(ratios)["speedup"].isna().sum())
    without = f"; there is no speedup of {wording.count(lost, 'run')}" * bool(lost)
    return (
        f"The machine was busy: other work took up to {share} of its CPU time during "
        f"{len(busy):,} of {total}, so their times are too long{without}."
    )


def _caveats(runs: pd.DataFrame) -> list[tuple[str, str, list[str]]]:
    """Return name, meaning and records of each flag that runs have."""
    flags = runs["flags"].fillna("").str.split()
    caveats = [
        (flag, FLAGS[flag], sorted(runs["record"][[flag in raised for raised in flags]]))
        for flag in FLAGS
    ]
    shared = sorted(runs["record"][~runs["exclusive"].astype(bool)])
    return [caveat for caveat in [*caveats, ("not exclusive", SHARED, shared)] if caveat[2]]
