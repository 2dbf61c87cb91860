"""From a function to a command: its parameters are the arguments, its docstring is the help.

The annotation of a parameter has its type and a sentence for the help. A parameter after `*` is a
flag, which must be given unless it has a default; `ray_address` is `--ray-address`.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

Command = Callable[..., None]


def commands_in(module: ModuleType) -> Iterator[tuple[str, Command]]:
    """Yield name and function of the commands in `module`: all that it defines for others."""
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_":
            yield name.replace("_", "-"), value


def sentence(command: Command) -> str:
    """Return what `command` does, in one line."""
    return " ".join((command.__doc__ or "").split())


def add_arguments(parser: ArgumentParser, command: Command) -> None:
    """Have `parser` read the arguments of `command`."""
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, told = get_args(hints[name])
        given: dict[str, Any] = {"help": told}
        optional = parameter.default is not parameter.empty
        is_flag = parameter.kind is parameter.KEYWORD_ONLY
        if optional:
            given["default"] = parameter.default
        if kind is bool:
            given["action"] = "store_true"
        else:
            given["type"] = (get_args(kind) or (kind,))[0]  # of Sequence[Path] and int | None, too
        if get_origin(kind) is Sequence:
            given["nargs"] = "*" if optional else "+"
        if is_flag:
            name, given["required"] = f"--{name.replace('_', '-')}", not optional
        parser.add_argument(name, **given)
