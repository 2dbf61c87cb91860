"""Files that two versions make are compared by their bytes, and the different ones are named."""

import pytest

from tools.same import differences


@pytest.mark.parametrize("name", ["tables/runs.csv", "figure.png", "new.md"])
def test_different_new_and_missing_files_are_named(tmp_path, name):
    base, today = tmp_path / "base", tmp_path / "today"
    for folder in (base, today):
        (folder / "tables").mkdir(parents=True)
        (folder / "tables/runs.csv").write_text("seed,speedup\n0,1.5\n")
        (folder / "figure.png").write_bytes(b"\x89PNG\0")
    assert differences(base, today) == ""
    (today / name).write_bytes(b"0,2.5\0")
    lines = differences(base, today).splitlines()
    assert name.rpartition("/")[2] in lines[0]
    assert lines[1].startswith(" 1 file changed")
    (base / "missing.png").touch()
    assert "missing.png" in differences(base, today)
