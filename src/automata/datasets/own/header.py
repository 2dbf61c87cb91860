"""What is wrong with a user's data by their description and their first bytes.

The standard library alone, and pyarrow for Parquet: the workflow asks while it plans, so that
nobody waits for a job to learn the name of a column.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from automata.datasets.own.layout import Layout, columns_of, needs_separator
from automata.datasets.own.paths import KEYS, listed, problem_of_file
from automata.errors import UserError

OF_A_KIND = ("numbers", "texts")
"""Names in `fill` that stand for all columns of a kind, unless a column is called so."""

Problem = tuple[str, str]
"""A key, and what is wrong with it."""

Header = tuple[Path, Sequence[str]]
"""A file and its columns."""


def problems(own: Mapping[str, Any], key: str) -> Iterator[Problem]:
    """Yield what is wrong with the description `own`, which obeys the schema and stands at `key`.

    Of a file its first line is read, of a folder the names: what is in them the job finds out.
    """
    given = {name: own[name] for name in KEYS.values() if own.get(name) is not None}
    found = [(f"{key}.{name}", problem_of_file(path, own["kind"])) for name, path in given.items()]
    broken = [(name, problem) for name, problem in found if problem is not None]
    yield from broken
    if broken:
        return
    look = _problems_of_images if own["kind"] == "image" else _problems_of_tables
    yield from look(own, key, {name: Path(path) for name, path in given.items()})


def _problems_of_tables(
    own: Mapping[str, Any], key: str, paths: Mapping[str, Path]
) -> Iterator[Problem]:
    layout = Layout.of(own, key)
    headers = {}
    for name, path in paths.items():
        try:
            problem = layout.problem(path)
            columns = None if problem else columns_of(path, layout)
        except UserError as error:
            problem, columns = (f"{key}.{name}", str(error)), None
        if problem is not None:
            yield problem
            return
        if columns is None:
            return
        headers[name] = columns
    train = headers.pop("path")
    found = list(column_problems(own, layout, paths["path"], train))
    yield from found
    if found:
        return
    for name, columns in headers.items():
        problem = lacking(own, f"{key}.{name}", (paths[name], columns), (paths["path"], train))
        if problem is not None:
            yield problem


def column_problems(
    own: Mapping[str, Any], layout: Layout, path: Path, columns: Sequence[str]
) -> Iterator[Problem]:
    """Yield what `own` says of columns that the training file at `path` cannot give."""
    key, target, drop = layout.key, own["target"], own.get("drop") or []
    for name in ("text", "target"):
        if name in own and own[name] not in columns:
            needs = needs_separator(path, layout)
            yield _unknown(f"{key}.{name}", path, own[name], columns, needs)
            return
    if own.get("text") == target:
        yield f"{key}.text", f"'{target}' is the target as well"
    for column in drop:
        if column == target:
            yield f"{key}.drop", f"'{target}' is the target, which every row needs"
        elif column not in columns:
            yield _unknown(f"{key}.drop", path, column, columns)
    features = features_of(own, columns)
    for name in ("categorical", "dates", "fill"):
        for column in own.get(name) or []:
            if column not in features and not (name == "fill" and column in OF_A_KIND):
                yield _unknown(f"{key}.{name}", path, column, features)
    for column in own.get("dates") or []:
        if column in (own.get("categorical") or []):
            yield f"{key}.dates", f"'{column}' is in {key}.categorical as well"


def features_of(own: Mapping[str, Any], columns: Sequence[str]) -> list[str]:
    """Return those of `columns` that are features, or the one of the texts."""
    if own["kind"] == "text":
        return [own["text"]]
    unread = {own["target"], *(own.get("drop") or [])}
    return [column for column in columns if column not in unread]


def lacking(own: Mapping[str, Any], key: str, other: Header, train: Header) -> Problem | None:
    """Return the problem of a file that lacks columns of the training file, None if it has all."""
    (path, columns), (training, known) = other, train
    read = {own["target"], *features_of(own, known)}
    absent = [column for column in known if column in read and column not in columns]
    if not absent:
        return None
    found = f"{listed(absent)}; it has {listed(columns)}"
    return key, f"{path} lacks columns that {training} has: {found}"


def _unknown(
    key: str, path: Path, column: str, valid: Sequence[str], needs: str | None = None
) -> Problem:
    more = f"; {needs}" if needs else ""
    return key, f"{path} has no column '{column}' for it: {listed(valid)}{more}"


def _problems_of_images(
    own: Mapping[str, Any], key: str, paths: Mapping[str, Path]
) -> Iterator[Problem]:
    for name, path in paths.items():
        look = _problem_of_folder if path.is_dir() else _problem_of_arrays
        problem = look(path, at_least=2 if name == "path" else 1)
        if problem is not None:
            yield f"{key}.{name}", problem


def _problem_of_arrays(path: Path, at_least: int) -> str | None:
    if path.suffix.lower() != ".npz":
        return no_images(path)
    try:
        with zipfile.ZipFile(path) as file:
            stored = [name.removesuffix(".npy") for name in file.namelist()]
    except (OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        return f"{path}: not a readable .npz file: {error}"
    return missing_array(path, stored)


def no_images(path: Path) -> str:
    """Say that `path` holds no images in a form that is read."""
    return (
        f"'{path}' is neither an .npz with `images` and `labels` nor a folder with a folder of "
        "images per class"
    )


def missing_array(path: Path, stored: Sequence[str]) -> str | None:
    """Say which array an .npz lacks that has those that are `stored`, None if it has both."""
    for name in ("images", "labels"):
        if name not in stored:
            return (
                f"{path}: array `{name}` is missing, it must have `images` and `labels`; "
                f"found: {listed(stored)}"
            )
    return None


def _problem_of_folder(path: Path, at_least: int) -> str | None:
    try:
        inside = sorted(os.scandir(path), key=lambda entry: entry.name)
        classes = [entry for entry in inside if entry.is_dir() and not entry.name.startswith(".")]
        if len(classes) < at_least:
            found = listed(entry.name for entry in classes) or "none"
            wanted = f"a folder of images for each of at least {at_least} class(es)"
            return f"{path}: expected {wanted}; found: {found}"
        # A kind of file costs no look at the file itself, of which there may be a million.
        for entry in (entry for folder in classes for entry in os.scandir(folder)):
            if not entry.is_file() and not entry.is_dir():
                return problem_of_file(entry.path, "a file")
    except OSError as error:
        return f"{path}: cannot be read: {error.strerror}"
    return None
