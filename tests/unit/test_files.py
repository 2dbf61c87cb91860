"""Files that are either complete or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from automata.errors import UserError
from automata.files import bytes_below, replacing, visible_files, write_text


class BrokenWriterError(Exception):
    """What a failing writer raises."""


def write_and_fail(path: Path, error: BaseException) -> None:
    """Write half of a new file, then raise `error`."""
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise error


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_the_written_file_takes_the_place_of_the_older_one_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".json")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["record.json"]


@pytest.mark.parametrize("error", [BrokenWriterError(), KeyboardInterrupt()])
def test_the_older_file_alone_stays_after_an_exception(
    tmp_path: Path, error: BaseException
) -> None:
    path = tmp_path / "record.json"
    path.write_text("old")
    with pytest.raises(type(error)):
        write_and_fail(path, error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["record.json"]


def test_a_writer_that_writes_nothing_is_an_error_and_keeps_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), replacing(path):
        pass
    assert path.read_text() == "old"


@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_others_may_read_as_the_umask_says(tmp_path: Path, mask: int) -> None:
    """Writers that make a temporary file of their own leave one that its owner alone may read."""
    before = os.umask(mask)
    try:
        with replacing(tmp_path / "model.safetensors") as temporary:
            temporary.touch(0o600)
    finally:
        os.umask(before)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o666 & ~mask


def test_text_is_written_as_utf8_in_a_folder_that_is_made(tmp_path: Path) -> None:
    path = tmp_path / "runs/dna/note.txt"
    write_text(path, "κ = 0.35 → größer")
    assert path.read_bytes() == "κ = 0.35 → größer".encode()


def test_what_a_killed_process_left_is_removed_by_the_next_writer(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".a.{ended.pid}.unfinished.json").write_text("half")
    (tmp_path / f".a.{os.getppid()}.unfinished.json").write_text("of a process that lives")
    (tmp_path / f".b.{ended.pid}.unfinished.json").write_text("of another file")

    write_text(tmp_path / "a.json", "whole")

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f".a.{os.getppid()}.unfinished.json", f".b.{ended.pid}.unfinished.json", "a.json"]
    )


def test_size_of_a_folder_is_that_of_all_files_in_it(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/one").write_bytes(bytes(1000))
    (tmp_path / "a/b/two").write_bytes(bytes(234))

    assert bytes_below(tmp_path) == 1234
    assert bytes_below(tmp_path / "none") == 0


@pytest.mark.timeout(20)
def test_linked_folders_are_followed_but_for_those_that_lead_back(tmp_path: Path) -> None:
    folder, other = tmp_path / "images", tmp_path / "other"
    for made in (folder, other):
        made.mkdir()
        (made / "a.png").touch()
    (folder / "linked").symlink_to(other)
    assert visible_files(folder) == [folder / "a.png", folder / "linked/a.png"]
    for name in ("one", "two"):
        (other / name).symlink_to(folder)
    with pytest.raises(UserError, match="linked/one: this link leads back") as caught:
        visible_files(folder)
    assert "\n" not in str(caught.value)
