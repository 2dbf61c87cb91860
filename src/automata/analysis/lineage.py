"""Which records a number comes from."""

from __future__ import annotations

from collections.abc import Iterable


def joined(records: Iterable[str]) -> str:
    """Return the records named in `records`, each once, sorted, with spaces between.

    Each item may name several, as the column `records` of a table does.
    """
    return " ".join(sorted({record for names in records for record in names.split()}))
