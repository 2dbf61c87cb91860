"""Imports methods and models by name: ours from the registry, and those of a user."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module, reload
from pathlib import Path
from typing import Any

import psutil

from automata.errors import UserError, listed
from automata.files import sha256
from automata.registry import OWN, REGISTRIES, Method

MEMBERS = {
    "search": ("uninformed", "suggest", "on_trial_complete"),
    "scheduler": ("pauses", "most_rungs_win", "rungs", "judge", "proposals"),
    "selector": ("cadence", "select"),
}
"""Attributes that an own method must have, by kind: see `Proposer`, `Scheduler`, `Selector`."""


def imported(target: str) -> Any:
    """Import and return "module:attribute"."""
    module, attribute = target.split(":")
    return getattr(import_module(module), attribute)


def load(registry: Mapping[str, Method], name: str) -> Any:
    """Import and return the class of a method of `registry`; raises KeyError for other names."""
    return imported(registry[name].target)


def load_own(target: str, key: str) -> Any:
    """Import a user's function or class; raises UserError, which names `key`, on failure."""
    name, attribute = target.split(":")
    try:
        module = import_module(name)
    except Exception as error:  # a user's module may raise anything
        raise UserError(
            f"{key}: cannot import {name}: {reason(error)} "
            "(searched: the working directory, PYTHONPATH)"
        ) from error
    if not callable(getattr(module, attribute, None)):
        own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == name]
        has = listed(own) or "none"
        raise UserError(f"{key}: {name} has no function or class {attribute}; it has {has}")
    return getattr(module, attribute)


_RUN: dict[str, str] = {}
"""The SHA-256 of the file of a module as it was when `import_again` looked last."""


def import_again(target: str) -> None:
    """Run the code of a user's module again if its file was edited since this process began.

    A notebook may have imported it before the edit, and a job trains the code of the file. Raises
    UserError if that fails.
    """
    name = target.partition(":")[0]
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    if module is None or path is None or "-packages" in path:
        return
    try:
        found = sha256(Path(path))
        if _RUN.get(name) != found and Path(path).stat().st_mtime > psutil.Process().create_time():
            reload(module)
    except Exception as error:  # a user's module may raise anything
        raise UserError(f"{target}: cannot be imported again: {reason(error)}") from error
    _RUN[name] = found


def own_file(target: str, expected: str | None, key: str) -> str | None:
    """Return the SHA-256 of the file of `target`, a user's "module:attribute"; None without one.

    Raises UserError with the `key` if the import fails, or if the SHA-256 is not as `expected`.
    """
    load_own(target, f"{key}: {target}")
    path = getattr(sys.modules[target.partition(":")[0]], "__file__", None)
    found = sha256(Path(path)) if path is not None else None
    if expected not in (None, found):
        raise UserError(f"{key}: {target}: has changed; run the same command again")
    return found


def make(
    kind: str,
    name: str,
    own: Mapping[str, str],
    *arguments: Any,
    **keywords: Any,
) -> Any:
    """Make the search, scheduler or selector `name`; `own` has targets of the user's, by kind.

    Raises UserError for a user's own method that fails or lacks one of MEMBERS.
    """
    target = own.get(kind)
    if target is None:
        return load(REGISTRIES[kind], name)(*arguments, **keywords)
    key = f"{OWN[kind]}.{name}: {target}"
    factory = load_own(target, key)
    try:
        made = factory(*arguments, **keywords)
    except Exception as error:  # a user's code may raise anything
        raise UserError(f"{key}: failed with {reason(error)}") from error
    for member in MEMBERS[kind]:
        if not hasattr(made, member):
            raise UserError(f"{key}: has no {member}; needed: {', '.join(MEMBERS[kind])}")
    return made


def reason(error: Exception) -> str:
    """Return the type and message of an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
