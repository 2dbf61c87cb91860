"""Tables on disk: written atomically, in a form that others can read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from automata.analysis.wording import three_digits
from automata.files import replacing, write_text


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write `table` as CSV, at full precision, the column `records` briefly."""
    with replacing(path) as temporary:
        _named(table, brief).to_csv(temporary, index=False)


def write_parquet(table: pd.DataFrame, path: Path) -> None:
    """Write `table` as Parquet."""
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False)


def write_json(content: dict[str, Any], path: Path) -> None:
    """Write `content` as JSON."""
    write_text(path, json.dumps(content, indent=1) + "\n")


def write_yaml(content: dict[str, Any], path: Path, header: str) -> None:
    """Write `content` as YAML, in its order and with all digits, below a `header` of comments."""
    write_text(path, header + yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


def markdown(table: pd.DataFrame) -> str:
    """Return `table` as Markdown, numbers with three significant digits."""
    cells = [
        [_text(value).replace("|", "\\|") for value in row] for row in table.itertuples(index=False)
    ]
    rows = [list(table.columns), ["---"] * len(table.columns), *cells]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def write_markdown(table: pd.DataFrame, path: Path, closing: str = "") -> None:
    """Write `table` as Markdown, and a `closing` paragraph."""
    lines = markdown(table)
    write_text(path, f"{lines}\n{closing}\n" if closing else lines)


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table of `write_csv`; a data set may be called 2024, or NA."""
    table = pd.read_csv(path, dtype=TEXTS, keep_default_na=False, na_values=[""])
    return _named(table, expanded)


def read_texts(path: Path) -> pd.DataFrame:
    """Read a table of `write_csv` whose cells are texts, also where they look like numbers."""
    return _named(pd.read_csv(path, dtype=str, keep_default_na=False), expanded)


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

HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Table</title><style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1em }}
table {{ border-collapse: collapse }}
th, td {{ padding: 0.3em 0.8em 0.3em 0; text-align: left; vertical-align: top }}
tr {{ border-bottom: 1px solid #ccc }}
</style></head><body>
<p>{opening}</p>
{table}
</body></html>
"""


def write_html(table: pd.DataFrame, path: Path, opening: str) -> None:
    """Write `table` as a page of its own, for Snakemake's report, after an `opening` paragraph."""
    cells = table.map(_text).to_html(index=False, border=0, escape=True)
    write_text(path, HTML.format(opening=escape(opening), table=cells))


def _named(table: pd.DataFrame, form: Callable[[list[str]], list[str]]) -> pd.DataFrame:
    """Return `table` with the words in its column `records`, if there is one, in another form."""
    if "records" not in table:
        return table
    words = table["records"].map(lambda cell: " ".join(form(cell.split())), na_action="ignore")
    return table.assign(records=words)


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


_Word = tuple[tuple[str, ...], ...]
"""The choices of each part of a path."""


_BRACES = re.compile(r"\{([^{}]*)\}")


def brief(paths: Iterable[str]) -> list[str]:
    """Return `paths`, those that differ in one part alone in one word: dna/seed-{0,1,2}.

    Parts end at slashes, and words are united part by part, the last one first: a word with several
    braces stands for all their combinations. `expanded` is the inverse. Braces, commas and spaces
    of the paths' own would be misread.
    """
    deep: dict[int, set[_Word]] = {}
    for path in paths:
        parts = path.split("/")
        deep.setdefault(len(parts), set()).add(tuple((part,) for part in parts))
    for depth in deep:
        for place in reversed(range(depth)):
            deep[depth] = _united(deep[depth], place)
    return sorted("/".join(map(_braced, word)) for words in deep.values() for word in words)


def expanded(words: Iterable[str]) -> list[str]:
    """Return all paths that `words` of `brief` stand for, sorted."""
    return sorted(
        "".join(chosen)
        for word in words
        for chosen in product(
            *(
                text.split(",") if place % 2 else [text]
                for place, text in enumerate(_BRACES.split(word))
            )
        )
    )


def _united(words: set[_Word], place: int) -> set[_Word]:
    """Return `words`, those that differ at `place` alone as one with the choices of all of them."""
    alike: dict[tuple[_Word, _Word], set[str]] = {}
    for word in words:
        alike.setdefault((word[:place], word[place + 1 :]), set()).update(word[place])
    return {(*before, tuple(sorted(choices)), *after) for (before, after), choices in alike.items()}


def _braced(choices: tuple[str, ...]) -> str:
    """Return a part of a path: what all `choices` have up to their last hyphen, and their rests."""
    if len(choices) == 1:
        return choices[0]
    starts = {re.sub(r"[^-]*$", "", choice) for choice in choices}
    start = starts.pop() if len(starts) == 1 else ""
    rests = sorted((choice[len(start) :] for choice in choices), key=_number_first)
    return f"{start}{{{','.join(rests)}}}"


def _number_first(text: str) -> tuple[bool, int, str]:
    return not text.isdecimal(), int(text) if text.isdecimal() else 0, text
