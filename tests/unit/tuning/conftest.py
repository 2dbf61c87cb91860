"""Where jobs of tests run their trials: in the Ray of the session, or without Ray."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from automata.tuning import job as job_module
from automata.tuning import ray_search
from support.searching import train_here


@pytest.fixture
def in_ray(session_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs run their trials in the Ray of the session."""

    @contextmanager
    def there_already(workers: int, gpus: int) -> Iterator[None]:
        yield

    monkeypatch.setattr(ray_search, "local_ray", there_already)
    # Fixtures of a module leave another search in its place.
    monkeypatch.setattr(job_module, "train_in_ray", ray_search.train_in_ray)


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs train their trials one after the other in this process."""
    monkeypatch.setattr(job_module, "train_in_ray", train_here)
