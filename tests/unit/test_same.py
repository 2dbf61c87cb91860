"""Files that two versions make are compared by their bytes, and the different ones are named."""

import pytest

from tools.same import differences


@pytest.fixture
def sides(tmp_path):
    """Two folders with equal files."""
    folders = tmp_path / "base", tmp_path / "today"
    for folder in folders:
        (folder / "tables").mkdir(parents=True)
        (folder / "tables/runs.csv").write_text("seed,speedup\n0,1.5\n1,2.5\n")
        (folder / "figure.png").write_bytes(b"\x89PNG\0")
    return folders


@pytest.mark.parametrize("name", ["tables/runs.csv", "figure.png", "new.md"])
def test_different_new_and_missing_files_are_named(sides, name):
    assert differences(*sides) == ""
    (sides[1] / name).write_bytes(b"0,2.5\0")
    lines = differences(*sides).splitlines()
    assert len(lines) == 3
    assert name.rpartition("/")[2] in lines[0]
    assert lines[1].startswith(" 1 file changed")
    assert lines[2].startswith("git diff --no-index")
    (sides[1] / name).unlink()
    (sides[0] / "missing.png").touch()
    assert "missing.png" in differences(*sides)
