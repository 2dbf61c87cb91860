"""What all tests share."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# The machines that run these are shared: how long an example takes says nothing.
settings.register_profile("project", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("project")

os.environ["MPLBACKEND"] = "Agg"
if "PYTEST_XDIST_WORKER" in os.environ:
    # Measured jobs of one host take turns by a lock in the folder for temporary files. Its name is
    # short: those of Ray's sockets, below it, may have 107 letters.
    own = Path(tempfile.gettempdir()) / f"{os.getpid():x}"
    own.mkdir()
    tempfile.tempdir = os.environ["TMPDIR"] = str(own)
    atexit.register(shutil.rmtree, own, ignore_errors=True)

GROUPS = {"tests/workflow": "snakemake", "tests/unit/tuning": "ray"}
"""Tests of a folder that one worker runs: they share a finished experiment, or a Ray."""

MIRROR = Path(__file__).resolve().parents[2] / "shared" / "data" / "mirror"


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with official files that $AUTOMATA_MIRROR names, or one beside the checkout."""
    folder = Path(os.environ.get("AUTOMATA_MIRROR", MIRROR))
    if not folder.is_dir():
        pytest.skip(f"no official files in {folder} (set AUTOMATA_MIRROR)")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for folder, group in GROUPS.items():
            if item.nodeid.startswith(folder):
                item.add_marker(pytest.mark.xdist_group(group))
