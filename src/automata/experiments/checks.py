"""What a configuration must obey besides its schema. The standard library alone."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from automata.datasets.catalog import DATASETS
from automata.experiments.settings import kind_of, under_search
from automata.models import MODELS, ModelSpec

Config = dict[str, Any]
DRAWS = ("uniform", "loguniform", "quniform", "randint", "lograndint", "choice")
"""How a hyper-parameter may be drawn, in the words of Ray Tune."""

NAME = "[A-Za-z0-9][A-Za-z0-9_.-]*"
"""What a data set may be called: its name is a part of paths and of command lines."""

LONGEST_NAME = 100
"""Characters of such a name, and of an experiment's: file systems take 255 with what is added."""

Problem = tuple[list[str], str]
"""Path of a key, and what is wrong with it."""


def problems(config: Config) -> Iterator[Problem]:
    """Yield what is wrong with `config`, which obeys the schema otherwise."""
    yield from _dataset_problems(config)
    for kind, protocol in config["protocol"].items():
        if protocol is not None:
            yield from _protocol_problems(kind, protocol, config["searches"])
    yield from _infinite([], config)
    job = config.get("job") or {}
    if job.get("gpu_type") is not None and not job.get("gpus"):
        yield ["job", "gpu_type"], "needs job.gpus to be 1 or more"


def _dataset_problems(config: Config) -> Iterator[Problem]:
    own = config.get("own_datasets") or {}
    names = [["own_datasets", name] for name in own] + [["experiment"]]
    for path, name in zip(names, [*own, config.get("experiment", "")], strict=True):
        if len(name) > LONGEST_NAME:
            yield path, f"the name has {len(name)} characters, the most are {LONGEST_NAME}"
    for name in own:
        if not re.fullmatch(NAME, name):
            yield ["own_datasets", name], f"is no name; valid: a text that matches ^{NAME}$"
        if name in DATASETS:
            yield ["own_datasets", name], "is the name of a data set that the project knows"
        if name == "all":
            yield ["own_datasets", name], "is what tables call all data sets together"
    for index, name in enumerate(config["datasets"]):
        path = ["datasets", str(index)]
        if name not in DATASETS and name not in own:
            known = ", ".join([*DATASETS, *own])
            yield path, f"{json.dumps(name)} is not valid; valid: {known}, or one of own_datasets"
        elif config["protocol"].get(kind_of(config, name)) is None:
            yield path, f"{name} needs the section protocol.{kind_of(config, name)}"


def _infinite(path: list[str], value: Any) -> Iterator[Problem]:
    """Yield the numbers that are not finite: JSON schema takes NaN for one within any bounds."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path, f"{value} is not finite"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _infinite([*path, key], inner)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _infinite([*path, str(number)], inner)


def _protocol_problems(kind: str, protocol: Config, searches: list[str]) -> Iterator[Problem]:
    here = ["protocol", kind]
    model = protocol["model"]
    spec = MODELS[model] if isinstance(model, str) else None
    if spec is not None and spec.kind != kind:
        valid = ", ".join(name for name, other in MODELS.items() if other.kind == kind)
        yield [*here, "model"], f"{model} is for {spec.kind} data; valid: {valid}"
        return
    if kind != "image" and protocol.get("augmentation"):
        yield [*here, "augmentation"], "is for images"
    spaces = {"": ([*here, "search_space"], protocol["search_space"])}
    for search, change in (protocol.get("for_search") or {}).items():
        path = [*here, "for_search", search, "search_space"]
        spaces[search] = (path, change.get("search_space") or {})
    known = VALUES if spec is not None else TRAINING
    for path, space in spaces.values():
        for name, domain in space.items():
            yield from _domain_problems([*path, name], known.get(name), domain)
    for search in searches:
        yield from _missing(here, under_search(protocol, search), spec)


def _missing(here: list[str], protocol: Config, spec: ModelSpec | None) -> Iterator[Problem]:
    """Yield hyper-parameters that a search space lacks, or has and nothing reads."""
    space = protocol["search_space"]
    path = [*here, "search_space"]
    rates = spec.optional if spec is not None and spec.kind == "image" else ()
    if "learning_rate" not in space and not (rates and all(rate in space for rate in rates)):
        also = f" (or all of {', '.join(rates)})" if rates else ""
        yield [*path, "learning_rate"], f"missing{also}"
    if "batch_size" not in space and protocol.get("batch_size") is None:
        yield [*here, "batch_size"], "missing, here and in search_space"
    if True in _extremes(protocol, "nesterov") and 0 in _extremes(protocol, "momentum"):
        yield [*here, "nesterov"], "needs a momentum > 0"
    if spec is None:
        return
    for name in spec.hyperparameters:
        if name not in space:
            yield [*path, name], f"missing; model {protocol['model']} needs it"
    known = [*TRAINING, *spec.hyperparameters, *spec.optional]
    for name in space:
        if name not in known:
            valid = ", ".join(known)
            yield [*path, name], f"unknown to model {protocol['model']}; valid: {valid}"


def _extremes(protocol: Config, name: str) -> list[Any]:
    """Return the fixed value of a hyper-parameter, or its choices or bounds."""
    domain = protocol["search_space"].get(name)
    if domain is None:
        return [protocol.get(name, 0)]
    return list(next(iter(_given(domain).values()), []))


def _domain_problems(path: list[str], valid: Valid | None, domain: Config) -> Iterator[Problem]:
    problem = domain_problem(domain)
    if problem is not None:
        yield path, problem
        return
    if valid is None:
        return
    ((draw, values),) = _given(domain).items()
    if draw not in valid.draws:
        yield path, f"{draw} draws no {valid.words}; valid: {', '.join(valid.draws)}"
        return
    for index, value in enumerate(values if draw == "choice" else values[:2]):
        if not valid.test(value):
            words = f"{json.dumps(value)} is not valid; valid: {valid.words}"
            yield [*path, draw, str(index)], words


def domain_problem(domain: Config) -> str | None:
    """Return what is wrong with the values of one hyper-parameter, None if nothing is."""
    given = _given(domain)
    if len(given) != 1:
        return f"needs exactly one of {', '.join(DRAWS)}, has {', '.join(given) or 'none'}"
    ((draw, values),) = given.items()
    if draw == "choice":
        keys = [(type(value).__name__, value) for value in values]
        return "has a choice twice" if len(set(keys)) != len(keys) else None
    low, high, *step = values
    if not all(map(math.isfinite, values)):
        return f"{draw}: {values} has a value that is not finite"
    if not low < high:
        return f"{draw}: {low} is not below {high}"
    for bound in (low, high) if step else ():
        if abs(bound / step[0] - round(bound / step[0])) > 1e-9:
            return f"{draw}: {bound} is no multiple of the step {step[0]}"
    return None


def _given(domain: Config) -> Config:
    return {draw: values for draw, values in domain.items() if values is not None}


@dataclass(frozen=True)
class Valid:
    """What values a known hyper-parameter may have."""

    test: Callable[[Any], bool]
    words: str
    draws: tuple[str, ...] = DRAWS
    """The draws that give such values."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _among(*names: str) -> Valid:
    return Valid(lambda value: value in names, ", ".join(names), ("choice",))


_COUNT = Valid(_is_count, "integer > 0", ("choice", "randint", "lograndint"))
_RATE = Valid(lambda value: _is_number(value) and value > 0, "number > 0")

TRAINING: dict[str, Valid] = {
    "learning_rate": _RATE,
    "batch_size": _COUNT,
    "optimizer": _among("adam", "sgd"),
    "momentum": Valid(lambda value: _is_number(value) and 0 <= value < 1, "number >= 0 and < 1"),
    "nesterov": Valid(lambda value: isinstance(value, bool), "true, false", ("choice",)),
    "weight_decay": Valid(lambda value: _is_number(value) and value >= 0, "number >= 0"),
    "schedule": _among("none", "cosine", "step"),
    "decay_every": _COUNT,
    "decay_factor": Valid(
        lambda value: _is_number(value) and 0 < value <= 1, "number > 0 and <= 1"
    ),
}
"""The hyper-parameters that every training reads."""

VALUES: dict[str, Valid] = {
    **TRAINING,
    **dict.fromkeys(("lr1", "lr2", "lr3", "lr4"), _RATE),
    **dict.fromkeys(("hidden", "hidden1", "hidden2", "layers"), _COUNT),
}
"""The same with those of the models."""
