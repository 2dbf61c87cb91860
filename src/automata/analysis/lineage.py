"""Which records a number comes from, and which other words go with it."""

from __future__ import annotations

from collections.abc import Iterable


def joined(records: Iterable[str]) -> str:
    """Return the words in `records`, such as their names, each once, sorted, with spaces between.

    Each item may have several, as the column `records` of a table does.
    """
    return " ".join(sorted({record for names in records for record in names.split()}))
