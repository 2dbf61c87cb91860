"""The command line of a benchmark that has parts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path


def parser_of_parts(
    name: str, description: str | None, parts: Sequence[str], *, repeats: int, results: Path
) -> argparse.ArgumentParser:
    """Return a parser of the options that these benchmarks share; none named means all `parts`."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)}; all")
    parser.add_argument("--repeats", type=int, default=repeats, help="rounds that are timed")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--results", type=Path, default=results, help="folder of the tables")
    return parser


def wanted_parts(
    parser: argparse.ArgumentParser, options: argparse.Namespace, parts: Sequence[str]
) -> Sequence[str]:
    """Return the parts that `options` ask for; end with a usage error if there is no such part."""
    unknown = set(options.parts) - set(parts)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    asked: Sequence[str] = options.parts or parts
    return asked
