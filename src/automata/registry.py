"""Registries name things by "module:attribute", so that naming a thing does not import it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from automata.errors import UserError

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
    """Return the search, scheduler or selector of that `name`: one of `own`, else ours.

    Raises UserError where the user's own cannot be made, or lacks what is needed of it.
    """
    target = own.get(kind)
    if target is None:
        return load(registry, name)(*arguments, **keywords)
    key = f"{OWN[kind]}.{name}: {target}"
    try:
        made = load_own(target, key)(*arguments, **keywords)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{key}: failed with {reason(error)}") from error
    for member in MEMBERS[kind]:
        if not hasattr(made, member):
            raise UserError(f"{key}: has no {member}; needed: {', '.join(MEMBERS[kind])}")
    return made


def reason(error: Exception) -> str:
    """Return kind and text of an error of the user's code, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
