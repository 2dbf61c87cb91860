"""Which code made a record: a short hash of each part that decides what is in it.

The standard library alone: the workflow asks for it while it plans.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent

PARTS = {
    "selection": ("selection",),
    "training": (
        "training",
        "models",
        "tuning",
        "datasets/prepared.py",
        "config/job.py",
        "seeds.py",
    ),
    "metering": ("metering",),
}
"""The parts, and the folders and files of the package that each consists of."""


@cache
def code_versions() -> dict[str, str]:
    """Return eight hexadecimal digits for each of PARTS; comments and layout do not count."""
    return {part: version(PACKAGE, paths) for part, paths in PARTS.items()}


def version(package: Path, paths: tuple[str, ...]) -> str:
    """Return the hash of the code in `paths`, folders and files of the folder `package`."""
    total = hashlib.sha256()
    for file in sorted(file for path in paths for file in _modules(package / path)):
        name = file.relative_to(package).as_posix()
        code = essence(file.read_text(encoding="utf-8"))
        total.update(f"{name}\0{code}\0".encode())
    return total.hexdigest()[:8]


def other_code(made_by: dict[str, str]) -> list[str]:
    """Return the parts whose code of today is not that of a record `made_by` some code."""
    return [part for part, today in code_versions().items() if made_by.get(part) != today]


def essence(source: str) -> str:
    """Return what `source` does: its syntax tree without docstrings, comments and layout.

    Not `ast.dump`, whose text differs between versions of Python: what is empty is left out
    here, and newer versions only add fields that are empty in older code.
    """
    return _text(ast.parse(source))


def _modules(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


def _text(value: object) -> str:
    """Return a node, or what is in one, as text."""
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = []
    for name, content in ast.iter_fields(value):
        if name == "body" and isinstance(content, list):
            content = [line for line in content if not _is_text_alone(line)]
        if isinstance(value, ast.JoinedStr):  # Python 3.12 ends some with an empty text
            content = [part for part in content if getattr(part, "value", None) != ""]
        if content is not None and content != []:
            fields.append(f"{name}={_text(content)}")
    return f"{type(value).__name__}({','.join(fields)})"


def _is_text_alone(line: ast.stmt) -> bool:
    """Say whether a line of code is nothing but a text: a docstring, of whatever."""
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )
