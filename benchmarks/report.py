"""Tables of benchmarks: CSV for programs, Markdown for readers, both with host and versions."""

from __future__ import annotations

import csv
import datetime
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from automata.files import write_text
from automata.provenance import cpu_model, installed_version

PACKAGES = ("torch", "ray", "numpy", "scipy")

Row = Mapping[str, object]


def host(threads: int, packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Return processor, threads, versions and date, on which times depend."""
    versions = [f"{name} {installed_version(name)}" for name in packages]
    return {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count()),
        "threads": str(threads),
        "packages": ", ".join(versions),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def write_table(
    rows: Sequence[Row],
    folder: Path,
    name: str,
    *,
    title: str,
    threads: int = 1,
    packages: Sequence[str] = PACKAGES,
) -> None:
    """Write `rows` to `name`.csv and `name`.md in `folder`; the first row has the columns.

    Raises ValueError if rows differ in their columns. In the Markdown, floats have three
    significant digits, and the facts of `host` follow the table; in the CSV each row has them.
    """
    columns = list(rows[0])
    if any(list(row) != columns for row in rows):
        raise ValueError(f"{name}: rows with different columns")
    facts = host(threads, packages)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow([*columns, *facts])
    writer.writerows([*row.values(), *facts.values()] for row in rows)
    write_text(folder / f"{name}.csv", table.getvalue())
    lines = [
        f"# {title}",
        "",
        *markdown_table(rows),
        "",
        *(f"- {key}: {value}" for key, value in facts.items()),
        "",
    ]
    write_text(folder / f"{name}.md", "\n".join(lines))


def markdown_table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table; floats have three significant digits."""
    columns = list(rows[0])
    lines = [_markdown_line(columns), _markdown_line(["---"] * len(columns))]
    return lines + [_markdown_line([_short(value) for value in row.values()]) for row in rows]


def _markdown_line(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def _short(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "-" if math.isnan(value) else f"{value:.3g}"
