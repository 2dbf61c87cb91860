"""The command line: each public function of `commands` is a command.

A parameter's annotation holds its type and its help. A parameter after `*` becomes a flag. A flag
without a default is required. Underscores become hyphens: `skip_rows` is `--skip-rows`.
"""

from __future__ import annotations

import argparse
import inspect
import io
import logging
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin, get_type_hints

from automata.cli import commands
from automata.errors import known_reason, open_streams, printable, unexpected_reason

Command = Callable[..., None]

COMMANDS: dict[str, Command] = {
    name.replace("_", "-"): value
    for name, value in vars(commands).items()
    if inspect.isfunction(value) and value.__module__ == commands.__name__ and name[0] != "_"
}


def main(arguments: list[str] | None = None) -> None:
    """Run one command; on an error print one line at the end and exit with status 1."""
    open_streams()
    options = vars(_parser().parse_args(arguments))
    name = options.pop("name")
    origin = "" if name == "predict" else "%(asctime)s %(name)s: "  # a user types `predict`
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(f"{origin}%(message)s"))
    logging.basicConfig(handlers=[handler])
    logging.getLogger("automata").setLevel(logging.INFO)  # libraries: warnings only
    try:
        COMMANDS[name](**options)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        sys.stdout = io.StringIO()  # else Python would fail again to flush it at the end
        ended = "the process that reads the output has ended"
        reason = ended if isinstance(error, BrokenPipeError) else known_reason(error)
        if reason is None:
            traceback.print_exc()
            reason = unexpected_reason(error)
        sys.exit(f"automata {name}: error: {printable(reason)}")


class _Formatter(logging.Formatter):
    """Escapes unprintable characters, because a log quotes names in strangers' files."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return "\n".join(map(printable, super().formatMessage(record).split("\n")))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="automata",
        usage="automata COMMAND ...",
        description="`snakemake` runs the experiments. `new`, `predict`, `status` and `unpack` are "
        "for you; rules call the others. `automata COMMAND --help` lists the arguments.",
    )
    parsers = parser.add_subparsers(
        title="commands", prog="automata", dest="name", required=True, metavar="COMMAND"
    )
    for name, command in COMMANDS.items():
        text = inspect.getdoc(command)
        _add_arguments(parsers.add_parser(name, help=text, description=text), command)
    return parser


def _add_arguments(parser: argparse.ArgumentParser, command: Command) -> None:
    """Add the parameters of `command` to `parser`."""
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
