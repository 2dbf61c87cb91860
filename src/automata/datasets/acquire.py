"""Official files on this machine: from the cache, a mirror, or their official address.

A file has its official name only when it is complete and its checksum was verified.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from filelock import FileLock
from pooch import HTTPDownloader
from tqdm import tqdm
from urllib3.exceptions import IncompleteRead

from automata.datasets.catalog import RemoteFile
from automata.errors import UserError
from automata.files import write_text

RETRY_WAITS: tuple[float, ...] = (1.0, 4.0)
"""Seconds before the second, third, ... attempt at a download; then it has failed."""

CONNECT_SECONDS, SILENCE_SECONDS = 15.0, 60.0
"""How long a server may take to accept a connection, and to send the next bytes."""

_CHUNK_BYTES = 1 << 16
_LACKING = (403, 404, 410)  # some stores answer 403 where there is no such file
_WORTH_A_RETRY = (408, 429, 500, 502, 503, 504)

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Acquired:
    """A complete file whose checksum is right."""

    path: Path
    sha256: str
    """64 hexadecimal digits."""


def acquire(dataset: str, file: RemoteFile, cache: Path, mirror: str | None) -> Acquired:
    """Return `file`, which `dataset` needs: from `cache`, else from `mirror`, else from its URL.

    `mirror` is a folder, whose file is used where it lies, or a base URL. A mirror without the
    file is passed over. Where the source publishes no checksum, that of the first file is kept
    in `cache` as `<name>.sha256`, and every later one must equal it.

    Raises UserError if the file cannot be had, or has another checksum than expected; a file in
    the cache is never replaced, as a user may have put it there.
    """
    wanted = _Wanted(dataset, file, cache)
    with wanted.storage_errors():
        present = _present(wanted, mirror)
        if present is not None:
            return present
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f".{file.name}.lock"):
            # Another process may have had the lock until now because it wanted the same file.
            return _present(wanted, mirror) or _download(wanted, mirror)


@dataclass(frozen=True)
class _Wanted:
    """A file that a data set needs, and its places in the cache."""

    dataset: str
    file: RemoteFile
    cache: Path

    @property
    def path(self) -> Path:
        return self.cache / self.file.name

    @property
    def partial(self) -> Path:
        """The unfinished download; always the same name, so that a killed one is overwritten."""
        return self.cache / f".{self.file.name}.partial"

    @property
    def record(self) -> Path:
        """The checksum of the first file of this name, in the format of sha256sum."""
        return self.cache / f"{self.file.name}.sha256"

    def checksum(self) -> str | None:
        """Return "algorithm:digits" that the file must have; None for the first of its name."""
        if self.file.checksum is not None:
            return self.file.checksum.lower()
        if not self.record.exists():
            return None
        recorded = self.record.read_text(encoding="utf-8", errors="replace")
        digits = re.match(r"[0-9a-f]{64}\b", recorded)
        if digits is None:
            raise self.error(
                str(self.record),
                f"expected the SHA-256 of the first download, found {recorded[:20]!r}",
                "delete that record",
            )
        return f"sha256:{digits.group()}"

    def error(self, where: str, problem: str, remedy: str) -> UserError:
        """Return an error of one line about the file at `where`."""
        text = f"{self.dataset}: {self.file.name} from {where}: {problem}; {remedy}"
        return UserError(" ".join(text.split()))

    @property
    def by_hand(self) -> str:
        """What always helps."""
        return f"put the right file by hand at {self.path}"

    @contextmanager
    def storage_errors(self) -> Iterator[None]:
        """Turn a full disk, a read-only folder and the like into a UserError."""
        try:
            yield
        except OSError as error:
            problem = f"expected readable files and a writable folder with room, found {error}"
            raise self.error(self.file.url, problem, self.by_hand) from error


@dataclass(eq=False)
class _DownloadError(Exception):
    """An attempt that failed."""

    problem: str
    lacking: bool = False
    """The server has no such file."""
    retry: bool = False
    """Another attempt may succeed."""


class _Progress(tqdm):  # type: ignore[misc]
    """A bar for a person who watches; elsewhere a line now and then."""

    def __init__(self, name: str) -> None:
        watched = sys.stderr.isatty()
        super().__init__(
            desc=name,
            unit="B",
            unit_scale=True,
            ncols=79,
            mininterval=0.1 if watched else 15.0,
            delay=0.5 if watched else 15.0,
            leave=watched,
        )

    def __bool__(self) -> bool:
        """Be true: pooch asks whether there is a bar, and tqdm answers whether it has a total."""
        return True

    def reset(self, total: float | None = None) -> None:
        """Go back to 0 without drawing that: pooch does it just before it fills the bar."""
        self.n = 0


def _present(wanted: _Wanted, mirror: str | None) -> Acquired | None:
    """Return the file of the cache, else that of a mirror which is a folder, else None."""
    if wanted.path.is_file():
        remedy = "delete it, or replace it with the right file"
        return _verified(wanted, wanted.path, str(wanted.path), remedy)
    if mirror is None or _is_url(mirror):
        return None
    mirrored = Path(mirror).expanduser() / wanted.file.name
    if not mirrored.is_file():
        _LOG.info("%s is not in the mirror %s", wanted.file.name, mirror)
        return None
    return _verified(wanted, mirrored, str(mirrored), f"mend the mirror, or {wanted.by_hand}")


def _download(wanted: _Wanted, mirror: str | None) -> Acquired:
    """Bring the file into the cache, from a mirror that is a URL or else from the source."""
    if mirror is not None and _is_url(mirror):
        url = f"{mirror.rstrip('/')}/{wanted.file.name}"
        try:
            return _download_from(wanted, url)
        except _DownloadError as error:
            if not error.lacking:
                remedy = f"mend the mirror, or {wanted.by_hand}"
                raise wanted.error(url, error.problem, remedy) from error
            _LOG.info("%s is not in the mirror %s", wanted.file.name, mirror)
    try:
        return _download_from(wanted, wanted.file.url)
    except _DownloadError as error:
        tried = f" (and no such file in the mirror {mirror})" if mirror is not None else ""
        remedy = f"try again later, or {wanted.by_hand}"
        raise wanted.error(wanted.file.url, f"{error.problem}{tried}", remedy) from error


def _download_from(wanted: _Wanted, url: str) -> Acquired:
    """Download, verify and only then name the file; the lock is held.

    Raises _DownloadError if it did not arrive, and UserError if it is another file.
    """
    try:
        _fetch_persistently(url, wanted.partial)
        arrived = _verified(wanted, wanted.partial, url, wanted.by_hand)
        with wanted.partial.open("rb") as written:
            os.fsync(written.fileno())
        wanted.partial.replace(wanted.path)
    finally:
        wanted.partial.unlink(missing_ok=True)
    return Acquired(wanted.path, arrived.sha256)


def _fetch_persistently(url: str, target: Path) -> None:
    """Write the body at `url` to `target`, with a new attempt where that may help."""
    for wait in RETRY_WAITS:
        try:
            return _fetch(url, target)
        except _DownloadError as error:
            if not error.retry:
                raise
            _LOG.warning("%s: %s; next attempt in %g s", url, error.problem, wait)
            time.sleep(wait)
    return _fetch(url, target)


def _fetch(url: str, target: Path) -> None:
    """Write the body at `url` to `target`, in one attempt.

    Raises _DownloadError if not all of it came.
    """
    with _Progress(url.rsplit("/", 1)[1]) as progress:
        downloader = HTTPDownloader(
            progressbar=progress,
            chunk_size=_CHUNK_BYTES,
            timeout=(CONNECT_SECONDS, SILENCE_SECONDS),
            # Checksums are of the file itself, not of what a server compressed on its way.
            headers={"Accept-Encoding": "identity"},
        )
        try:
            downloader(url, str(target), None)
        except requests.HTTPError as error:
            raise _refused(error) from error
        except requests.RequestException as error:
            # pooch sets the total once the answer has begun, and leaves what came of the body.
            if progress.total is None:
                raise _unreached(error) from error
            raise _broken(error, progress.total, target) from error


def _refused(error: requests.HTTPError) -> _DownloadError:
    """Describe an answer that is not the file."""
    status = error.response.status_code if error.response is not None else 0
    return _DownloadError(
        f"expected a file, found HTTP status {status}",
        lacking=status in _LACKING,
        retry=status in _WORTH_A_RETRY,
    )


def _broken(error: Exception, total: int, target: Path) -> _DownloadError:
    """Describe a body that ended too early; `total` is in bytes, 0 where the server told none."""
    expected = f"{total} bytes" if total else "a complete body"
    root = _root(error)
    # The last, unfinished chunk was never written, so the error may know of more bytes.
    found = root.partial if isinstance(root, IncompleteRead) else target.stat().st_size
    return _DownloadError(
        f"truncated download: expected {expected}, found {found} bytes ({_reason(root)})",
        retry=True,
    )


def _unreached(error: Exception) -> _DownloadError:
    """Describe a server that gave no answer."""
    reason = _reason(_root(error))
    return _DownloadError(f"expected an answer, found no connection ({reason})", retry=True)


def _root(error: BaseException) -> BaseException:
    """Return what is at the bottom of an exception: libraries wrap it several times."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _verified(wanted: _Wanted, path: Path, where: str, remedy: str) -> Acquired:
    """Return the file at `path`, which came from `where`, if its checksum is right.

    Without a checksum to compare with, this one is recorded.
    """
    expected = wanted.checksum()
    sha256 = _digits(path, "sha256")
    if expected is None:
        write_text(wanted.record, f"{sha256}  {wanted.file.name}\n")
        return Acquired(path, sha256)
    algorithm = expected.partition(":")[0]
    found = f"{algorithm}:{sha256 if algorithm == 'sha256' else _digits(path, algorithm)}"
    if found != expected:
        recorded = f" (as recorded in {wanted.record})" if wanted.file.checksum is None else ""
        problem = f"wrong checksum: expected {expected}{recorded}, found {found}"
        raise wanted.error(_with_url(where, wanted.file.url), problem, remedy)
    return Acquired(path, sha256)


def _with_url(where: str, url: str) -> str:
    """Name the official address beside the place of a file that did not come from there."""
    return where if where == url else f"{where} (officially {url})"


def _digits(path: Path, algorithm: str) -> str:
    """Return the hexadecimal digest of the file at `path`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def _is_url(mirror: str) -> bool:
    return mirror.startswith(("http://", "https://"))
