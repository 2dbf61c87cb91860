"""What tests of searches share: one Ray for all that need one, and jobs that need none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from automata.tuning import job as job_module
from automata.tuning import ray_search
from automata.tuning.ray_session import local_ray
from searching import search_here


@pytest.fixture(scope="session")
def session_ray() -> Iterator[None]:
    """A local Ray for all tests of a run; its start and end are tested in test_ray_session."""
    with local_ray(8, 0):
        yield


@pytest.fixture
def in_ray(session_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs run their trials in the Ray of the session."""

    @contextmanager
    def there_already(cpus: int, gpus: int) -> Iterator[None]:
        yield

    monkeypatch.setattr(ray_search, "local_ray", there_already)


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let jobs train their trials one after the other in this process."""
    monkeypatch.setattr(job_module, "search_in_ray", search_here)
