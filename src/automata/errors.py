"""Errors that a user can mend."""


class UserError(Exception):
    """Bad input or an impossible request; its text is one line that says what to change."""


def printable(text: str) -> str:
    """Return `text` with escapes for line breaks and all else that is not printable."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
