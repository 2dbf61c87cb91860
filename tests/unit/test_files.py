"""Files that are either complete or absent."""

import os
import subprocess
import sys

import pytest

from automata.errors import UserError
from automata.files import content_of, replacing, visible_files, write_text


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


def test_an_error_of_the_system_names_the_file_and_not_its_temporary_name(tmp_path):
    with pytest.raises(UserError, match=f"^{tmp_path}: a folder"):
        write_text(tmp_path, "new")
    with pytest.raises(FileNotFoundError) as raised, replacing(tmp_path / "a") as temporary:
        temporary.rename(tmp_path / "none/b")
    assert raised.value.filename == str(tmp_path / "a")


def test_umask_decides_who_may_read(tmp_path):
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "model.safetensors") as temporary:
            temporary.touch(0o600)  # as safetensors does
    finally:
        os.umask(before)
    assert (tmp_path / "model.safetensors").stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_neither_replaced_nor_read(tmp_path):
    """As root, replacing /dev/null would break the machine."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match=r"pipe: a folder, a device or a pipe; name a file"):
        write_text(tmp_path / "pipe", "new")
    assert (tmp_path / "pipe").is_fifo()
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(UserError, match=r"pipe: a pipe or a device[:;]"):
            content_of(path)


def test_a_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_name_that_is_not_utf_8_is_refused(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).touch()
    with pytest.raises(UserError, match=r"caf\\udce9\.txt: the name is not in UTF-8: rename it"):
        visible_files(tmp_path)


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


@pytest.fixture
def images(tmp_path):
    """A folder that is named by a link, with a link to one of its own files."""
    for name in ("b/1.png", "a.png", ".hidden/c.png"):
        write_text(tmp_path / "pool" / name, "")
    (tmp_path / "images").symlink_to("pool")
    (tmp_path / "images/b/2.png").symlink_to("../.hidden/c.png")
    return tmp_path / "images"


def test_hidden_files_and_folders_are_left_out(images):
    (images / ".git").symlink_to("/")
    assert visible_files(images) == [images / name for name in ("a.png", "b/1.png", "b/2.png")]


@pytest.mark.parametrize("target", ["/dev/zero", "../../private", "..", "3.png", "absent"])
def test_links_to_anything_else_are_refused_before_they_are_read(images, target):
    write_text(images.parent / "private", "secret")
    (images / "b/3.png").symlink_to(target)
    with pytest.raises(UserError, match=r"/b/3\.png: a link that .*: put a copy in its place\Z"):
        content_of(images)
