"""The project's own methods and models, by name, and how they are imported.

Registries name things by "module:attribute", so that naming a thing does not import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from automata.errors import UserError

Kind = Literal["tabular", "text", "image"]
"""The kinds of data."""

SEARCHES: dict[str, str] = {
    "random": "automata.tuning.searchers:RandomSearch",
    "tpe": "automata.tuning.searchers:tpe_search",
}

SCHEDULERS: dict[str, str] = {
    "hyperband": "automata.tuning.schedulers:Hyperband",
    "asha": "automata.tuning.schedulers:Asha",
    "sha": "automata.tuning.schedulers:SuccessiveHalving",
    "one-epoch": "automata.tuning.schedulers:OneEpoch",
    "none": "automata.tuning.schedulers:NoScheduler",
}

ALL_DATA = ("one-epoch",)
"""Schedulers whose trials train on all data: the one that reaches T is the result."""

SELECTORS: dict[str, str] = {
    "random": "automata.selection.random:FixedRandom",
    "adaptive-random": "automata.selection.random:AdaptiveRandom",
    "rs2": "automata.selection.random:RepeatedRandom",
    "craig": "automata.selection.craig:Craig",
    "gradmatch": "automata.selection.gradmatch:GradMatch",
    "gradmatch-adaptive": "automata.selection.adaptive:AdaptiveGradMatch",
    "glister": "automata.selection.glister:Glister",
}


@dataclass(frozen=True)
class Control:
    """A condition without a selector, on the axis `selectors`: trials see all data, or none."""

    fraction: int
    """The share of the data that trials see; stands for the subset size in paths and tables."""
    stream: str = "training"
    """The random stream of initial weights and mini-batches."""

    @property
    def searches(self) -> bool:
        """Whether trials train at all."""
        return self.fraction > 0


CONTROLS = {
    "full": Control(1),
    "full-again": Control(1, stream="training again"),
    "untuned": Control(0),
}
"""FULL tunes on all data; its repeat differs in initial weights and mini-batches alone: how far two
runs of FULL differ. `untuned` draws one configuration at random and trains it once on all data."""

METHODS: dict[str, list[str]] = {
    "search": [*SEARCHES],
    "scheduler": [*SCHEDULERS],
    "selector": [*CONTROLS, *SELECTORS],
}
"""The names of the project's own methods."""


@dataclass(frozen=True)
class ModelSpec:
    """A model that ships with the project."""

    factory: str
    kind: Kind
    hyperparameters: tuple[str, ...] = ()
    """Those that the search space must have, besides what every training needs."""
    optional: tuple[str, ...] = ()
    """Those that it may have."""


_RATES = ("lr1", "lr2", "lr3", "lr4")

MODELS: dict[str, ModelSpec] = {
    "mlp": ModelSpec("automata.models.mlp:build", "tabular", ("hidden1", "hidden2")),
    "lstm": ModelSpec("automata.models.lstm:build", "text", ("hidden",), ("layers",)),
    "resnet18": ModelSpec("automata.models.resnet:build18", "image", optional=_RATES),
    "resnet50": ModelSpec("automata.models.resnet:build50", "image", optional=_RATES),
}

TARGET = r"^\w+(\.\w+)*:\w+$"
"""What "module:attribute" looks like."""

OWN = {"search": "own_searches", "scheduler": "own_schedulers", "selector": "own_selectors"}
"""The keys of a configuration that name methods of the user's own, by what they are."""

MEMBERS = {
    "search": ("blind", "suggest", "on_trial_complete"),
    "scheduler": ("pauses", "furthest", "rungs", "proposals", "judge"),
    "selector": ("cadence", "select"),
}
"""What they need: see the protocols `Proposer`, `Scheduler` and `Selector`."""


def imported(target: str) -> Any:
    """Import and return "module:attribute"."""
    module, attribute = target.split(":")
    return getattr(import_module(module), attribute)


def load(registry: Mapping[str, str], name: str) -> Any:
    """Import and return what `registry` has under `name`; raises KeyError for other names."""
    return imported(registry[name])


def load_own(target: str, key: str) -> Any:
    """Return a function or class of the user's; UserError, which names `key`, if there is none."""
    name, attribute = target.split(":")
    try:
        module = import_module(name)
    except Exception as error:  # whatever a user's module does when it is imported
        raise UserError(
            f"{key}: cannot import {name}: {reason(error)} "
            "(searched: the working directory, PYTHONPATH)"
        ) from error
    if not callable(getattr(module, attribute, None)):
        own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == name]
        raise UserError(f"{key}: {name} has no function {attribute}; it has {', '.join(own)}")
    return getattr(module, attribute)


def make(
    kind: str,
    name: str,
    registry: Mapping[str, str],
    own: Mapping[str, str],
    *arguments: Any,
    **keywords: Any,
) -> Any:
    """Return the search, scheduler or selector `name`; UserError for one of `own` that is none."""
    target = own.get(kind)
    if target is None:
        return load(registry, name)(*arguments, **keywords)
    key = f"{OWN[kind]}.{name}: {target}"
    factory = load_own(target, key)
    try:
        made = factory(*arguments, **keywords)
    except Exception as error:  # whatever a user's code does
        raise UserError(f"{key}: failed with {reason(error)}") from error
    for member in MEMBERS[kind]:
        if not hasattr(made, member):
            raise UserError(f"{key}: has no {member}; needed: {', '.join(MEMBERS[kind])}")
    return made


def reason(error: Exception) -> str:
    """Return kind and text of an error of the user's code, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
