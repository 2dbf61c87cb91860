"""Tables in files: written atomically, in formats that other programs read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.wording import three_digits
from automata.files import replacing, write_text


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write `table` as CSV, at full precision."""
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False)


def write_parquet(table: pd.DataFrame, path: Path) -> None:
    """Write `table` as Parquet."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False)


def write_json(content: dict[str, Any], path: Path) -> None:
    """Write `content` as JSON."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def markdown(table: pd.DataFrame) -> str:
    """Return `table` as Markdown, numbers with three significant digits."""
    cells = [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    lines = [list(table.columns), ["---"] * len(table.columns), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: object) -> str:
    """Return a value as a cell of Markdown; a missing one is empty."""
    if isinstance(value, float):
        return "" if pd.isna(value) else three_digits(value)
    return "" if value is None else str(value).replace("|", "\\|")


def write(content: pd.DataFrame | str, path: Path) -> None:
    """Write a table as CSV, or a text as it is."""
    if isinstance(content, str):
        write_text(path, content)
    else:
        write_csv(content, path)


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


TEXTS = dict.fromkeys(
    (
        *("dataset", "search", "scheduler", "selector"),
        *("record", "full_record", "records", "refused"),
    ),
    "str",
)
"""Columns that are never numbers: a data set may be called 2024, or NA."""


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table of `write_csv`; the columns TEXTS stay text."""
    return pd.read_csv(path, dtype=TEXTS, keep_default_na=False, na_values=[""])


def read_texts(path: Path) -> pd.DataFrame:
    """Read a table of `write_csv` as text, in all columns."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a table of `write_parquet`."""
    return pd.read_parquet(path)


def joined(records: Iterable[str]) -> str:
    """Return all words in `records`, each once, sorted, separated by spaces.

    Words are paths of records; an item may have several, as in the column `records` of a table.
    """
    return " ".join(sorted({record for names in records for record in names.split()}))
