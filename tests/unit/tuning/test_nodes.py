"""What a node finds when it is asked to look around."""

import pytest

from automata.tuning.nodes import look_around


@pytest.fixture
def files(tmp_path):
    """A data file of 3 bytes, and a work folder with its mark."""
    data, work = tmp_path / "data", tmp_path / "work"
    data.write_text("abc")
    work.mkdir()
    (work / "mark").touch()
    return data, work


def trouble(data, work, size=3):
    return look_around(str(data), size, str(work), "mark")["trouble"]


def test_nothing_is_wrong_where_everything_is_seen(files):
    assert trouble(*files) is None
    assert [path.name for path in files[1].iterdir()] == ["mark"]


def test_data_that_are_not_there_are_named(files, tmp_path):
    assert trouble(tmp_path / "none", files[1]) == f"{tmp_path}/none: No such file or directory"


def test_other_data_under_the_same_name_are_named(files):
    assert trouble(*files, size=4) == f"{files[0]} is another file there"


def test_another_folder_under_the_same_name_is_named(files):
    (files[1] / "mark").unlink()
    assert trouble(*files) == f"{files[1]} is another folder there, or none"


def test_a_folder_that_takes_no_files_is_named(files, monkeypatch):
    def refuse(dir):  # noqa: A002
        raise PermissionError(13, "Permission denied", f"{dir}/x")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    assert trouble(*files) == f"{files[1]}/x: Permission denied"
