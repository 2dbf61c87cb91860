"""Errors of Ray name the reason of a trial, and nothing of Ray."""

import traceback

import pytest
from ray.exceptions import ActorDiedError, OutOfMemoryError, RayTaskError

from automata.errors import KEPT, KILLED, UserError, known_reason, unexpected_reason
from automata.tuning.ray_errors import translated


def of_trial(cause):
    """Return Ray's error for one that a trial raised."""
    text = f"Traceback (most recent call last):\n  File\n{type(cause).__name__}: {cause}"
    return RayTaskError("train", text, cause, "ray::train", 1, "10.0.0.1").as_instanceof_cause()


def raised(error):
    """Return what the project raises for an error of Ray."""
    with pytest.raises(BaseException) as caught, translated():  # noqa: PT011
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (of_trial(UserError("model: no head")), "model: no head"),
        (ActorDiedError(), f"{KILLED}; {KEPT}"),
        (
            OutOfMemoryError("a task was killed\nmore"),
            f"memory ran out: a task was killed; make room and {KEPT}",
        ),
    ],
)
def test_reason_of_a_known_failure_is_one_line(error, line):
    assert known_reason(raised(error)) == line


def test_an_unknown_failure_has_its_own_type_and_the_traceback_of_its_process():
    error = raised(of_trial(ZeroDivisionError("by zero")))
    assert known_reason(error) is None
    line = "unexpected error: ZeroDivisionError: by zero (traceback in the log)"
    assert unexpected_reason(error) == line
    assert "RayTaskError" in "".join(traceback.format_exception(error))
