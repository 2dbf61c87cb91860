"""Official files on this machine: from the cache, a mirror, or their official address.

A file has its official name only when it is complete and its checksum was verified, if it has one.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import requests
from pooch import HTTPDownloader, file_hash

from automata.datasets.catalog import RemoteFile
from automata.errors import UserError
from automata.files import replacing, sha256, write_text
from automata.locks import held

RETRY_WAITS: tuple[float, ...] = (1.0, 4.0)
"""Seconds before the second, third, ... attempt at a download; then it has failed."""

CONNECT_SECONDS, SILENCE_SECONDS = 15.0, 60.0
"""How long a server may take to accept a connection, and to send the next bytes."""

_CHUNK_BYTES = 1 << 16
_LACKING = (403, 404, 410)  # some stores answer 403 where there is no such file
_WORTH_A_RETRY = (None, 408, 429, 500, 502, 503, 504)  # None: a connection that failed or broke

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Acquired:
    """A complete file whose checksum is right, if one is known."""

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
    try:
        present = _present(wanted, mirror)
        if present is not None:
            return present
        cache.mkdir(parents=True, exist_ok=True)
        lock = cache / f".{file.name}.lock"
        with held(lock, f"a download of {file.name}", needed=False):
            # Another process may have had the lock until now because it wanted the same file.
            return _present(wanted, mirror) or _download(wanted, mirror)
    except OSError as error:
        problem = f"expected readable files and a writable folder with room, found {error}"
        raise wanted.error(file.url, problem, wanted.by_hand) from error


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
        except requests.RequestException as error:
            if _status(error) not in _LACKING:
                remedy = f"mend the mirror, or {wanted.by_hand}"
                raise wanted.error(url, _problem(error), remedy) from error
            _LOG.info("%s is not in the mirror %s", wanted.file.name, mirror)
    try:
        return _download_from(wanted, wanted.file.url)
    except requests.RequestException as error:
        tried = f" (and no such file in the mirror {mirror})" if mirror is not None else ""
        remedy = f"try again later, or {wanted.by_hand}"
        raise wanted.error(wanted.file.url, f"{_problem(error)}{tried}", remedy) from error


def _download_from(wanted: _Wanted, url: str) -> Acquired:
    """Download, verify and only then name the file; the lock is held.

    Raises RequestException if it did not arrive, and UserError if it is another file.
    """
    _LOG.info("downloading %s", url)
    with replacing(wanted.path) as temporary:
        _fetch(url, temporary)
        arrived = _verified(wanted, temporary, url, wanted.by_hand)
    return Acquired(wanted.path, arrived.sha256)


def _fetch(url: str, target: Path) -> None:
    """Write the body at `url` to `target`, with a new attempt where that may help."""
    download = HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        chunk_size=_CHUNK_BYTES,
        timeout=(CONNECT_SECONDS, SILENCE_SECONDS),
        # Checksums are of the file itself, not of what a server compressed on its way.
        headers={"Accept-Encoding": "identity"},
    )
    for wait in RETRY_WAITS:
        try:
            download(url, str(target), None)
            return
        except requests.RequestException as error:
            if _status(error) not in _WORTH_A_RETRY:
                raise
            _LOG.warning("%s: %s; next attempt in %g s", url, _problem(error), wait)
            time.sleep(wait)
    download(url, str(target), None)


def _status(error: requests.RequestException) -> int | None:
    """Return the HTTP status of an answer that is not the file; None of anything else."""
    return error.response.status_code if error.response is not None else None


def _problem(error: requests.RequestException) -> str:
    """Describe why no whole file came."""
    status, root = _status(error), _root(error)
    if status is not None:
        return f"expected a file, found HTTP status {status}"
    return f"expected a whole download, found {str(root) or type(root).__name__}"


def _root(error: BaseException) -> BaseException:
    """Return what is at the bottom of an exception: libraries wrap it several times."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def _verified(wanted: _Wanted, path: Path, where: str, remedy: str) -> Acquired:
    """Return the file at `path`, which came from `where`, if its checksum is right.

    Without a checksum to compare with, this one is recorded.
    """
    expected = wanted.checksum()
    digits = sha256(path)
    if expected is None:
        write_text(wanted.record, f"{digits}  {wanted.file.name}\n")
        return Acquired(path, digits)
    algorithm = expected.partition(":")[0]
    found = f"{algorithm}:{digits if algorithm == 'sha256' else file_hash(str(path), algorithm)}"
    if found != expected:
        recorded = f" (as recorded in {wanted.record})" if wanted.file.checksum is None else ""
        problem = f"wrong checksum: expected {expected}{recorded}, found {found}"
        raise wanted.error(_with_url(where, wanted.file.url), problem, remedy)
    return Acquired(path, digits)


def _with_url(where: str, url: str) -> str:
    """Name the official address beside the place of a file that did not come from there."""
    return where if where == url else f"{where} (officially {url})"


def _is_url(mirror: str) -> bool:
    return mirror.startswith(("http://", "https://"))
