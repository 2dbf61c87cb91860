"""The official files, where they are at hand."""

import pytest


@pytest.fixture(scope="session")
def official(mirror):
    """A function that returns the paths of official files, or skips the test."""

    def get(*files):
        if absent := [file for file in files if not (mirror / file).is_file()]:
            pytest.skip(f"no {' and '.join(absent)} in {mirror}")
        return {file: mirror / file for file in files}

    return get
