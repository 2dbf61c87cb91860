"""Official files from a server on this machine that misbehaves on demand."""

import hashlib
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from typing import NamedTuple
from unittest.mock import Mock

import pytest

from automata.datasets import acquire as acquire_module
from automata.datasets.acquire import acquire
from automata.datasets.catalog import RemoteFile
from automata.errors import UserError

BODY = bytes(range(256)) * 1200  # several chunks
SHA256 = hashlib.sha256(BODY).hexdigest()
MD5 = hashlib.md5(BODY).hexdigest()
NAME, LOCK = "digits.bin", ".digits.bin.lock"


class Reply(NamedTuple):
    """An answer of the server, which waits, and sends the first `sent` bytes."""

    status: int = 200
    body: bytes = BODY
    sent: int | None = None
    stall: float = 0.0


OK = Reply()
TRUNCATED = Reply(sent=1000)
MISSING = Reply(status=404)
CORRUPTED = Reply(body=BODY[:-1] + b"?")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        reply = self.server.reply(self.path)
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        time.sleep(reply.stall)
        self.wfile.write(reply.body[: reply.sent])

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Gives its replies in turn, the last one for ever."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies, self.requests = [OK], []
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.base}/official/{NAME}"

    def file(self, checksum=f"sha256:{SHA256}"):
        return RemoteFile(self.url, checksum)

    def reply(self, path):
        self.requests.append(path)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(acquire_module, "WAITS", (0.0, 0.0, 0.0))
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "downloads"


@pytest.fixture
def mirror(tmp_path):
    return tmp_path / "mirror"


def failure(file, cache, mirror=None):
    """Return the text of the error."""
    with pytest.raises(UserError) as caught:
        acquire("numerals", file, cache, mirror)
    return str(caught.value)


def put(path, content=BODY):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("checksum", [f"md5:{MD5}", f"sha256:{SHA256.upper()}"])
def test_download_is_in_the_cache_under_its_official_name(server, cache, checksum):
    assert acquire("numerals", server.file(checksum), cache, None) == cache / NAME
    assert (cache / NAME).read_bytes() == BODY
    assert {*cache.iterdir()} == {cache / NAME, cache / LOCK}
    assert (cache / NAME).stat().st_mode == put(cache / "any new file").stat().st_mode


def test_verified_file_in_the_cache_comes_first_and_needs_nothing(server, cache, mirror):
    put(cache / NAME)
    put(mirror / NAME, b"other")
    assert acquire("numerals", server.file(), cache, str(mirror)) == cache / NAME
    assert (server.requests, list(cache.iterdir())) == ([], [cache / NAME])


def test_wrong_file_in_the_cache_is_an_error_and_not_replaced(server, cache):
    put(cache / NAME, b"other")
    found = hashlib.sha256(b"other").hexdigest()
    problem = f"{cache / NAME}: wrong checksum: expected sha256:{SHA256}, found {found}"
    remedy = f"put the file of {server.url} at {cache / NAME} by hand"
    assert failure(server.file(), cache) == f"numerals: {problem}; {remedy}"
    assert ((cache / NAME).read_bytes(), server.requests) == (b"other", [])


def test_mirror_folder_is_used_in_place_or_gives_way_to_the_source(server, cache, mirror):
    put(mirror / NAME)
    assert acquire("numerals", server.file(), cache, str(mirror)) == mirror / NAME
    assert (cache.exists(), server.requests) == (False, [])
    put(mirror / NAME, b"other")
    assert f"{mirror / NAME}: wrong checksum" in failure(server.file(), cache, str(mirror))
    (mirror / NAME).unlink()
    assert acquire("numerals", server.file(), cache, str(mirror)) == cache / NAME


def test_mirror_url_is_tried_three_times_before_the_source(server, cache):
    server.replies = [TRUNCATED, CORRUPTED, MISSING, OK]
    assert acquire("numerals", server.file(), cache, f"{server.base}/mirror/") == cache / NAME
    assert (cache / NAME).read_bytes() == BODY
    assert server.requests == [f"/mirror/{NAME}"] * 3 + [f"/official/{NAME}"]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (CORRUPTED, f"wrong checksum: expected sha256:{SHA256}, found "),
        (TRUNCATED, "IncompleteRead(1000 bytes read, "),
        (MISSING, "404 Client Error"),
        (Reply(stall=1.0), "timed out"),
    ],
)
def test_failed_download_is_one_line_with_a_remedy_and_leaves_nothing(
    reply, problem, server, cache, monkeypatch
):
    if reply.stall:
        monkeypatch.setattr(acquire_module, "TIMEOUT", (1.0, 0.2))
    server.replies = [reply]
    text = failure(server.file(), cache)
    assert text.startswith(f"numerals: {cache / NAME}: {server.url}: ")
    assert problem in text
    assert text.endswith(f"; put the file of {server.url} at {cache / NAME} by hand")
    assert "\n" not in text
    assert [*cache.iterdir()] == [cache / LOCK]


def test_full_disk_leaves_nothing(server, cache, monkeypatch):
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(28, "No space left")))
    assert "No space left" in failure(server.file(), cache)
    assert [*cache.iterdir()] == [cache / LOCK]


@pytest.mark.parametrize("later", ["in the cache", "at the source", "in a mirror"])
def test_later_file_must_have_the_recorded_checksum_of_the_first(server, cache, mirror, later):
    first = acquire("numerals", server.file(None), cache, None)
    assert (cache / f"{NAME}.sha256").read_text() == f"{SHA256}  {NAME}\n"
    assert acquire("numerals", server.file(None), cache, None) == first
    first.unlink()
    server.replies = [CORRUPTED]
    if later != "at the source":
        put((cache if later == "in the cache" else mirror) / NAME, b"other")
    text = failure(server.file(None), cache, str(mirror))
    assert f"wrong checksum: expected sha256:{SHA256}, found " in text
    assert f"({cache / NAME}.sha256 has the checksum of the first one)" in text
    assert (cache / f"{NAME}.sha256").is_file()


def test_two_processes_at_once_share_one_download(server, cache):
    server.replies = [Reply(stall=1.0)]  # for the second to reach the lock that the first one holds
    wanted = ["numerals", server.file(None), cache, None]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        both = [pool.submit(acquire, *wanted) for _ in range(2)]
    assert [one.result() for one in both] == [cache / NAME] * 2
    assert len(server.requests) == 1
