"""A user's files in folders: images or texts, in a folder per class, or without classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from automata.datasets.own.splits import FileLabels
from automata.errors import UserError, listed
from automata.files import visible_files

TEXTS = (".txt",)


def holds_texts(folder: Path) -> bool:
    """Return whether most files in the folders of `folder` are texts."""
    files = [file for file in visible_files(folder) if file.parent != folder]
    return 2 * sum(file.suffix.lower() in TEXTS for file in files) > len(files)


def files_at(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """Return the files with such names at any depth of a folder, or the one at `path`, sorted."""
    files = visible_files(path)
    found = [it for it in files if it.suffix.lower() in suffixes and it.is_file()]
    if not found:
        raise UserError(f"{path}: there is no file ({', '.join(suffixes)})")
    return found


def names_at(path: Path, files: Sequence[Path]) -> list[str]:
    """Return what the `files` at a path are called in predictions."""
    folder = path if path.is_dir() else path.parent
    return [file.relative_to(folder).as_posix() for file in files]


def class_files(
    folder: Path, suffixes: Sequence[str], notes: list[str]
) -> tuple[list[Path], FileLabels]:
    """Return the files in folders named by class, and their classes; `notes` gets all others."""
    files = [file for file in files_at(folder, suffixes) if file.parent.parent == folder]
    if ignored := names_at(folder, sorted({*visible_files(folder)} - {*files})):
        valid = f"valid: CLASS/FILE ({', '.join(suffixes)})"
        notes.append(f"{folder}: {len(ignored)} files ignored: {listed(ignored)}; {valid}")
    return files, FileLabels(str(folder), [file.parent.name for file in files])
