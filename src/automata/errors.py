"""Errors that a user can mend."""


def printable(text: str) -> str:
    """Return `text` with escapes for line breaks and all else that is not printable."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class UserError(Exception):
    """Bad input or an impossible request; its text is one line that says what to change.

    Names in a stranger's file cannot command the terminal: what is not printable is escaped.
    """

    def __init__(self, text: str) -> None:
        super().__init__(printable(text))
