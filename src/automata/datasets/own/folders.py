"""A user's files in folders: images or texts, in a folder per class, or without classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from automata.datasets.own.splits import KEYS, FileLabels
from automata.errors import UserError, listed
from automata.files import visible_files

TEXTS = (".txt",)

SPLITS = {**KEYS, "training": "path", "val": "validation", "valid": "validation", "testing": "test"}
"""Usual names of folders of splits, and the keys of the configuration that take such folders."""


def holds_texts(folder: Path) -> bool:
    """Return whether most files in the folders of `folder` are texts."""
    files = [file for file in visible_files(folder) if file.parent != folder]
    return 2 * sum(file.suffix.lower() in TEXTS for file in files) > len(files)


def files_at(path: Path, suffixes: Sequence[str]) -> dict[str, Path]:
    """Return by name the files with such suffixes below a folder, or the one at `path`, sorted."""
    folder = path if path.is_dir() else path.parent
    every = {file.relative_to(folder).as_posix(): file for file in visible_files(path)}
    found = {it: every[it] for it in every if every[it].suffix.lower() in suffixes}
    if not found or not path.exists():
        said = f"{path}: there is no file ({', '.join(suffixes)})"
        tables = [it for it in every if {".parquet", ".csv", ".tsv"} & {*Path(it.lower()).suffixes}]
        if tables and path.is_dir():
            said += f", but tables: {listed(tables)}: name one; pandas.read_parquet joins Parquet"
        raise UserError(said)
    return found


def class_files(folder: Path, suffixes: Sequence[str]) -> tuple[list[Path], FileLabels, list[str]]:
    """Return the files in folders named by class, their classes, and notes on all others."""
    found = files_at(folder, suffixes).values()
    classes = {file: file.parent.name for file in found if file.parent.parent == folder}
    valid = f"valid: CLASS/FILE ({', '.join(suffixes)})"
    if {name.lower() for name in classes.values()} <= SPLITS.keys():  # or there is no class
        homes = {it.parent.parent for it in found if folder in it.parent.parent.parents}
        splits = {SPLITS.get(home.name.lower(), "path"): home for home in homes}
        if homes and len(splits) == len(homes):
            valid = ", ".join(f"{key}: {splits[key]}" for key in KEYS.values() if key in splits)
        raise UserError(f"{folder}: it has no folders of classes: {valid}")
    others = [str(it.relative_to(folder)) for it in visible_files(folder) if it not in classes]
    notes = [f"{len(others)} files ignored: {listed(others)}; {valid}"] if others else []
    if empty := {it.name for it in folder.glob("[!.]*/")} - {*classes.values()}:
        notes.append(f"folders without files to read: {listed(sorted(empty))}")
    return [*classes], FileLabels(str(folder), [*classes.values()]), notes
