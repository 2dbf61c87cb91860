"""One run and all that it reads: its settings, and the user's own files.

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
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from automata.config import sections
from automata.config.base import BadKeyError, Section, added, invalid, parsed
from automata.config.data import Preparation
from automata.config.experiment import (
    DatasetName,
    Experiment,
    SchedulerName,
    Seed,
    SelectorName,
    Target,
)
from automata.config.protocol import OF_SUBSETS, OwnModel, Protocol, SearchName
from automata.errors import UserError
from automata.files import content_of, visible_files, write_text
from automata.registry import ALL_DATA_SCHEDULERS, CONTROLS, OWN, Control

AXES = ("searches", "schedulers", "selectors", "fractions")
"""Keys of a configuration that name its methods."""

FACTORY = "model.factory"
"""The role of the file of a user's own model."""

_OWN_METHODS = tuple(f"{key}." for key in OWN.values())
"""Prefixes of the roles of the user's own methods."""


def goes_together(scheduler: str, selector: str) -> bool:
    """Return whether the grid combines the two: a scheduler for all data needs a control."""
    return scheduler not in ALL_DATA_SCHEDULERS or selector in CONTROLS


class Run(Section):
    """One run: a value on each axis of the grid."""

    dataset: DatasetName
    search: SearchName
    scheduler: SchedulerName
    selector: SelectorName
    fraction: Annotated[float, Field(ge=0, le=1)]
    seed: Seed

    @model_validator(mode="after")
    def _check_combination(self) -> Self:
        control = self.control
        if not (self.fraction > 0 if control is None else self.fraction == control.fraction):
            valid = "number > 0 and <= 1" if control is None else control.fraction
            problem = invalid(self.fraction, f"{valid} for selector {self.selector}")
            raise BadKeyError(["fraction"], problem)
        if not goes_together(self.scheduler, self.selector):
            problem = f"scheduler {self.scheduler} is for all data: selector full"
            raise BadKeyError(["selector"], problem)
        return self

    @property
    def control(self) -> Control | None:
        """The control of this run; None if it has a selector."""
        return CONTROLS.get(self.selector)

    @property
    def searches(self) -> bool:
        """Whether any trial trains."""
        return self.control is None or self.control.searches

    @property
    def trains_finally(self) -> bool:
        """Whether a final training follows the search; trials on all data make it superfluous."""
        return self.control is None or not self.control.searches

    @property
    def training_stream(self) -> str:
        """The name of the random stream of trainings."""
        return (self.control or CONTROLS["full"]).stream


class Settings(Section):
    """The part of an experiment that one run reads."""

    protocol: Protocol
    data: Preparation = Preparation()
    search: sections.SearchSettings = sections.SearchSettings()
    scheduler: sections.SchedulerSettings = sections.SchedulerSettings()
    selector: sections.SelectorSettings = sections.SelectorSettings()
    compute: sections.Compute = sections.Compute()
    metering: sections.Metering = sections.Metering()
    own: Annotated[dict[str, Target], added({})] = {}
    """The user's own `search`, `scheduler` and `selector`, "module:Class"."""


class Job(Section):
    """A run with all that it reads."""

    run: Run
    settings: Settings
    files: Annotated[dict[str, str], added({})] = {}
    """SHA-256 of each of the user's own files, by its role."""


def first_run(experiment: Experiment) -> Run:
    """Return the first run of an experiment."""
    selector = experiment.selectors[0]
    control = CONTROLS.get(selector)
    axes = {
        "dataset": experiment.datasets[0],
        "search": experiment.searches[0],
        "scheduler": experiment.schedulers[0],
        "selector": selector,
        "fraction": control.fraction if control else experiment.fractions[0],
        "seed": experiment.seeds[0],
    }
    return parsed(Run, axes)


def settings_of(
    experiment: Experiment, dataset: str, search: str, scheduler: str, selector: str
) -> Settings:
    """Return exactly the settings that a run reads: a change of one repeats the run."""
    protocol = experiment.protocol_of(dataset).under(search)
    if selector in CONTROLS:
        protocol = protocol.model_copy(update=OF_SUBSETS)
    names = zip(OWN.items(), (search, scheduler, selector), strict=True)
    own = {kind: getattr(experiment, key).get(name) for (kind, key), name in names}
    return Settings(
        protocol=protocol,
        data=experiment.preparation(dataset),
        search=experiment.search.only(search),
        scheduler=experiment.scheduler.only(scheduler),
        selector=experiment.selector.only(selector),
        compute=experiment.compute,
        metering=experiment.metering,
        own={kind: target for kind, target in own.items() if target is not None},
    )


def shared_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that a run shares with its FULL run: all that do not concern subsets."""
    own = {kind for kind in settings.own if kind != "selector"}
    excluded = {"selector": True, "own": {"selector"} if own else True, "protocol": set(OF_SUBSETS)}
    return settings.model_dump(mode="json", exclude=excluded)


def settings_of_subsets(settings: Settings, selector: str) -> dict[str, Any]:
    """Return the settings that concern subsets of `selector`, except those at their defaults."""
    subsets = settings.protocol.model_dump(mode="json", include=set(OF_SUBSETS))
    if "selector" in settings.own:
        subsets["own"] = settings.own["selector"]
    options = settings.selector.of(selector)
    return subsets if options == sections.SelectorSettings().of(selector) else options | subsets


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
