"""A fingerprint of the code that reads records: after an update, tables and figures are remade."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType

HOME = Path(__file__).parent
READERS = ("analysis", "figures", "page", "records", "catalog.py", "metrics.py", "names.py")
"""Modules and packages that make tables, figures and the page."""

STAMP = ".code"
"""File beside the tables: the content of the code that made them, and its fingerprint."""


@cache
def reading_code(folder: Path | None = None) -> str:
    """Return the fingerprint, which comments, docstrings and line breaks do not change.

    The stamp in a `folder` of tables saves most of the time if the code has the same content.
    """
    known, found = _stamp_in(folder) if folder else ("", "")
    if known == _content():
        return found
    digest = hashlib.sha256()
    for file in _files():
        if file.suffix == ".py":
            code = compile(file.read_bytes(), file.name, "exec", optimize=2, dont_inherit=True)
            digest.update("".join(_parts(code)).encode())
        else:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def stamped(folder: Path) -> str:
    """Return the fingerprint of the code that made the tables in `folder`; empty if not known."""
    return _stamp_in(folder)[1]


def stamp() -> str:
    """Return the text of STAMP for the present code."""
    return f"{_content()} {reading_code()}"


def _stamp_in(folder: Path) -> tuple[str, str]:
    """Return content and fingerprint of the code that made the tables in `folder`."""
    file = folder / STAMP
    content, _, fingerprint = (file.read_text() if file.is_file() else "").partition(" ")
    return content, fingerprint


def _files() -> list[Path]:
    found = [HOME / name for name in READERS]
    inside = [file for it in found for file in ([it] if it.is_file() else it.rglob("*"))]
    kinds = (".py", ".j2", ".css", ".mplstyle")
    return sorted(file for file in inside if file.suffix in kinds)


def _content() -> str:
    """Return a digest of the content of all files, comments included."""
    digest = hashlib.sha256()
    for file in _files():
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _parts(value: object) -> Iterator[str]:
    """Yield what a code object does; the order of a set differs between processes."""
    if isinstance(value, CodeType):
        yield repr((value.co_code, value.co_names, value.co_varnames, value.co_argcount))
        yield repr((value.co_kwonlyargcount, value.co_flags, value.co_exceptiontable))
        for constant in value.co_consts:
            yield from _parts(constant)
    elif isinstance(value, tuple):  # it may hold a set
        yield "("
        for item in value:
            yield from _parts(item)
        yield ")"
    elif isinstance(value, frozenset):
        yield repr(sorted(map(repr, value)))
    else:
        yield repr(value)
