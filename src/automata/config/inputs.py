"""The user's own files that runs read: data, word vectors, and code of models and methods.

A file is named by its role: `own.path`, `own.validation`, `own.test`, `vectors.source`,
`model.factory`, or the key of a method, for example `own_selectors.mine`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

from automata.config.data import Preparation
from automata.config.experiment import Experiment
from automata.config.protocol import OwnModel
from automata.errors import UserError
from automata.files import folder_checksum, sha256, visible_files, write_text
from automata.registry import OWN

FACTORY = "model.factory"
"""The role of the file of a user's own model."""

_OWN_METHODS = tuple(f"{key}." for key in OWN.values())
"""Prefixes of the roles of the user's own methods."""


def is_code(role: str) -> bool:
    """Return whether the file in this role is the module of a model or of a method."""
    return role == FACTORY or role.startswith(_OWN_METHODS)


def files_read(files: dict[str, str], search: str, scheduler: str, selector: str) -> dict[str, str]:
    """Return those of `files`, by role, that a run with these methods reads."""
    names = search, scheduler, selector
    methods = [f"{key}.{name}" for key, name in zip(OWN.values(), names, strict=True)]
    return {
        role: content
        for role, content in files.items()
        if role in methods or not role.startswith(_OWN_METHODS)
    }


def data_files(preparation: Preparation) -> dict[str, str]:
    """Return the paths of the user's own files that a data set is made from, by role."""
    own, vectors = preparation.own, preparation.vectors
    files = {
        f"own.{key}": path
        for key in ("path", "validation", "test")
        if (path := getattr(own, key, None))
    }
    if vectors is not None and vectors.source is not None and "://" not in vectors.source:
        files["vectors.source"] = vectors.source
    return files


def key_of(role: str, dataset: str) -> str:
    """Return the configuration key of the data file in this role."""
    section, _, name = role.partition(".")
    return f"own_datasets.{dataset}.{name}" if section == "own" else f"data.{role}"


def check_data_files(experiment: Experiment, dataset: str) -> None:
    """Raise UserError if one of the user's data files is missing."""
    for role, path in data_files(experiment.preparation(dataset)).items():
        # Path.exists would raise an error for a path in an unreadable folder.
        if not os.path.exists(path):  # noqa: PTH110
            raise UserError(f"{key_of(role, dataset)}: {path}: no such file or folder")


def files_of(path: Path) -> list[Path]:
    """Return all visible files of a folder, or the file itself."""
    return visible_files(path) if path.is_dir() else [path]


def content_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files of a folder."""
    return folder_checksum(path) if path.is_dir() else sha256(path)


def remembered_content(path: Path, memory: Path) -> str:
    """Return `content_of(path)`, from the cache file `memory` if the path has not changed.

    If the cache cannot be written, each call reads the files.
    """
    try:
        contents = dict(json.loads(memory.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # missing or damaged
        contents = {}
    state = _state(path)
    if state not in contents:
        contents[state] = content_of(path)
        with suppress(OSError):
            write_text(memory, json.dumps(contents))
    return str(contents[state])


def _state(path: Path) -> str:
    """Return a hash of names, sizes and times of the files at `path`, without reading them."""
    digest = hashlib.sha256()
    for file in files_of(path.absolute()):
        stat = file.stat()
        times = f"{stat.st_mtime_ns}\0{stat.st_ctime_ns}"  # a copy may keep mtime, but not ctime
        digest.update(f"{file}\0{stat.st_size}\0{times}\0{stat.st_ino}\0".encode())
    return digest.hexdigest()


def factory_file(factory: str, search_path: Sequence[str], key: str) -> Path | None:
    """Return the file of the module in "module:attribute", without importing it; None without one.

    Raises UserError, which names `key`, if `search_path` has no such module.
    """
    name, _, _ = factory.partition(":")
    places: Sequence[str] | None = list(search_path)
    spec = None
    for part in name.split("."):  # the whole name would import the parents
        spec = PathFinder.find_spec(part, places) if places else None
        if spec is None:
            searched = "(searched: the working directory, PYTHONPATH)"
            raise UserError(f"{key}: {factory}: no module {name} {searched}")
        places = list(spec.submodule_search_locations or ())
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def contents_of(
    experiment: Experiment, dataset: str, memory: Path, search_path: Sequence[str]
) -> dict[str, str]:
    """Return the SHA-256 of each of the user's own files that runs of a data set read, by role.

    If nothing is trained, files may be missing. `memory` is the cache of `remembered_content`.
    """
    paths = data_files(experiment.preparation(dataset))
    files = {role: Path(path) for role, path in paths.items()}
    if not experiment.trains:
        files = {role: path for role, path in files.items() if path.exists()}
    code = {
        f"{key}.{name}": target
        for key in OWN.values()
        for name, target in getattr(experiment, key).items()
    }
    model = experiment.protocol_of(dataset).model
    if isinstance(model, OwnModel):
        code[FACTORY] = model.factory
    for role, target in code.items():
        key = f"protocol.{experiment.kind(dataset)}.{role}" if role == FACTORY else role
        if file := factory_file(target, search_path, key):
            files[role] = file
    return {role: remembered_content(path, memory) for role, path in files.items()}
