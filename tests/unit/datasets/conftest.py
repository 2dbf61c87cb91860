"""The official files, where they are at hand."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def official(mirror: Path) -> Callable[..., dict[str, Path]]:
    """Return a function that gives the paths of these official files, or skips the test."""

    def get(*files: str) -> dict[str, Path]:
        paths = {file: mirror / file for file in files}
        if not all(path.is_file() for path in paths.values()):
            pytest.skip(f"no {' and '.join(files)} in {mirror}")
        return paths

    return get
