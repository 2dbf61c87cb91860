"""The part of a configuration that one run reads. The standard library alone."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from automata.datasets.catalog import DATASETS

Config = dict[str, Any]


def kind_of(config: Config, dataset: str) -> str:
    """Return the kind of a data set, which names its protocol."""
    own = config.get("own_datasets") or {}
    return str(own[dataset]["kind"]) if dataset in own else DATASETS[dataset].kind


def settings_of(config: Config, dataset: str, search: str, scheduler: str, selector: str) -> Config:
    """Return exactly the settings that a run reads: a change of them repeats it."""
    return {
        "protocol": under_search(config["protocol"][kind_of(config, dataset)], search),
        "data": preparation_of(config, dataset),
        "search": _pick(config["search"], search),
        "scheduler": _pick(config["scheduler"], scheduler),
        "selector": _pick(config["selector"], selector),
        "compute": config["compute"],
        "metering": config["metering"],
    }


def preparation_of(config: Config, dataset: str) -> Config:
    """Return the settings that decide what is in the prepared file of a data set."""
    settings: Config = {}
    if kind_of(config, dataset) == "text":
        settings["vectors"] = config["data"]["vectors"]
    if dataset == "sst2":
        settings["sst2_neutral"] = config["data"]["sst2_neutral"]
    if dataset in (config.get("own_datasets") or {}):
        settings["own"] = config["own_datasets"][dataset]
    return settings


def fingerprint(settings: Config) -> str:
    """Return eight hexadecimal digits that other settings would almost surely not have."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]


def under_search(protocol: Config, search: str) -> Config:
    """Return the protocol of a kind as it is under one search algorithm."""
    base = {key: value for key, value in protocol.items() if key != "for_search"}
    change = (protocol.get("for_search") or {}).get(search) or {}
    return {
        **base,
        "configurations": change.get("configurations") or base["configurations"],
        "search_space": {**base["search_space"], **(change.get("search_space") or {})},
    }


def _pick(section: Config, name: str) -> Config:
    """Return the part of a section that is about `name`; some names have no settings."""
    return {key: value for key, value in section.items() if key == name}
