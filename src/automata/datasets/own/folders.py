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


def files_at(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """Return the files with such names at any depth of a folder, or the one at `path`, sorted."""
    files = visible_files(path)
    found = [it for it in files if it.suffix.lower() in suffixes and it.is_file()]
    if not found:
        problem = f"{path}: there is no file ({', '.join(suffixes)})"
        tables = [it for it in files if {"parquet", "csv", "tsv"} & {*it.name.lower().split(".")}]
        if tables and path.is_dir():
            joined = f'pandas.read_parquet("{path}").to_parquet("one.parquet") joins Parquet'
            problem += f", but tables: {listed(names_at(path, tables))}: name one file; {joined}"
        raise UserError(problem)
    return found


def names_at(path: Path, files: Sequence[Path]) -> list[str]:
    """Return what the `files` at a path are called in predictions."""
    folder = path if path.is_dir() else path.parent
    return [file.relative_to(folder).as_posix() for file in files]


def class_files(
    folder: Path, suffixes: Sequence[str], notes: list[str]
) -> tuple[list[Path], FileLabels]:
    """Return the files in folders named by class, and their classes; `notes` gets all others."""
    found = files_at(folder, suffixes)
    files = [file for file in found if file.parent.parent == folder]
    valid = f"valid: CLASS/FILE ({', '.join(suffixes)})"
    if {file.parent.name.lower() for file in files} <= SPLITS.keys():  # or there is no class
        homes = sorted({it.parent.parent for it in found if folder in it.parent.parent.parents})
        splits = {SPLITS.get(home.name.lower(), "path"): home for home in homes}
        if homes and len(splits) == len(homes):
            valid = ", ".join(f"{key}: {splits[key]}" for key in KEYS.values() if key in splits)
        raise UserError(f"{folder}: it has no folders of classes: {valid}")
    if ignored := names_at(folder, sorted({*visible_files(folder)} - {*files})):
        notes.append(f"{len(ignored)} files ignored: {listed(ignored)}; {valid}")
    folders = {it.name for it in folder.iterdir() if it.is_dir() and not it.name.startswith(".")}
    if empty := sorted(folders - {file.parent.name for file in files}):
        notes.append(f"folders without files to read: {listed(empty)}")
    return files, FileLabels(str(folder), [file.parent.name for file in files])
