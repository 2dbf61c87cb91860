"""The command line: arguments to functions, and nothing else.

`users` has the commands that a user types, `rules` those that the rules call. All import what they
need when they run: `--help` must not wait for torch or Ray.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

from automata.cli import rules, users
from automata.cli.arguments import add_arguments, commands_in, sentence
from automata.errors import printable
from automata.failures import explain, full_folder, is_known, out_of_space

COMMANDS = dict([*commands_in(users), *commands_in(rules)])


def main(arguments: list[str] | None = None) -> None:
    """Run one command; whatever ends it early is told in one line, the last, with exit status 1."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(asctime)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    logging.getLogger("automata").setLevel(logging.INFO)  # libraries: warnings only
    options = vars(_parser().parse_args(arguments))
    name = options.pop("name")
    try:
        COMMANDS[name](**options)
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(f"automata {name}: error: {printable(_line(error, options))}")


class _Formatter(logging.Formatter):
    """Escapes what is not printable: names in a stranger's file are logged, too."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return "\n".join(map(printable, super().formatMessage(record).split("\n")))


def _line(error: BaseException, options: dict[str, Any]) -> str:
    """Return the line for `error`; of one that is not expected the traceback is printed."""
    if is_known(error):
        return explain(error)
    given = [value if isinstance(value, list) else [value] for value in options.values()]
    paths = [path for values in given for path in values if isinstance(path, Path)]
    if isinstance(error, OSError) and _is_given(error.filename, paths, options.get("work")):
        return f"{error.filename}: {error.strerror}"
    traceback.print_exc()
    full = full_folder([*paths, Path(tempfile.gettempdir())])
    return out_of_space(full) if full else explain(error)


def _is_given(name: object, paths: list[Path], work: Path | None) -> bool:
    """Say whether the arguments name a file, its folder or one in it; `work` is no user's."""
    if not isinstance(name, str):
        return False
    around = any(path.is_relative_to(name) for path in paths)
    return around or any(Path(name).is_relative_to(path) for path in paths if path != work)


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with arguments: those of rules have no room for the usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="automata",
        usage="automata COMMAND ...",
        description="What is typed beside `snakemake`, which runs the experiments and calls "
        "`prepare` and the commands after it. `automata COMMAND --help` lists what one takes.",
    )
    parsers = parser.add_subparsers(
        title="commands", prog="automata", dest="name", required=True, metavar="COMMAND"
    )
    for name, command in COMMANDS.items():
        told = sentence(command)
        add_arguments(parsers.add_parser(name, help=told, description=told), command)
    return parser
