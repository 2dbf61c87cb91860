"""The user's own files that a run reads: their roles, and the SHA-256 of each.

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
from automata.files import content_of, visible_files, write_text
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
    files = {f"own.{key}": getattr(own, key, None) for key in ("path", "validation", "test")}
    if vectors is not None and "://" not in (vectors.source or ""):
        files["vectors.source"] = vectors.source
    return {role: path for role, path in files.items() if path}


def key_of(role: str, dataset: str) -> str:
    """Return the configuration key of the data file in this role."""
    section, _, name = role.partition(".")
    return f"own_datasets.{dataset}.{name}" if section == "own" else f"data.{role}"


def contents_of(
    experiment: Experiment, dataset: str, memory: Path, search_path: Sequence[str]
) -> dict[str, str]:
    """Return the SHA-256 of each of the user's own files that runs of a data set read, by role.

    `memory` is the cache of `remembered_content`. Raises UserError for a missing file or module.
    """
    files = {}
    for role, path in data_files(experiment.preparation(dataset)).items():
        # Path.exists would raise an error for a path in an unreadable folder.
        if os.path.exists(path):  # noqa: PTH110
            files[role] = Path(path)
        else:
            raise UserError(f"{key_of(role, dataset)}: {path}: no such file or folder")
    code = {
        f"{key}.{name}": target
        for key in OWN.values()
        for name, target in getattr(experiment, key).items()
    }
    model = experiment.protocol_of(dataset).model
    if isinstance(model, OwnModel):
        code[f"protocol.{experiment.kind(dataset)}.{FACTORY}"] = model.factory
    for key, target in code.items():
        if file := factory_file(target, search_path, key):
            files[FACTORY if key.endswith(FACTORY) else key] = file
    return {role: remembered_content(path, memory) for role, path in files.items()}


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


def remembered_content(path: Path, memory: Path) -> str:
    """Return `content_of(path)`, from the file `memory` if possible and the path is unchanged."""
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
    for file in visible_files(path.absolute()):
        stat = file.stat()
        times = f"{stat.st_mtime_ns}\0{stat.st_ctime_ns}"  # a copy may keep mtime, but not ctime
        digest.update(f"{file}\0{stat.st_size}\0{times}\0{stat.st_ino}\0".encode())
    return digest.hexdigest()
