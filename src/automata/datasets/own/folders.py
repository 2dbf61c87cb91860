"""Find a user's images or texts in folders, with or without a subfolder for each class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from automata.datasets.own.splits import KEYS, FileLabels
from automata.errors import UserError, listed
from automata.files import visible_files

TEXTS = (".txt",)

SPLITS = {**KEYS, "training": "path", "val": "validation", "valid": "validation", "testing": "test"}
"""Configuration key for each usual folder name of a split."""


def holds_texts(folder: Path) -> bool:
    """Return whether most files in the subfolders of `folder` are texts."""
    files = [file for file in visible_files(folder) if file.parent != folder]
    return 2 * sum(file.suffix.lower() in TEXTS for file in files) > len(files)


def files_at(path: Path, suffixes: Sequence[str]) -> dict[str, Path]:
    """Return the files with these suffixes in a folder, or the file at `path`, by name, sorted."""
    folder = path if path.is_dir() else path.parent
    every = {file.relative_to(folder).as_posix(): file for file in visible_files(path)}
    files = {name: file for name, file in every.items() if file.suffix.lower() in suffixes}
    if not files or not path.exists():
        text = f"{path}: there is no file ({', '.join(suffixes)})"
        kinds = {".parquet", ".csv", ".tsv"}
        tables = [name for name in every if kinds & {*Path(name.lower()).suffixes}]
        if tables and path.is_dir():
            text += f", but tables: {listed(tables)}: name one; pandas.read_parquet joins Parquet"
        raise UserError(text)
    return files


def class_files(folder: Path, suffixes: Sequence[str]) -> tuple[list[Path], FileLabels, list[str]]:
    """Return the files in subfolders named by class, their classes, and notes on other files."""
    files = files_at(folder, suffixes).values()
    classes = {file: file.parent.name for file in files if file.parent.parent == folder}
    valid = f"valid: CLASS/FILE ({', '.join(suffixes)})"
    if {name.lower() for name in classes.values()} <= SPLITS.keys():  # or there are no classes
        homes = {file.parent.parent for file in files if folder in file.parent.parent.parents}
        splits = {SPLITS.get(home.name.lower(), "path"): home for home in homes}
        if homes and len(splits) == len(homes):
            valid = ", ".join(f"{key}: {splits[key]}" for key in KEYS.values() if key in splits)
        raise UserError(f"{folder}: it has no folders of classes: {valid}")
    others = [file.relative_to(folder) for file in visible_files(folder) if file not in classes]
    notes = [f"{len(others)} files ignored: {listed(others)}; {valid}"] if others else []
    if empty := {file.name for file in folder.glob("[!.]*/")} - {*classes.values()}:
        notes.append(f"folders without files to read: {listed(sorted(empty))}")
    return [*classes], FileLabels(str(folder), [*classes.values()]), notes
