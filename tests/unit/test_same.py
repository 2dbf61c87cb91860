"""Files that two versions make are compared by their bytes, and the different ones are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.same import differences


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with equal files."""
    folders = tmp_path / "base", tmp_path / "today"
    for folder in folders:
        (folder / "tables").mkdir(parents=True)
        (folder / "tables/runs.csv").write_text("seed,speedup\n0,1.5\n1,2.5\n")
        (folder / "figure.png").write_bytes(b"\x89PNG\0")
    return folders


def test_equal_files_give_no_line(sides: tuple[Path, Path]) -> None:
    assert differences(*sides) == ""


@pytest.mark.parametrize("name", ["tables/runs.csv", "figure.png", "new.md"])
def test_different_and_new_files_are_named(sides: tuple[Path, Path], name: str) -> None:
    (sides[1] / name).write_bytes(b"0,2.5\0")
    lines = differences(*sides).splitlines()
    assert len(lines) == 3
    assert name.rpartition("/")[2] in lines[0]
    assert lines[1].startswith(" 1 file changed")
    assert lines[2].startswith("git diff --no-index")


def test_missing_file_is_named(sides: tuple[Path, Path]) -> None:
    (sides[1] / "figure.png").unlink()
    assert "figure.png" in differences(*sides)
