"""Tables in files, written atomically in formats that other programs read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from automata.analysis.wording import three_digits
from automata.errors import UserError, first_line
from automata.files import replacing, write_text


def write(content: pd.DataFrame | dict[str, Any] | str, path: Path) -> None:
    """Write a table at full precision as CSV or Parquet, settings as JSON, or a text."""
    if isinstance(content, pd.DataFrame):
        with replacing(path) as temporary:
            if path.suffix == ".parquet":
                content.to_parquet(temporary, index=False)
            else:
                content.to_csv(temporary, index=False)
    elif isinstance(content, dict):
        write_text(path, json.dumps(content, indent=1) + "\n")
    else:
        write_text(path, content)


def markdown(table: pd.DataFrame) -> str:
    """Return `table` in Markdown, numbers with three significant digits."""
    cells = [[_cell(value) for value in row] for row in table.itertuples(index=False)]
    lines = [list(table.columns), ["---"] * len(table.columns), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(value: object) -> str:
    """Return a cell in Markdown; empty if the value is missing."""
    if isinstance(value, float):
        return "" if pd.isna(value) else three_digits(value)
    return "" if value is None else str(value).replace("|", "\\|")


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Raise UserError with the name of the file if it is damaged."""
    try:
        yield
    except (ValueError, OSError) as error:
        if getattr(error, "errno", None):  # the file is missing or unreadable, not damaged
            raise
        problem = f"damaged: {first_line(error)}; delete it, and snakemake makes it again"
        raise UserError(f"{path}: {problem}") from error


def read_json(path: Path) -> dict[str, Any]:
    """Read the settings that `write` wrote."""
    with _whole(path):
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


TEXTS = "dataset", "search", "scheduler", "selector", "record", "full_record", "records", "refused"
"""Columns that are never numbers: a data set may be named 2024 or NA."""


def read_csv(path: Path) -> pd.DataFrame:
    """Read a CSV table; the columns TEXTS are text."""
    texts = dict.fromkeys(TEXTS, "str")
    with _whole(path):
        return pd.read_csv(path, dtype=texts, keep_default_na=False, na_values=[""])


def read_texts(path: Path) -> pd.DataFrame:
    """Read a CSV table with all columns as text."""
    with _whole(path):
        return pd.read_csv(path, dtype=str, keep_default_na=False)


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet table."""
    with _whole(path):
        return pd.read_parquet(path)


def joined(records: Iterable[str]) -> str:
    """Return the distinct paths in `records`, sorted and separated by spaces, as in each item."""
    return " ".join(sorted({record for names in records for record in names.split()}))
