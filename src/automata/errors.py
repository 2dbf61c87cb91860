"""Errors that a user can mend."""


class UserError(Exception):
    """Bad input or an impossible request; its text is one line that says what to change."""
