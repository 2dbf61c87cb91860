"""Finds official files: in the cache, in a mirror, or at their official address.

A download gets its official name only when it is complete and its checksum is right, if known.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import time
from itertools import product
from pathlib import Path

import requests
import urllib3
from tqdm import tqdm

from automata.catalog import RemoteFile
from automata.errors import UserError
from automata.files import replacing, sha256, write_text
from automata.locks import held

WAITS = (0.0, 1.0, 4.0)
"""Seconds before each attempt at a download."""

TIMEOUT = (15.0, 60.0)
"""Seconds that a server may take to accept a connection, and to send the next bytes."""

LONGEST = 6 * 3600.0
"""Seconds that all attempts at a download may take together."""

logger = logging.getLogger(__name__)


def acquire(dataset: str, file: RemoteFile, cache: Path, mirror: str | None) -> Path:
    """Return the path of `file`, which `dataset` needs: in `cache`, in `mirror`, or downloaded.

    `mirror` is a folder, whose file is used in place, or a base URL, which is tried before the
    official one. If the source publishes no checksum, `cache` keeps the SHA-256 of the first file
    as `<name>.sha256`, and later files must match it. Raises UserError if no place has the file, or
    if its checksum is wrong. A wrong file stays, because a user may have put it there.
    """
    found = path = cache / file.name
    first = cache / f"{file.name}.sha256"
    folders, urls = [cache], [file.url]
    if mirror and mirror.startswith(("http://", "https://")):
        urls.insert(0, f"{mirror.rstrip('/')}/{file.name}")
    elif mirror:
        folders.append(Path(mirror).expanduser())
    checksum, remedy = file.checksum, f"put the file of {file.url} at {path} by hand"
    try:
        if checksum is None and first.is_file():
            line = first.read_text(encoding="utf-8", errors="replace")
            checksum = f"sha256:{line.partition(' ')[0]}"
            remedy += f" ({first} has the checksum of the first one)"
        found = next((f / file.name for f in folders if (f / file.name).is_file()), path)
        if found.is_file():
            _verify(found, checksum)
        else:
            lock = cache / f".{file.name}.lock"
            with held(lock, f"a download of {file.name}", needed=False):
                if not path.is_file():  # the last holder of the lock may have downloaded it
                    _download(urls, path, checksum, 2 * file.megabytes + 1)
        if checksum is None:
            write_text(first, f"{sha256(found)}  {file.name}\n")
    except (OSError, ValueError) as error:
        raise UserError(f"{dataset}: {found}: {error}; {remedy}") from error
    return found


def _verify(path: Path, checksum: str | None) -> None:
    """Raise ValueError if the file at `path` has another checksum, "algorithm:digits"."""
    if checksum is not None:
        algorithm, _, digits = checksum.lower().partition(":")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, algorithm).hexdigest()
        if found != digits:
            raise ValueError(f"wrong checksum: expected {checksum}, found {found}")


def _download(urls: list[str], path: Path, checksum: str | None, megabytes: int) -> None:
    """Download the file from the first of the `urls` that has it; raises ValueError if none has."""
    deadline = time.monotonic() + LONGEST
    problems: dict[str, Exception] = {}
    for url, wait in product(urls, WAITS):
        time.sleep(wait)
        logger.info("downloading %s", url)
        try:
            with replacing(path) as temporary:
                _fetch(url, temporary, megabytes, deadline)
                _verify(temporary, checksum)
            return
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            logger.warning("%s: %s", url, error)
            problems[url] = error
    raise ValueError("; ".join(f"{url}: {error}" for url, error in problems.items()))


def _fetch(url: str, path: Path, megabytes: int, deadline: float) -> None:
    """Write what `url` sends to `path`; raises ValueError if it is too large or comes too late."""
    # No compression: the checksum is that of the file itself.
    headers = {"Accept-Encoding": "identity"}
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        response.raise_for_status()
        total = int(response.headers.get("Content-Length", 0)) or None
        silent = not sys.stderr.isatty()
        with path.open("wb") as raw, tqdm.wrapattr(raw, "write", total, disable=silent) as file:
            while chunk := response.raw.read1(1 << 16, decode_content=True):  # what is there
                if raw.tell() + len(chunk) > megabytes * 1e6:
                    raise ValueError(f"larger than {megabytes} MB")
                if time.monotonic() > deadline:
                    raise ValueError(f"not here after {LONGEST / 3600:g} hours")
                file.write(chunk)
