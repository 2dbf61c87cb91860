"""Tables on disk: written atomically, in a form that others can read."""

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
    cells = [
        [_text(value).replace("|", "\\|") for value in row] for row in table.itertuples(index=False)
    ]
    rows = [list(table.columns), ["---"] * len(table.columns), *cells]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def write(content: pd.DataFrame | str, path: Path) -> None:
    """Write a table as CSV or as Markdown, by the suffix of `path`; a text as it is."""
    if isinstance(content, str):
        write_text(path, content)
    elif path.suffix == ".csv":
        write_csv(content, path)
    else:
        write_text(path, markdown(content))


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table of `write_csv`; a data set may be called 2024, or NA."""
    return pd.read_csv(path, dtype=TEXTS, keep_default_na=False, na_values=[""])


def read_texts(path: Path) -> pd.DataFrame:
    """Read a table of `write_csv` whose cells are texts, also where they look like numbers."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a table of `write_parquet`."""
    return pd.read_parquet(path)


TEXTS = dict.fromkeys(
    (
        *("dataset", "search", "scheduler", "selector"),
        *("record", "full_record", "records", "refused"),
    ),
    "str",
)
"""Columns that are never numbers."""


def _text(value: object) -> str:
    """Return a cell as people read it; nothing where there is no value."""
    if isinstance(value, float):
        return "" if pd.isna(value) else three_digits(value)
    return "" if value is None else str(value)


def joined(records: Iterable[str]) -> str:
    """Return the words in `records`, such as their names, each once, sorted, with spaces between.

    Each item may have several, as the column `records` of a table does.
    """
    return " ".join(sorted({record for names in records for record in names.split()}))
