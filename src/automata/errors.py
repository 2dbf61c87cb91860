"""Errors that a user can correct."""

from collections.abc import Iterable

LISTED = 40
"""Maximum number of names in a message."""


def printable(text: str) -> str:
    """Return `text` with escapes for line breaks and other unprintable characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class UserError(Exception):
    """Invalid input or an impossible request; the message is one line that says what to change.

    It escapes unprintable characters, so that names in files cannot control the terminal.
    """

    def __init__(self, text: str) -> None:
        super().__init__(printable(" ".join(part.strip() for part in text.splitlines())))


def listed(names: Iterable[object]) -> str:
    """Join `names` for a message: all, or the first LISTED and the number of the others."""
    every = [str(name) for name in names]
    more = [f"and {len(every) - LISTED} more"] if len(every) > LISTED else []
    return ", ".join(every[:LISTED] + more)
