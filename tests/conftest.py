"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The machines that run these are shared: how long an example takes says nothing.
settings.register_profile("project", deadline=None)
settings.load_profile("project")

MIRROR = Path(__file__).resolve().parents[2] / "shared" / "data" / "mirror"


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder with official files that $AUTOMATA_MIRROR names, or one beside the checkout."""
    folder = Path(os.environ.get("AUTOMATA_MIRROR", MIRROR))
    if not folder.is_dir():
        pytest.skip(f"no official files in {folder} (set AUTOMATA_MIRROR)")
    return folder
