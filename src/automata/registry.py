"""Registries name things by "module:attribute", so that naming a thing does not import it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def imported(target: str) -> Any:
    """Import and return "module:attribute"."""
    module, attribute = target.split(":")
    return getattr(import_module(module), attribute)


def load(registry: dict[str, str], name: str) -> Any:
    """Import and return what `registry` has under `name`; raises KeyError for other names."""
    return imported(registry[name])
