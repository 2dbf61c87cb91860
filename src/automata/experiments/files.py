"""From configuration files to complete configurations, or to one line that says what is wrong."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from jsonschema import Draft202012Validator, TypeChecker, ValidationError
from jsonschema.validators import extend

from automata.errors import UserError
from automata.experiments.checks import problems
from automata.experiments.reading import read
from automata.experiments.schema_errors import describe, dotted
from automata.experiments.settings import Config

WHOLE = ("search_space", "model")
"""Sections that a later file replaces as a whole: half of another's would make no sense."""

Layer = tuple[Path, Config]


def _pattern(
    validator: Draft202012Validator, pattern: str, instance: object, _: Config
) -> Iterator[ValidationError]:
    """Check a text as JSON schema has it: Python's `$` would let a last line break pass."""
    if isinstance(instance, str) and (instance.endswith("\n") or not re.search(pattern, instance)):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _is_integer(_: TypeChecker, value: object) -> bool:
    """Say whether a value is a whole number; 1e30 would be one, but none that a setting takes."""
    if isinstance(value, float):
        return value.is_integer() and abs(value) < 2**63
    return isinstance(value, int) and not isinstance(value, bool)


_Validator = extend(
    Draft202012Validator,
    {"pattern": _pattern},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def combine(base: Config, change: Config) -> Config:
    """Return `base` with the keys of `change`: sections merge, lists and WHOLE are replaced."""
    result = dict(base)
    for key, value in change.items():
        old = result.get(key)
        merge = isinstance(old, dict) and isinstance(value, dict) and key not in WHOLE
        result[key] = combine(old or {}, value) if merge else value
    return result


class ConfigFiles:
    """The files of one call of Snakemake: later ones change earlier ones.

    A file may list `parts`: files beside it whose grids are united. They stand right before it:
    what it says, and files after it, applies to each; a list of `datasets` there chooses among
    those of the parts. A part may have parts of its own.
    """

    def __init__(self, files: list[Path], command_line: Config, schema: Path) -> None:
        self._files = files
        self._command_line = command_line
        self._schema = json.loads(schema.read_text(encoding="utf-8"))

    def experiments(self) -> list[Config]:
        """Return the configuration of each part, one if there are none.

        Raises UserError, in one line, for the first thing that is wrong.
        """
        layers = [(file, read(file)) for file in self._files]
        return self._united([*layers, (Path("--config"), dict(self._command_line))], ())

    def _united(self, layers: list[Layer], around: tuple[Path, ...]) -> list[Config]:
        """Return the experiments of `layers`, which are those of a part of the files `around`."""
        place, parts = _take_parts(layers, around)
        if not parts:
            return [self._checked(layers)]
        before, after = layers[:place], layers[place:]
        found = [
            (part[0], experiment)
            for part in parts
            for experiment in self._united(
                [*before, part, *_without_datasets(after)], (*around, layers[place][0])
            )
        ]
        return _chosen(found, after)

    def _checked(self, layers: list[Layer]) -> Config:
        config: Config = {}
        for _, content in layers:
            config = combine(config, content)
        errors = sorted(
            _Validator(self._schema).iter_errors(config),
            key=lambda error: [str(part) for part in error.path],
        )
        found = describe(errors[0]) if errors else next(problems(config), None)
        if found is not None:
            path, message = found
            where = _origin(path, layers)
            if where == "--config" and len(path) > 1:  # Snakemake makes texts of all in it
                message += "; lists and sections are given in a file: --configfile"
            raise UserError(f"{where}: {dotted(path)}: {message}")
        return config


def _take_parts(layers: list[Layer], around: tuple[Path, ...]) -> tuple[int, list[Layer]]:
    """Take the parts out of `layers`; return before which layer they stand, and what they say.

    Raises UserError for a part that is one of the files `around` again: it would never end.
    """
    listing = [place for place, (_, content) in enumerate(layers) if content.get("parts")]
    place = listing[-1] if listing else 0
    file, content = layers[place]
    names = content.get("parts") or []
    for _, other in layers:
        other.pop("parts", None)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{file}: parts: {json.dumps(names)} is not valid; valid: a list of files")
    files = [file.parent / name for name in names]
    for part in files:
        if part.resolve() in [other.resolve() for other in (*around, file)]:
            raise UserError(f"{file}: parts: {part} has this file among its parts")
    return place, [(part, read(part)) for part in files]


def _without_datasets(layers: list[Layer]) -> list[Layer]:
    return [(file, {k: v for k, v in said.items() if k != "datasets"}) for file, said in layers]


def _chosen(found: list[tuple[Path, Config]], after: list[Layer]) -> list[Config]:
    """Return the experiments with those of their data sets that `after` lists, if it lists any.

    With each stands the part that it is from.

    Raises UserError if two parts have a data set in common, as their runs would share paths, and
    for a listed one that no part has.
    """
    owner: dict[str, Path] = {}
    for file, experiment in found:
        for dataset in experiment["datasets"]:
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
    kept = [{**e, "datasets": [d for d in e["datasets"] if d in wanted]} for _, e in found]
    return [experiment for experiment in kept if experiment["datasets"]]


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
