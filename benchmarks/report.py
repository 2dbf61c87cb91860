"""Tables of benchmarks: CSV for programs, Markdown for readers, both with host and versions."""

from __future__ import annotations

import argparse
import datetime
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.tables import markdown, write
from automata.files import write_text
from automata.records.provenance import cpu_model, installed_version

PACKAGES = ("torch", "ray", "numpy", "scipy")

Row = Mapping[str, object]


def parser_of(benchmark: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a benchmark: `--results` is the folder of its tables."""
    parser = argparse.ArgumentParser(f"python -m benchmarks.{benchmark}", description=description)
    usual = Path(__file__).parent / benchmark / "results"
    parser.add_argument("--results", type=Path, default=usual, help="folder of the tables")
    return parser


def host(threads: int = 1, packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Return processor, threads, versions and date, on which times depend."""
    versions = [f"{name} {installed_version(name)}" for name in packages]
    return {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count()),
        "threads": str(threads),
        "packages": ", ".join(versions),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def write_table(rows: Sequence[Row], folder: Path, name: str, title: str, **run: Any) -> None:
    """Write `rows` to `name`.csv and `name`.md in `folder`, with the facts of `host(**run)`.

    In the Markdown, floats have three significant digits, and the facts follow the table.
    """
    facts = host(**run)
    write(pd.DataFrame(rows).assign(**facts), folder / f"{name}.csv")
    lines = [f"# {title}", "", *markdown_table(rows), ""]
    lines += [f"- {key}: {value}" for key, value in facts.items()]
    write_text(folder / f"{name}.md", "\n".join([*lines, ""]))


def markdown_table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table; floats have three significant digits."""
    return markdown(pd.DataFrame(rows)).splitlines()
