"""Errors of Ray as errors that `errors.known_reason` knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ray.exceptions import OutOfMemoryError, RayActorError, RayError

from automata.errors import KEPT, KILLED, UserError


@contextmanager
def translated() -> Iterator[None]:
    """Raise an error of Ray in the body as the error that a trial raised, or as a plain one."""
    try:
        yield
    except RayError as error:
        # As its context and not its cause, Ray's error is in the log, but names no reason.
        raise plain(error)  # noqa: B904


def plain(error: BaseException) -> BaseException:
    """Return the error inside an error of Ray, or one that says the same."""
    while isinstance(inner := getattr(error, "cause", None), BaseException):  # of a RayTaskError
        error = inner
    if isinstance(error, RayActorError):
        return UserError(f"{KILLED}; {KEPT}")
    return MemoryError(str(error)) if isinstance(error, OutOfMemoryError) else error
