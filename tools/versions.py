"""Two versions of the project: the files of each, and what differs in what they give."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from automata.errors import UserError

ROOT = Path(__file__).parents[1]

SHOWN = 100
"""Characters of a value that a line shows; of a long text those around the first other one."""


def commit_of(name: str) -> str:
    """Return the hash of a commit; raises UserError where it is none."""
    try:
        return git("rev-parse", "--verify", f"{name}^{{commit}}")
    except subprocess.CalledProcessError as error:
        raise UserError(f"{name}: no commit of this repository") from error


def write_commit(commit: str, folder: Path, *paths: str) -> None:
    """Write the files of `commit` to `folder`, of some `paths` or all."""
    with tempfile.NamedTemporaryFile(suffix=".tar") as packed:
        git("archive", "--output", packed.name, commit, *paths)
        shutil.unpack_archive(packed.name, folder)


def write_today(folder: Path) -> None:
    """Write the files of the working tree to `folder`: all but those that git ignores."""
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        if (ROOT / name).exists():  # it may be deleted, and git not told
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def first_difference(then: Any, now: Any, at: str = "") -> str:
    """Return the first place at which two values of JSON differ, nothing if they do not."""
    if isinstance(then, dict) and isinstance(now, dict):
        pairs = [(f"{at}.{key}", then.get(key), now.get(key)) for key in {**then, **now}]
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = [(f"{at}[{n}]", *pair) for n, pair in enumerate(zip(then, now, strict=True))]
    else:
        return "" if then == now else f"{at.lstrip('.')}: {both(str(then), str(now))}"
    return next((found for name, a, b in pairs if (found := first_difference(a, b, name))), "")


def both(then: str, now: str) -> str:
    """Return two texts in one line, of long ones the part in which they first differ."""
    if max(len(then), len(now)) > SHOWN:
        same = next((n for n, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), 0)
        start = max(0, same - SHOWN // 4)
        then, now = (f"...{text[start : start + SHOWN]}..." for text in (then, now))
    return f"{then} and {now}"


def git(*arguments: str) -> str:
    """Return what git says of this project."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
