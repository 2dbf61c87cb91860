"""What all tests share."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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

GROUPS = ("tests/workflow", "tests/unit/tuning", "tests/unit/figures")
"""Folders whose tests share a finished experiment, a Ray, or drawn figures: one worker has all.

They take longest, and so come first.
"""

MIRROR = Path(__file__).resolve().parents[2] / "shared" / "data" / "mirror"


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with official files that $AUTOMATA_MIRROR names, or one beside the checkout."""
    folder = Path(os.environ.get("AUTOMATA_MIRROR", MIRROR))
    if not folder.is_dir():
        pytest.skip(f"no official files in {folder} (set AUTOMATA_MIRROR)")
    return folder


@pytest.fixture(autouse=True)
def whole_floats() -> Iterator[None]:
    """Undo after a test what training sets for a process: hypothesis draws subnormal numbers."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


def _scope(nodeid: str) -> str:
    file = nodeid.split("::")[0]
    return next((folder for folder in GROUPS if file.startswith(folder)), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of GROUPS first."""

    def place(item: pytest.Item) -> int:
        scope = _scope(item.nodeid)
        return GROUPS.index(scope) if scope in GROUPS else len(GROUPS)

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker whole files, and of GROUPS whole folders.

    As `--dist loadgroup` would by marks, but that changes nothing in pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # keep the order of the collection

    class Grouped(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _scope(nodeid)

    return Grouped(config, log)
