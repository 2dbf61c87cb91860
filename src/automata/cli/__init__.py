"""The command line: it turns arguments into calls of functions.

`users` has the commands that a user types, `rules` those that rules call. Each command imports its
modules when it runs, so that `--help` does not wait for torch or Ray.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import traceback
from pathlib import Path

from automata.cli import rules, users
from automata.cli.arguments import add_arguments, commands_in, description
from automata.errors import printable
from automata.failures import known_reason, unexpected_reason

COMMANDS = dict([*commands_in(users), *commands_in(rules)])


def main(arguments: list[str] | None = None) -> None:
    """Run one command; on an error print one line at the end and exit with status 1."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(asctime)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    logging.getLogger("automata").setLevel(logging.INFO)  # libraries: warnings only
    options = vars(_parser().parse_args(arguments))
    name = options.pop("name")
    try:
        COMMANDS[name](**options)
    except (Exception, KeyboardInterrupt) as error:
        reason = known_reason(error)
        if reason is None:
            traceback.print_exc()
            folders = [options.get("work") or Path.cwd(), Path(tempfile.gettempdir())]
            reason = unexpected_reason(error, folders)
        sys.exit(f"automata {name}: error: {printable(reason)}")


class _Formatter(logging.Formatter):
    """Escapes unprintable characters, because a log quotes names in strangers' files."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return "\n".join(map(printable, super().formatMessage(record).split("\n")))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="automata",
        usage="automata COMMAND ...",
        description="`snakemake` runs the experiments. Its rules call `prepare` and the commands "
        "below it; the others are for you. `automata COMMAND --help` lists the arguments.",
    )
    parsers = parser.add_subparsers(
        title="commands", prog="automata", dest="name", required=True, metavar="COMMAND"
    )
    for name, command in COMMANDS.items():
        text = description(command)
        add_arguments(parsers.add_parser(name, help=text, description=text), command)
    return parser
