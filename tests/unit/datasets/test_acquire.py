"""Acquisition of official files, against a server on this machine that misbehaves on demand."""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.datasets import acquire as acquire_module
from automata.datasets.acquire import acquire
from automata.datasets.catalog import RemoteFile
from automata.errors import UserError

BODY = bytes(range(256)) * 1200  # several chunks
SHA256 = hashlib.sha256(BODY).hexdigest()
MD5 = hashlib.md5(BODY).hexdigest()
NAME = "digits.bin"


@dataclass
class Reply:
    """What the server does with one request; `sent` is how much of the body it sends."""

    status: int = 200
    body: bytes = BODY
    sent: int | None = None
    reset: bool = False
    stall: float = 0.0
    ready: threading.Event | None = None


OK = Reply()
TRUNCATED = Reply(sent=1000)
DROPPED = Reply(sent=100_000, reset=True)
MISSING = Reply(status=404, body=b"no such file")
CORRUPTED = Reply(body=BODY[:-1] + b"?")


@dataclass
class Server:
    """Replies in turn, the last one for ever; it has NAME alone, and in /empty nothing."""

    replies: list[Reply] = field(default_factory=lambda: [OK])
    requests: list[str] = field(default_factory=list)
    base: str = ""

    @property
    def url(self) -> str:
        return f"{self.base}/official/{NAME}"

    def file(self, checksum: str | None = f"sha256:{SHA256}") -> RemoteFile:
        return RemoteFile(self.url, checksum)

    def reply(self, path: str) -> Reply:
        self.requests.append(path)
        if not path.endswith(f"/{NAME}") or path.startswith("/empty/"):
            return MISSING
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reply = server.reply(self.path)
            if reply.ready is not None:
                reply.ready.wait(20)
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            time.sleep(reply.stall)
            self.wfile.write(reply.body[: reply.sent])
            if reply.reset:
                # Closing with this option sends a reset in place of a regular end.
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(acquire_module, "WAITS", (0.0, 0.0, 0.0))
    state = Server()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler(state)) as running:
        state.base = f"http://127.0.0.1:{running.server_port}"
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield state
        running.shutdown()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "downloads"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    folder.mkdir()
    return folder


def contents(folder: Path) -> list[str]:
    """Return the names of all files but the locks, which stay on purpose."""
    names = (path.name for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.endswith(".lock"))


def failure(
    file: RemoteFile, cache: Path, mirror: str | None = None, dataset: str = "numerals"
) -> str:
    """Return the text of the error."""
    with pytest.raises(UserError) as caught:
        acquire(dataset, file, cache, mirror)
    return str(caught.value)


def put(path: Path, content: bytes = BODY) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_download_is_in_the_cache_under_its_official_name(server: Server, cache: Path) -> None:
    assert acquire("numerals", server.file(), cache, None) == cache / NAME
    assert (cache / NAME).read_bytes() == BODY
    assert contents(cache) == [NAME]


def test_download_has_the_permissions_of_any_new_file(server: Server, cache: Path) -> None:
    acquire("numerals", server.file(), cache, None)
    other = put(cache / "other")
    assert (cache / NAME).stat().st_mode == other.stat().st_mode


def test_terminal_shows_the_whole_size(
    server: Server,
    cache: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    acquire("numerals", server.file(), cache, None)
    assert "307k/307k" in capsys.readouterr().err.split("\r")[-1]


def test_log_names_what_is_downloaded(
    server: Server, cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    acquire("numerals", server.file(), cache, None)
    assert f"downloading {server.url}" in caplog.text


@pytest.mark.parametrize("checksum", [f"md5:{MD5}", f"sha256:{SHA256.upper()}"])
def test_checksum_is_md5_or_in_capitals(server: Server, cache: Path, checksum: str) -> None:
    assert acquire("numerals", server.file(checksum), cache, None).read_bytes() == BODY


def test_verified_file_in_the_cache_comes_first_and_needs_nothing(
    server: Server, cache: Path, mirror: Path
) -> None:
    put(cache / NAME)
    put(mirror / NAME, b"other")
    assert acquire("numerals", server.file(), cache, str(mirror)) == cache / NAME
    assert (server.requests, list(cache.iterdir())) == ([], [cache / NAME])


def test_wrong_file_in_the_cache_is_an_error_and_not_replaced(server: Server, cache: Path) -> None:
    put(cache / NAME, b"placed by hand")
    found = hashlib.sha256(b"placed by hand").hexdigest()
    assert failure(server.file(), cache) == (
        f"numerals: {cache / NAME}: wrong checksum: expected sha256:{SHA256}, found {found}; "
        f"put the file of {server.url} at {cache / NAME} by hand"
    )
    assert ((cache / NAME).read_bytes(), server.requests) == (b"placed by hand", [])


@given(position=st.integers(0, len(BODY) - 1), flipped=st.integers(1, 255))
def test_any_changed_byte_in_the_cache_is_noticed(position: int, flipped: int) -> None:
    changed = bytearray(BODY)
    changed[position] ^= flipped
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder) / NAME, bytes(changed))
        file = RemoteFile(f"http://127.0.0.1:9/{NAME}", f"sha256:{SHA256}")
        assert "wrong checksum" in failure(file, Path(folder))


def test_mirror_folder_is_used_in_place(server: Server, cache: Path, mirror: Path) -> None:
    put(mirror / NAME)
    assert acquire("numerals", server.file(), cache, str(mirror)) == mirror / NAME
    assert (cache.exists(), server.requests) == (False, [])


def test_mirror_folder_without_the_file_gives_way_to_the_source(
    server: Server, cache: Path, mirror: Path
) -> None:
    assert acquire("numerals", server.file(), cache, str(mirror)) == cache / NAME


def test_wrong_file_in_a_mirror_folder_is_an_error(
    server: Server, cache: Path, mirror: Path
) -> None:
    put(mirror / NAME, b"other")
    assert f"{mirror / NAME}: wrong checksum" in failure(server.file(), cache, str(mirror))


@pytest.mark.parametrize("slash", ["", "/"])
def test_mirror_url_comes_before_the_source(server: Server, cache: Path, slash: str) -> None:
    path = acquire("numerals", server.file(), cache, f"{server.base}/mirror{slash}")
    assert (path, server.requests) == (cache / NAME, [f"/mirror/{NAME}"])


@pytest.mark.parametrize("reply", [MISSING, CORRUPTED, Reply(status=503), TRUNCATED])
def test_mirror_url_that_fails_gives_way_to_the_source(
    server: Server, cache: Path, reply: Reply
) -> None:
    server.replies = [reply] * len(acquire_module.WAITS) + [OK]
    path = acquire("numerals", server.file(), cache, f"{server.base}/mirror")
    assert (path.read_bytes(), server.requests[-1]) == (BODY, f"/official/{NAME}")


def test_error_names_what_is_wrong_with_the_mirror_and_with_the_source(
    server: Server, cache: Path
) -> None:
    server.replies = [MISSING]
    gone = f"http://127.0.0.1:{unused_port()}"
    text = failure(server.file(), cache, gone)
    assert "Connection refused" in text.partition(server.url)[0]
    assert "404" in text.partition(server.url)[2]


@pytest.mark.parametrize(
    ("broken", "times"),
    [(TRUNCATED, 1), (DROPPED, 2), (Reply(status=503), 2), (CORRUPTED, 1)],
)
def test_broken_download_is_tried_again(
    server: Server, cache: Path, broken: Reply, times: int
) -> None:
    server.replies = [broken] * times + [OK]
    assert acquire("numerals", server.file(), cache, None).read_bytes() == BODY
    assert (contents(cache), len(server.requests)) == ([NAME], times + 1)


def test_second_attempt_starts_from_the_first_byte(server: Server, cache: Path) -> None:
    server.replies = [Reply(body=b"x" * len(BODY) * 2, sent=len(BODY) + 1), OK]
    assert acquire("numerals", server.file(), cache, None).read_bytes() == BODY


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (CORRUPTED, f"wrong checksum: expected sha256:{SHA256}, found "),
        (TRUNCATED, "IncompleteRead(1000 bytes read, "),
        (DROPPED, "Connection broken: "),
        (MISSING, "404 Client Error"),
        (Reply(status=500), "500 Server Error"),
    ],
)
def test_failed_download_is_one_line_with_a_remedy_and_leaves_nothing(
    reply: Reply, problem: str, server: Server, cache: Path
) -> None:
    server.replies = [reply]
    text = failure(server.file(), cache)
    assert text.startswith(f"numerals: {cache / NAME}: {server.url}: ")
    assert problem in text
    assert text.endswith(f"; put the file of {server.url} at {cache / NAME} by hand")
    assert "\n" not in text
    assert contents(cache) == []


def test_silent_server_is_given_up(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acquire_module, "WAITS", (0.0,))
    monkeypatch.setattr(acquire_module, "TIMEOUT", (1.0, 0.2))
    server.replies = [Reply(stall=1.0)]
    assert "timed out" in failure(server.file(), cache)


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_folder_that_cannot_be_made_is_an_error(server: Server, tmp_path: Path) -> None:
    put(tmp_path / "file")
    assert "Not a directory" in failure(server.file(), tmp_path / "file" / "downloads")


def test_full_disk_is_an_error_and_leaves_nothing(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in failure(server.file(), cache)
    assert contents(cache) == []


def test_interrupt_leaves_nothing(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(acquire_module, "_verify", interrupt)
    with pytest.raises(KeyboardInterrupt):
        acquire("numerals", server.file(), cache, None)
    assert contents(cache) == []


def test_leftover_of_a_killed_process_is_removed(server: Server, cache: Path) -> None:
    put(cache / f".digits.{2**22 + 1}.unfinished.bin", b"half")  # no system has such a process
    acquire("numerals", server.file(), cache, None)
    assert contents(cache) == [NAME]


def test_first_download_without_a_checksum_is_recorded(server: Server, cache: Path) -> None:
    first = acquire("numerals", server.file(None), cache, None)
    assert (cache / f"{NAME}.sha256").read_text() == f"{SHA256}  {NAME}\n"
    assert acquire("numerals", server.file(None), cache, None) == first


Later = Callable[[Server, Path, Path], str | None]


def later_in_the_cache(_: Server, cache: Path, __: Path) -> str | None:
    put(cache / NAME, b"other")
    return None


def later_at_the_source(server: Server, cache: Path, _: Path) -> str | None:
    (cache / NAME).unlink()
    server.replies = [CORRUPTED]
    return None


def later_in_a_mirror(_: Server, cache: Path, mirror: Path) -> str | None:
    (cache / NAME).unlink()
    put(mirror / NAME, b"other")
    return str(mirror)


@pytest.mark.parametrize("later", [later_in_the_cache, later_at_the_source, later_in_a_mirror])
def test_later_file_must_have_the_recorded_checksum(
    server: Server, cache: Path, mirror: Path, later: Later
) -> None:
    acquire("numerals", server.file(None), cache, None)
    text = failure(server.file(None), cache, later(server, cache, mirror))
    assert f"wrong checksum: expected sha256:{SHA256}, found " in text
    assert f"({cache / NAME}.sha256 has the checksum of the first one)" in text


def test_record_survives_a_file_that_does_not_match(server: Server, cache: Path) -> None:
    acquire("numerals", server.file(None), cache, None)
    failure(server.file(None), cache, later_at_the_source(server, cache, cache))
    assert contents(cache) == [f"{NAME}.sha256"]


def test_first_file_of_a_mirror_is_recorded_too(server: Server, cache: Path, mirror: Path) -> None:
    put(mirror / NAME)
    acquire("numerals", server.file(None), cache, str(mirror))
    assert contents(cache) == [f"{NAME}.sha256"]


def test_spoilt_record_is_an_error(server: Server, cache: Path) -> None:
    put(cache / f"{NAME}.sha256", b"\xff not a checksum")
    assert f"{NAME}.sha256 has the checksum" in failure(server.file(None), cache)


PROCESS = """
import sys, urllib.request
from pathlib import Path
from automata.datasets.acquire import acquire
from automata.datasets.catalog import RemoteFile

base, url, checksum, cache = sys.argv[1:]
try:
    urllib.request.urlopen(f"{base}/ready")
except urllib.error.HTTPError:
    pass  # the request is what counts
print(acquire("numerals", RemoteFile(url, checksum or None), Path(cache), None))
"""


@pytest.mark.parametrize("checksum", [f"sha256:{SHA256}", ""])
def test_two_processes_at_once_share_one_download(
    server: Server, cache: Path, checksum: str
) -> None:
    both_started = threading.Event()
    server.replies = [Reply(ready=both_started)]
    command = [sys.executable, "-c", PROCESS, server.base, server.url, checksum, str(cache)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        for _ in range(2)
    ]
    deadline = time.monotonic() + 20
    while server.requests.count("/ready") < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.2)  # for the second to reach the lock that the first one holds
    both_started.set()
    printed = [process.communicate(timeout=30)[0].strip() for process in processes]
    downloads = server.requests.count(f"/official/{NAME}")
    assert (printed, downloads) == ([str(cache / NAME)] * 2, 1)
