"""Differences between the protocol of an experiment and the paper's (config/paper.yaml)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from automata.analysis.energy import ways
from automata.analysis.study import PANEL, Panel, panel_of_each
from automata.config.experiment import Experiment
from automata.config.job import settings_of

COLUMNS = [*PANEL, "key", "here", "paper"]

NOT_IN_THE_PAPER = "not in the paper"
PAPER_DEVICE = "RTX 1080, RTX 2080 or V100"
"""The paper's GPUs (its appendix, "More Experimental Details")."""

MACHINE = ("device", "threads_per_trial", "gpu_per_trial")
"""Settings of the machine; they do not belong to the protocol."""

SELECTED = ("full", "random", "craig", "gradmatch")
"""Selectors that the paper ran."""

Settings = dict[str, Any]


def differences(
    runs: pd.DataFrame, protocols: dict[str, Settings], paper: Iterable[Experiment]
) -> pd.DataFrame:
    """Return a row per panel and setting that differs from the paper.

    `protocols` has the settings for each `protocol_hash` of the runs; `paper` has the experiments
    of config/paper.yaml. A data set that the paper does not use has one row. Preparation has
    already checked the number of training rows.
    """
    experiments = {dataset: config for config in paper for dataset in config.datasets}
    rows = []
    for key, group in runs[runs["selector"].isin(SELECTED)].groupby(PANEL, sort=True):
        panel = Panel(*map(str, key))
        theirs = experiments.get(panel.dataset)
        if theirs is None:
            rows.append([*key, "data set", panel.dataset, NOT_IN_THE_PAPER])
        else:
            ours = [protocols[name] for name in group["protocol_hash"].unique()]
            rows += [[*key, *sides] for sides in _setting_differences(panel, ours, theirs)]
            rows += [[*key, *sides] for sides in _run_differences(group, theirs)]
    return pd.DataFrame(rows, columns=COLUMNS)


def in_words(differing: pd.DataFrame, panels: Sequence[Panel]) -> str:
    """Return the differences of `panels` as one line, or "none"."""
    inside = [panel in set(panels) for panel in panel_of_each(differing)]
    rows = differing[pd.Series(inside, index=differing.index, dtype=bool)]
    parts = []
    for key, group in rows.groupby("key", sort=False):
        here, paper = (" or ".join(map(str, group[side].unique())) for side in ("here", "paper"))
        count = len(set(panel_of_each(group)))
        where = f" in {count} of {len(panels)} panels" if count < len(panels) else ""
        other = paper if paper == NOT_IN_THE_PAPER else f"paper: {paper}"
        parts.append(f"{key} {here} ({other}){where}")
    return ", ".join(parts) or "none"


def _setting_differences(
    panel: Panel, ours: list[Settings], theirs: Experiment
) -> Iterator[tuple[str, str, str]]:
    """Yield key, our value and the paper's value of each setting that differs."""
    if panel.search not in theirs.searches:
        yield "search", panel.search, ", ".join(theirs.searches)
    if panel.scheduler not in theirs.schedulers:
        yield "scheduler", panel.scheduler, ", ".join(theirs.schedulers)
    settings = settings_of(theirs, *panel, "gradmatch")
    paper = _protocol(settings.model_dump(mode="json"), panel)
    here = [_protocol(each, panel) for each in ours]
    for key in sorted({key for protocol in [*here, paper] for key in protocol}):
        values = [protocol.get(key) for protocol in here]
        if any(value != paper.get(key) for value in values):
            yield key, " or ".join(dict.fromkeys(map(_readable, values))), _readable(paper.get(key))


def _run_differences(runs: pd.DataFrame, theirs: Experiment) -> Iterator[tuple[str, str, str]]:
    """Yield the same for device, fractions, seeds and energy."""
    devices = sorted(runs["device"].unique())
    if not all(any(part in name for part in ("1080", "2080", "V100")) for name in devices):
        yield "device", ", ".join(devices), PAPER_DEVICE
    subsets = sorted(runs.loc[runs["selector"] != "full", "fraction"].unique())
    if subsets != sorted(theirs.fractions):
        yield "fractions", _readable(subsets), _readable(sorted(theirs.fractions))
    if runs["seed"].nunique() != len(theirs.seeds):
        yield "seeds", str(runs["seed"].nunique()), str(len(theirs.seeds))
    if (runs["energy_method"] != "measured").any():
        yield "energy", ways(runs), "measured"


def _protocol(settings: Settings, panel: Panel) -> Settings:
    """Return the settings that define the tuning and training of a panel, under readable keys."""
    protocol = dict(settings["protocol"])
    space = protocol.pop("search_space")
    data = settings["data"]
    facts = {
        **protocol,
        **{f"search space of {name}": domain for name, domain in space.items()},
        **(settings["search"].get(panel.search) or {}),
        **(settings["scheduler"].get(panel.scheduler) or {}),
        **{key: value for key, value in settings["compute"].items() if key not in MACHINE},
        "neutral sentences": data.get("sst2_neutral"),
    }
    if data.get("vectors"):
        source = data["vectors"]["source"]
        facts["word vectors"] = PurePath(source).name if source else "random"  # folders may differ
        facts["dimension of word vectors"] = data["vectors"]["dimension"]
    # A tuned hyper-parameter has no fixed value.
    return {key: value for key, value in facts.items() if key not in space}


def _readable(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        parts = [f"{key} {_readable(part)}" for key, part in value.items() if part is not None]
        return " ".join(parts)
    if isinstance(value, list):
        return ", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value)
