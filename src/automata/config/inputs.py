"""The user's own files that runs read: data, word vectors, models."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
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
"""The role of the file that makes a user's own model."""


def is_code(role: str) -> bool:
    """Say whether the file in that role is a module: of a model, or of a method."""
    return role == FACTORY or role.partition(".")[0] in OWN.values()


def files_read(files: dict[str, str], search: str, scheduler: str, selector: str) -> dict[str, str]:
    """Return those of a data set's `files` that a run with such methods reads."""
    names = {"search": search, "scheduler": scheduler, "selector": selector}
    read = [f"{OWN[kind]}.{name}" for kind, name in names.items()]
    return {
        role: it
        for role, it in files.items()
        if role in read or role.partition(".")[0] not in OWN.values()
    }


def data_files(preparation: Preparation) -> dict[str, str]:
    """Return the user's own files that a data set with such a `preparation` is made from.

    By their roles: the keys of a configuration that name them.
    """
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
    """Return the key of a configuration that names the file in that role."""
    section, _, name = role.partition(".")
    return f"own_datasets.{dataset}.{name}" if section == "own" else f"data.{role}"


def problems_of_files(experiment: Experiment, dataset: str) -> Iterator[tuple[str, str]]:
    """Yield which of the user's own files of a data set are not there, with the key of each."""
    for role, path in data_files(experiment.preparation(dataset)).items():
        kind = experiment.kind(dataset) if role.startswith("own.") else "file"
        # Not by Path.exists, which raises for what is in a folder that is closed.
        if not os.path.exists(path):  # noqa: PTH110
            yield key_of(role, dataset), f"{path}: no such file or folder"
        elif kind not in ("image", "text") and Path(path).is_dir():
            yield key_of(role, dataset), f"{path}: this is a folder, needed is a file"


def files_of(path: Path) -> list[Path]:
    """Return the files that are read at a path of the user's: of a folder all in it."""
    return visible_files(path) if path.is_dir() else [path]


def content_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files of a folder."""
    return folder_checksum(path) if path.is_dir() else sha256(path)


class Contents:
    """What is in files, by SHA-256; those that have not changed since the last call are not read.

    `memory` is the file that remembers them; where it cannot be written, all are read each time.
    """

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        try:
            self._known = dict(json.loads(memory.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # none yet, or damaged
            self._known = {}

    def of(self, path: Path) -> str:
        """Return the SHA-256 of what is at `path`; raises OSError where nothing can be read."""
        name, state = str(path.absolute()), _state(path)
        known = self._known.get(name)
        if not isinstance(known, list) or known[:1] != [state]:
            known = [state, content_of(path)]
            self._known[name] = known
            self._remember()
        return str(known[1])

    def _remember(self) -> None:
        with suppress(OSError):
            write_text(self._memory, json.dumps(self._known))


def _state(path: Path) -> str:
    """Return what changes with the files at `path`, without reading them."""
    total = hashlib.sha256()
    for file in files_of(path):
        stat = file.stat()
        times = f"{stat.st_mtime_ns}\0{stat.st_ctime_ns}"  # copies may keep the first
        total.update(f"{file}\0{stat.st_size}\0{times}\0{stat.st_ino}\0".encode())
    return total.hexdigest()


def factory_file(factory: str, search_path: Sequence[str]) -> Path | None:
    """Return the file of the module of a factory, None if it is in no file; imports nothing.

    Raises UserError if there is no such module on `search_path`.
    """
    name, _, _ = factory.partition(":")
    places: Sequence[str] | None = list(search_path)
    spec = None
    for part in name.split("."):  # not by its whole name: that looks for a parent to be imported
        spec = PathFinder.find_spec(part, places) if places else None
        if spec is None:
            raise UserError(
                f"{factory}: no module {name} (searched: the working directory, PYTHONPATH)"
            )
        places = list(spec.submodule_search_locations or ())
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin else None


def contents_of(
    experiment: Experiment, dataset: str, contents: Contents, search_path: Sequence[str]
) -> dict[str, str]:
    """Return the SHA-256 of each of the user's own files that runs of a data set read, by role.

    Where nothing is trained files may be missing.
    """
    paths = data_files(experiment.preparation(dataset))
    files = {role: Path(path) for role, path in paths.items()}
    if not experiment.trains:
        files = {role: path for role, path in files.items() if path.exists()}
    model = experiment.protocol_of(dataset).model
    targets = {
        f"{key}.{name}": (f"{key}.{name}", target)
        for key in OWN.values()
        for name, target in getattr(experiment, key).items()
    }
    if isinstance(model, OwnModel):
        targets[FACTORY] = f"protocol.{experiment.kind(dataset)}.{FACTORY}", model.factory
    for role, (key, target) in targets.items():
        try:
            file = factory_file(target, search_path)
        except UserError as error:
            raise UserError(f"{key}: {error}") from error
        if file is not None:
            files[role] = file
    return {role: contents.of(path) for role, path in files.items()}
