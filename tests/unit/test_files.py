"""Files that are either complete or absent."""

import os
import subprocess
import sys

import pytest

from automata.errors import UserError
from automata.files import replacing, visible_files, write_text


def write_and_fail(path, error):
    """Write half of a new file, then raise `error`."""
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise error


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_written_file_replaces_the_older_one_at_the_end(tmp_path):
    path = tmp_path / "record.json"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert (temporary.parent, temporary.suffix) == (tmp_path, ".json")
    assert path.read_text() == "new"
    assert names(tmp_path) == ["record.json"]


def test_older_file_alone_stays_after_an_exception(tmp_path):
    path = tmp_path / "record.json"
    path.write_text("old")
    for error in (ZeroDivisionError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            write_and_fail(path, error)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["record.json"]


def test_umask_decides_who_may_read(tmp_path):
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "model.safetensors") as temporary:
            temporary.touch(0o600)  # as safetensors does
    finally:
        os.umask(before)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_not_replaced(tmp_path):
    """As root, replacing /dev/null would break the machine."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match=r"pipe: a device or a pipe; name a file"):
        write_text(tmp_path / "pipe", "new")
    assert (tmp_path / "pipe").is_fifo()


def test_next_writer_removes_what_a_killed_process_left(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".a.0f.{ended.pid}.unfinished.json").write_text("half")
    kept = [f".a.{os.getppid()}.unfinished.json", f".b.{ended.pid}.unfinished.json"]
    for name in kept:  # of a live process, and of another file
        (tmp_path / name).touch()
    blocking = [f".a.{process}.unfinished.json" for process in (os.getpid(), ended.pid)]
    for name in blocking:  # as another account's file, a folder cannot be unlinked
        (tmp_path / name).mkdir()
    write_text(tmp_path / "a.json", "κ = 0.35")
    assert (tmp_path / "a.json").read_bytes() == "κ = 0.35".encode()
    assert names(tmp_path) == sorted([*kept, *blocking, "a.json"])


@pytest.mark.timeout(20)
def test_linked_folders_are_followed_unless_they_lead_back(tmp_path):
    folder, other = tmp_path / "images", tmp_path / "other"
    write_text(folder / "a.png", "")
    write_text(other / "a.png", "")
    write_text(other / ".hidden/b.png", "")
    (folder / "linked").symlink_to(other)
    assert visible_files(folder) == [folder / "a.png", folder / "linked/a.png"]
    (other / "one").symlink_to(folder)
    with pytest.raises(UserError, match="linked/one: this link leads back") as caught:
        visible_files(folder)
    assert "\n" not in str(caught.value)
