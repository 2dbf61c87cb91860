"""Official files on a server of this machine, and the official ones where they are at hand."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from automata.datasets.acquire import acquire
from automata.datasets.catalog import RemoteFile

Obtain = Callable[[dict[str, bytes]], dict[str, Path]]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def obtain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Obtain]:
    """Serve files, acquire them over HTTP and return their paths."""
    monkeypatch.setenv("NO_PROXY", "*")
    served = tmp_path / "served"
    served.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=served)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

        def get(files: dict[str, bytes]) -> dict[str, Path]:
            paths = {}
            for name, content in files.items():
                (served / name).write_bytes(content)
                checksum = hashlib.sha256(content).hexdigest()
                url = f"http://127.0.0.1:{server.server_port}/{name}"
                file = RemoteFile(url, f"sha256:{checksum}")
                paths[name] = acquire("toy", file, tmp_path / "downloads", None)
            return paths

        yield get
        server.shutdown()


@pytest.fixture(scope="session")
def official(mirror: Path) -> Callable[..., dict[str, Path]]:
    """Return a function that gives the paths of these official files, or skips the test."""

    def get(*files: str) -> dict[str, Path]:
        paths = {file: mirror / file for file in files}
        if not all(path.is_file() for path in paths.values()):
            pytest.skip(f"no {' and '.join(files)} in {mirror}")
        return paths

    return get
