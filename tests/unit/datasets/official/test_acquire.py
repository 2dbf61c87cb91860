"""Official files from a server on this machine that misbehaves on demand."""

import hashlib
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from automata import locks
from automata.catalog import RemoteFile
from automata.datasets.official import acquire as acquire_module
from automata.datasets.official.acquire import acquire
from automata.errors import UserError

BODY = bytes(range(256)) * 1200  # several chunks
SHA256 = hashlib.sha256(BODY).hexdigest()
MD5 = hashlib.md5(BODY).hexdigest()
NAME = "digits.bin"
CACHE, MIRROR = Path("downloads"), Path("mirror")
FILE, LOCK = CACHE / NAME, CACHE / f".{NAME}.lock"


class Reply(NamedTuple):
    """An answer of the server, which sends the first `sent` bytes, once it `may_send` them."""

    status: int = 200
    body: bytes = BODY
    sent: int | None = None
    may_send: threading.Event | None = None


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
        if reply.may_send:
            reply.may_send.wait(60)
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

    def reply(self, path):
        self.requests.append(path)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def acquired(self, mirror=None, checksum=f"sha256:{SHA256}"):
        """Return the path of the file."""
        return acquire("numerals", RemoteFile(self.url, checksum), CACHE, mirror)

    def failure(self, *arguments):
        """Return the text of the error."""
        with pytest.raises(UserError) as caught:
            self.acquired(*arguments)
        return str(caught.value)


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(acquire_module, "WAITS", (0.0, 0.0, 0.0))
    monkeypatch.chdir(tmp_path)
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


def put(path, content=BODY):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("checksum", [f"md5:{MD5}", f"sha256:{SHA256.upper()}"])
def test_download_is_in_the_cache_under_its_official_name(server, checksum):
    assert server.acquired(None, checksum) == FILE
    assert FILE.read_bytes() == BODY
    assert {*CACHE.iterdir()} == {FILE, LOCK}
    assert FILE.stat().st_mode == put(CACHE / "any new file").stat().st_mode
    put(MIRROR / NAME, b"other")
    assert server.acquired(str(MIRROR), checksum) == FILE  # the cache comes first
    assert len(server.requests) == 1


def test_mirror_folder_is_used_in_place_or_gives_way_to_the_source(server):
    put(MIRROR / NAME)
    assert server.acquired(str(MIRROR)) == MIRROR / NAME
    assert (CACHE.exists(), server.requests) == (False, [])
    put(MIRROR / NAME, b"other")
    assert f"{MIRROR / NAME}: wrong checksum" in server.failure(str(MIRROR))
    (MIRROR / NAME).unlink()
    assert server.acquired(str(MIRROR)) == FILE


def test_mirror_url_is_tried_three_times_before_the_source(server):
    server.replies = [TRUNCATED, CORRUPTED, MISSING, OK]
    assert server.acquired(f"{server.base}/mirror/") == FILE
    assert FILE.read_bytes() == BODY
    assert server.requests == [f"/mirror/{NAME}"] * 3 + [f"/official/{NAME}"]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (CORRUPTED, f"wrong checksum: expected sha256:{SHA256}, found "),
        (TRUNCATED, "IncompleteRead(1000 bytes read, "),
        (MISSING, "404 Client Error"),
        (Reply(body=BODY * 10), "larger than 3 MB"),
        (Reply(may_send=threading.Event()), "timed out"),
        (OK, "not here after 6 hours"),
    ],
)
def test_failed_download_is_one_line_with_a_remedy_and_leaves_nothing(
    reply, problem, server, monkeypatch
):
    if reply.may_send:
        monkeypatch.setattr(acquire_module, "TIMEOUT", (60.0, 0.01))
    if reply == OK:  # each look at the clock is two hours after the one before
        clock = SimpleNamespace(monotonic=itertools.count(0, 7200).__next__, sleep=lambda _: None)
        monkeypatch.setattr(acquire_module, "time", clock)
    server.replies = [reply]
    text = server.failure()
    if reply.may_send:
        reply.may_send.set()
    assert text.startswith(f"numerals: {FILE}: {server.url}: ")
    assert problem in text
    assert text.endswith(f"; put the file of {server.url} at {FILE} by hand")
    assert "\n" not in text
    assert [*CACHE.iterdir()] == [LOCK]


@pytest.mark.parametrize("later", ["in the cache", "at the source", "in a mirror"])
def test_later_file_must_have_the_recorded_checksum_of_the_first(server, later):
    recorded = CACHE / f"{NAME}.sha256"
    assert server.acquired(None, None) == FILE
    assert recorded.read_text() == f"{SHA256}  {NAME}\n"
    assert server.acquired(None, None) == FILE
    FILE.unlink()
    server.replies = [CORRUPTED]
    if later != "at the source":
        put((CACHE if later == "in the cache" else MIRROR) / NAME, b"other")
    text = server.failure(str(MIRROR), None)
    assert f"wrong checksum: expected sha256:{SHA256}, found " in text
    assert f"({recorded} has the checksum of the first one)" in text
    assert recorded.is_file()
    assert later != "in the cache" or FILE.read_bytes() == b"other"  # it may be the user's


def test_who_comes_during_a_download_waits_for_it(server, monkeypatch):
    waiting = threading.Event()
    server.replies = [Reply(may_send=waiting)]
    monkeypatch.setattr(locks, "logger", SimpleNamespace(info=lambda *_: waiting.set()))
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(server.acquired) for _ in range(2)]
    assert [one.result() for one in both] == [FILE] * 2
    assert len(server.requests) == 1
