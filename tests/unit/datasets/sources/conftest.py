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
from automata.datasets.sources import Source

Obtain = Callable[[str, dict[str, bytes]], Source]


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def obtain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Obtain]:
    """Serve files, acquire them over HTTP and return what a loader is given."""
    monkeypatch.setenv("NO_PROXY", "*")
    served = tmp_path / "served"
    served.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=served)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

        def get(name: str, files: dict[str, bytes]) -> Source:
            source = Source(name)
            for file, content in files.items():
                (served / file).write_bytes(content)
                checksum = hashlib.sha256(content).hexdigest()
                url = f"http://127.0.0.1:{server.server_port}/{file}"
                acquired = acquire(
                    name, RemoteFile(url, f"sha256:{checksum}"), tmp_path / "downloads", None
                )
                source.paths[file], source.checksums[file] = acquired.path, acquired.sha256
            return source

        yield get
        server.shutdown()


@pytest.fixture(scope="session")
def official(mirror: Path) -> Callable[..., Source]:
    """Return a function that gives the source of these official files, or skips the test."""

    def get(name: str, *files: str) -> Source:
        paths = {file: mirror / file for file in files}
        if not all(path.is_file() for path in paths.values()):
            pytest.skip(f"no {' and '.join(files)} in {mirror}")
        return Source(name, paths)

    return get
