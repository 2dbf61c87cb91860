"""Makes a command from a function: its parameters become arguments, its docstring the help.

A parameter's annotation holds its type and its help. A parameter after `*` becomes a flag. A flag
without a default is required. Underscores become hyphens: `skip_rows` is `--skip-rows`.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

Command = Callable[..., None]


def commands_in(module: ModuleType) -> Iterator[tuple[str, Command]]:
    """Yield the name and the function of each command: the public functions of `module`."""
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_":
            yield name.replace("_", "-"), value


def description(command: Command) -> str:
    """Return the docstring of `command` in one line."""
    return " ".join((command.__doc__ or "").split())


def add_arguments(parser: ArgumentParser, command: Command) -> None:
    """Add the arguments of `command` to `parser`."""
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, text = get_args(hints[name])
        settings: dict[str, Any] = {"help": text}
        optional = parameter.default is not parameter.empty
        if optional:
            settings["default"] = parameter.default
        if kind is bool:
            settings["action"] = "store_true"
        else:
            settings["type"] = (get_args(kind) or (kind,))[0]  # Path for Sequence[Path]
        if get_origin(kind) is Sequence:
            settings["nargs"] = "*" if optional else "+"
        if parameter.kind is parameter.KEYWORD_ONLY:
            name, settings["required"] = f"--{name.replace('_', '-')}", not optional
        parser.add_argument(name, **settings)
