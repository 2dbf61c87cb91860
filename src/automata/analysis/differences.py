"""Where the protocol of an experiment differs from the paper's.

The paper's own settings are those of `config/paper.yaml`; nothing of them is repeated here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import pandas as pd

from automata.analysis.energy import how_measured
from automata.analysis.study import PANEL, Panel, panel_of_each
from automata.config.experiment import Experiment
from automata.config.job import settings_of

COLUMNS = [*PANEL, "key", "here", "paper"]

NOT_IN_THE_PAPER = "not in the paper"

PAPER_DEVICE = "RTX 1080, RTX 2080 or V100"
"""The GPUs of the paper's servers (its appendix, 'More Experimental Details')."""

MACHINE = ("device", "threads_per_trial", "gpu_per_trial")
"""Settings of a machine, which say nothing of how an experiment was done."""

SELECTED = ("full", "random", "craig", "gradmatch")
"""The selectors that the paper ran."""

Config = dict[str, Any]
"""The settings of a run, as a record has them."""

Row = tuple[str, str, str]
"""A key, and what it is here and in the paper."""

Facts = dict[str, Any]
"""Readable keys of the settings of one panel, and their values."""


def differences(
    runs: pd.DataFrame,
    protocols: dict[str, Any],
    paper: Iterable[Experiment],
) -> pd.DataFrame:
    """Return a row per panel and setting in which `runs` differ from the paper.

    `runs` is the table of `automata collect`, `protocols` its settings by hash, and `paper` the
    experiments of config/paper.yaml. Besides the settings, the rows are about the device, how
    energy was obtained (the paper: measured by pyJoules), the fractions and the number of seeds;
    rows cannot differ, as preparation checks their number. A data set that the paper does not
    have has one row, which says so.
    """
    experiments = {dataset: config for config in paper for dataset in config.datasets}
    rows = []
    for key, group in runs[runs["selector"].isin(SELECTED)].groupby(PANEL, sort=True):
        panel = Panel(*map(str, key))
        theirs = experiments.get(panel.dataset)
        if theirs is None:
            rows.append([*key, "data set", panel.dataset, NOT_IN_THE_PAPER])
            continue
        settings = settings_of(theirs, *panel, "gradmatch")
        expected = settings.model_dump(mode="json", exclude={"selector", "metering"})
        hashes = group["protocol_hash"].unique()
        found = [protocols[name] for name in hashes if name in protocols]
        differing = [
            *([("settings", "not known", "known")] if len(found) < len(hashes) else []),
            *_of_axes(panel, theirs),
            *_of_settings(panel, found, expected),
            *_of_grid(group, theirs),
        ]
        rows += [[*key, *row] for row in differing]
    return pd.DataFrame(rows, columns=COLUMNS)


def in_words(differing: pd.DataFrame, panels: Sequence[Panel]) -> str:
    """Return the rows of `panels` in the table of `differences` as a line for readers.

    A setting that does not differ in all of them says in how many; "none" if there is nothing.
    """
    inside = [panel in set(panels) for panel in panel_of_each(differing)]
    rows = differing[pd.Series(inside, index=differing.index, dtype=bool)]
    parts = []
    for key, group in rows.groupby("key", sort=False):
        here, there = (" or ".join(map(str, group[side].unique())) for side in ("here", "paper"))
        count = len(set(panel_of_each(group)))
        where = f" in {count} of {len(panels)} panels" if count < len(panels) else ""
        paper = there if there == NOT_IN_THE_PAPER else f"paper: {there}"
        parts.append(f"{key} {here} ({paper}){where}")
    return ", ".join(parts) or "none"


def _of_axes(panel: Panel, theirs: Experiment) -> list[Row]:
    """Return what the paper did not run of a panel's search and scheduler."""
    sides = [
        ("search", panel.search, theirs.searches),
        ("scheduler", panel.scheduler, theirs.schedulers),
    ]
    return [(axis, here, ", ".join(ran)) for axis, here, ran in sides if here not in ran]


def _of_settings(panel: Panel, found: list[Config], expected: Config) -> list[Row]:
    """Return in which settings those that were `found` are not as `expected`."""
    ours, paper = [_facts(settings, panel) for settings in found], _facts(expected, panel)
    rows = []
    for key in sorted({key for facts in [*ours, paper] for key in facts}):
        values = [facts.get(key) for facts in ours]
        if any(value != paper.get(key) for value in values):
            here = " or ".join(dict.fromkeys(_readable(value) for value in values))
            rows.append((key, here, _readable(paper.get(key))))
    return rows


def _of_grid(group: pd.DataFrame, theirs: Experiment) -> list[Row]:
    """Return what differs in what the table of runs itself says."""
    devices = sorted(group["device"].unique())
    energy = group[["energy_method", "energy_source"]].drop_duplicates()
    theirs_too = all(any(part in name for part in ("1080", "2080", "V100")) for name in devices)
    subsets = sorted(group.loc[group["selector"] != "full", "fraction"].unique())
    sides = [
        ("fractions", _listed(subsets), _listed(sorted(theirs.fractions))),
        ("seeds", str(group["seed"].nunique()), str(len(theirs.seeds))),
    ]
    if (energy["energy_method"] != "measured").any():
        words = (how_measured(*map(_text, pair)) for pair in energy.itertuples(index=False))
        sides.append(("energy", " or ".join(dict.fromkeys(words)), "measured"))
    if not theirs_too:
        sides.insert(0, ("device", ", ".join(devices), PAPER_DEVICE))
    return [side for side in sides if side[1] != side[2]]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _facts(settings: dict[str, Any], panel: Panel) -> Facts:
    """Return the settings that say how a panel was tuned and trained, under readable keys."""
    _, search, scheduler = panel
    protocol = dict(settings["protocol"])
    space = protocol.pop("search_space")
    compute = {key: value for key, value in settings["compute"].items() if key not in MACHINE}
    data = settings["data"]
    facts = {
        **protocol,
        **{f"search space of {name}": domain for name, domain in space.items()},
        **(settings["search"].get(search) or {}),
        **(settings["scheduler"].get(scheduler) or {}),
        **compute,
        "neutral sentences": data.get("sst2_neutral"),
    }
    if data.get("vectors"):
        source = data["vectors"]["source"]
        # The same file may lie elsewhere.
        facts["word vectors"] = PurePath(source).name if source else "random"
        facts["dimension of word vectors"] = data["vectors"]["dimension"]
    # What is tuned has no fixed value.
    return {key: value for key, value in facts.items() if key not in space}


def _readable(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        given = {key: part for key, part in value.items() if part is not None}
        return " ".join(f"{key} {_readable(part)}" for key, part in given.items())
    if isinstance(value, list):
        return _listed(value)
    return value if isinstance(value, str) else json.dumps(value)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)
