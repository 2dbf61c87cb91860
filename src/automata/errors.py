"""Errors that a user can mend."""

from collections.abc import Iterable

LISTED = 40
"""Names that a message has at most."""


def printable(text: str) -> str:
    """Return `text` with escapes for line breaks and all else that is not printable."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class UserError(Exception):
    """Bad input or an impossible request; its text is one line that says what to change.

    Names in a stranger's file cannot command the terminal: what is not printable is escaped.
    """

    def __init__(self, text: str) -> None:
        super().__init__(printable(" ".join(part.strip() for part in text.splitlines())))


def listed(names: Iterable[object]) -> str:
    """Return `names` for a message: all, or the first and how many more there are."""
    every = [str(name) for name in names]
    more = [f"and {len(every) - LISTED} more"] if len(every) > LISTED else []
    return ", ".join(every[:LISTED] + more)
