"""From configuration files to complete configurations, or to one line that says what is wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from automata.config.experiment import Experiment
from automata.config.reading import Config, read
from automata.config.refusals import first_refusal
from automata.errors import UserError

WHOLE = ("search_space", "model")
"""Sections that a later file replaces as a whole: half of another's would make no sense."""

_INSTALLED = Path(__file__).parents[1] / "shipped"
SHIPPED = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[3] / "config"
"""Folder of the configurations that come with the project: in a wheel they are in the package."""

DEFAULTS = SHIPPED / "config.yaml"
"""The default experiment, which other files change."""
RECOMMENDED = SHIPPED / "recommended.yaml"
"""How we recommend to tune; `automata new` writes it into configurations."""

Layer = tuple[Path, Config]


def combine(base: Config, change: Config) -> Config:
    """Return `base` with the keys of `change`: sections merge, lists and WHOLE are replaced."""
    result = dict(base)
    for key, value in change.items():
        old = result.get(key)
        merge = isinstance(old, dict) and isinstance(value, dict) and key not in WHOLE
        result[key] = combine(old or {}, value) if merge else value
    return result


def read_experiments(
    files: list[Path],
    command_line: Mapping[str, Any] | None = None,
    of_module: Mapping[str, Any] | None = None,
) -> list[Experiment]:
    """Return the experiment of each part of `files`, one if there are no parts.

    These are the files of one call of Snakemake, then what its command line says: later ones change
    earlier ones. After the first stands what a Snakefile says that has this one as its module. A
    file may list `parts`: files beside it whose grids are united. They stand right before it: what
    it says, and files after it, applies to each; a list of `datasets` there chooses among those of
    the parts. A part may have parts of its own.

    Raises UserError, in one line, for the first thing that is wrong.
    """
    layers = [(file, read(file)) for file in files]
    if of_module is not None:
        layers.insert(1, (Path("module config"), dict(of_module)))
    return _united([*layers, (Path("--config"), dict(command_line or {}))])


def parse_experiment(config: Config) -> Experiment:
    """Return the experiment that `config` says; raises ValidationError.

    Numbers are no texts and true is no number, as in JSON and YAML.
    """
    return Experiment.model_validate_json(
        json.dumps(config), strict=True, by_alias=True, by_name=False
    )


def _united(layers: list[Layer]) -> list[Experiment]:
    """Return the experiments of `layers`."""
    place, parts = _take_parts(layers)
    if not parts:
        return [_checked(layers)]
    before, after = layers[:place], layers[place:]
    found = [
        (part[0], experiment)
        for part in parts
        for experiment in _united([*before, part, *_without_datasets(after)])
    ]
    return _chosen(found, after)


def _checked(layers: list[Layer]) -> Experiment:
    config: Config = {}
    for _, content in layers:
        config = combine(config, content)
    try:
        return parse_experiment(config)
    except ValidationError as error:
        path, message = first_refusal(error, Experiment)
    where = _origin(path, layers)
    if where == "--config" and len(path) > 1:  # Snakemake makes texts of all in it
        message += "; lists and sections are given in a file: --configfile"
    raise UserError(f"{where}: {'.'.join(path)}: {message}")


def _take_parts(layers: list[Layer]) -> tuple[int, list[Layer]]:
    """Take the parts out of `layers`; return before which layer they stand, and what they say."""
    listing = [place for place, (_, content) in enumerate(layers) if content.get("parts")]
    place = listing[-1] if listing else 0
    file, content = layers[place]
    names = content.get("parts") or []
    for _, other in layers:
        other.pop("parts", None)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{file}: parts: {json.dumps(names)} is not valid; valid: a list of files")
    return place, [(file.parent / name, read(file.parent / name)) for name in names]


def _without_datasets(layers: list[Layer]) -> list[Layer]:
    return [(file, {k: v for k, v in said.items() if k != "datasets"}) for file, said in layers]


def _chosen(found: list[tuple[Path, Experiment]], after: list[Layer]) -> list[Experiment]:
    """Return the experiments with those of their data sets that `after` lists, if it lists any.

    With each stands the part that it is from.

    Raises UserError if two parts have a data set in common, as their runs would share paths, and
    for a listed one that no part has.
    """
    owner: dict[str, Path] = {}
    for file, experiment in found:
        for dataset in experiment.datasets:
            if dataset in owner:
                raise UserError(f"{file}: datasets: {dataset} is also in {owner[dataset]}")
            owner[dataset] = file
    valid = ", ".join(owner)
    for file, content in after:
        listed = content.get("datasets", [])
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            shown = json.dumps(listed)
            raise UserError(f"{file}: datasets: {shown} is not valid; valid: a list of {valid}")
        for dataset in listed:
            if dataset not in owner:
                raise UserError(f"{file}: datasets: {dataset} is in none of the parts: {valid}")
    wanted = next((said["datasets"] for _, said in reversed(after) if "datasets" in said), owner)
    kept = [(part, [name for name in part.datasets if name in wanted]) for _, part in found]
    return [part.model_copy(update={"datasets": names}) for part, names in kept if names]


def _origin(path: list[str], layers: list[Layer]) -> str:
    """Return the file that sets the key at `path`: the last that has it, or what holds it."""
    whole = [depth for depth, key in enumerate(path, start=1) if key in WHOLE]
    for depth in range(min(whole, default=len(path)), 0, -1):
        for file, content in reversed(layers):
            if _has(content, path[:depth]):
                return os.path.relpath(file) if file.exists() else str(file)
    return "configuration"


def _has(content: object, path: list[str]) -> bool:
    for key in path:
        if isinstance(content, list) and key.isdigit() and int(key) < len(content):
            content = content[int(key)]
        elif isinstance(content, dict) and key in content:
            content = content[key]
        else:
            return False
    return True
