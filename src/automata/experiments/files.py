"""From configuration files to complete configurations, or to one line that says what is wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError

from automata.errors import UserError
from automata.experiments.checks import problems
from automata.experiments.settings import Config

WHOLE = ("search_space", "model")
"""Sections that a later file replaces as a whole: half of another's would make no sense."""


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

    A file may list `parts`: files beside it whose grids are united. What it and later files say
    applies to each part.
    """

    def __init__(self, files: list[Path], command_line: Config, schema: Path) -> None:
        self._files = files
        self._command_line = command_line
        self._schema = json.loads(schema.read_text(encoding="utf-8"))

    def experiments(self) -> list[Config]:
        """Return the configuration of each part, one if there are none.

        Raises UserError, in one line, for the first thing that is wrong.
        """
        contents = [(file, _read(file)) for file in self._files]
        part_files = [
            file.parent / part for file, content in contents for part in content.get("parts") or []
        ]
        own = [(file, {k: v for k, v in c.items() if k != "parts"}) for file, c in contents]
        experiments = []
        for part in part_files or [None]:
            # The shipped defaults first, then the part, then what changes it.
            layers = own[:1] + ([(part, _read(part))] if part else []) + own[1:]
            layers.append((Path("--config"), self._command_line))
            experiments.append(self._checked(layers))
        _refuse_repeated(experiments, part_files)
        return experiments

    def _checked(self, layers: list[tuple[Path, Config]]) -> Config:
        config: Config = {}
        for _, content in layers:
            config = combine(config, content)
        config.pop("parts", None)
        errors = sorted(
            Draft202012Validator(self._schema).iter_errors(config),
            key=lambda error: [str(part) for part in error.path],
        )
        found = describe(errors[0]) if errors else next(problems(config), None)
        if found is not None:
            path, message = found
            raise UserError(f"{_origin(path, layers)}: {'.'.join(path)}: {message}")
        return config


def describe(error: ValidationError) -> tuple[list[str], str]:
    """Return path and problem of a schema error, with the valid values."""
    error = _deepest(error)
    path, value = [str(part) for part in error.absolute_path], error.instance
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        unknown = next(key for key in value if key not in known)
        return [*path, unknown], f"unknown key; valid: {', '.join(known)}"
    if error.validator == "required":
        return [*path, next(key for key in error.validator_value if key not in value)], "missing"
    return path, f"{json.dumps(value)} is not valid; valid: {valid_values(error.schema)}"


def valid_values(schema: Config) -> str:
    """Say in words what `schema` allows."""
    if "enum" in schema:
        return ", ".join(str(value) for value in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(valid_values(one) for one in schema[several])
    if "const" in schema:
        return str(schema["const"])
    if "$ref" in schema:
        return "a section of keys"
    if "pattern" in schema:
        return f"a text that matches {schema['pattern']}"
    if "maxItems" in schema:
        return f"a list of {schema['maxItems']} values"
    if schema.get("type") == "array":
        return "a list with at least one value" + ", none twice" * ("uniqueItems" in schema)
    bounds = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}
    limits = [f"{sign} {schema[key]}" for key, sign in bounds.items() if key in schema]
    kind = schema.get("type", "object").replace("object", "a section of keys")
    return f"{kind} {' and '.join(limits)}".strip()


def _deepest(error: ValidationError) -> ValidationError:
    """Follow an error of alternatives into the one that is meant, where that is clear."""
    if error.validator not in ("anyOf", "oneOf") or not error.context:
        return error
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    meant = [found for found in branches.values() if not any(map(_is_other, found))]
    if len(meant) == 1:
        return _deepest(meant[0][0])
    kinds = [found for found in error.context if list(found.path) == ["kind"]]
    if kinds:
        names = [found.validator_value for found in kinds if found.validator == "const"]
        kinds[0].schema = {"enum": names}
        return kinds[0]
    missing = [found for found in error.context if found.validator == "required"]
    return missing[0] if missing and "kind" not in error.instance else error


def _is_other(error: ValidationError) -> bool:
    """Say whether an alternative was not meant: another type of value, or another kind."""
    if error.validator == "type" and not error.path:
        return True
    if error.validator == "enum" and not error.path:
        return True
    return error.validator == "const" or (
        error.validator == "required"
        and "kind" in error.validator_value
        and "kind" not in error.instance
    )


def _origin(path: list[str], layers: list[tuple[Path, Config]]) -> str:
    """Return the file that sets the key at `path`: the last that has it, or what holds it."""
    whole = [depth for depth, key in enumerate(path, start=1) if key in WHOLE]
    for depth in range(min(whole, default=len(path)), 0, -1):
        for file, content in reversed(layers):
            if _has(content, path[:depth]):
                return os.path.relpath(file) if file.exists() else str(file)
    return "configuration"


def _has(content: Any, path: list[str]) -> bool:
    for key in path:
        if isinstance(content, list) and key.isdigit() and int(key) < len(content):
            content = content[int(key)]
        elif isinstance(content, dict) and key in content:
            content = content[key]
        else:
            return False
    return True


def _refuse_repeated(experiments: list[Config], files: list[Path]) -> None:
    """Raise UserError if two parts have a data set in common: their runs would share paths."""
    owner: dict[str, Path] = {}
    for experiment, file in zip(experiments, files, strict=False):
        for dataset in experiment["datasets"]:
            if dataset in owner:
                raise UserError(f"{file}: datasets: {dataset} is also in {owner[dataset]}")
            owner[dataset] = file


def _read(file: Path) -> Config:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{file}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content or {}, dict):
        raise UserError(f"{file}: a configuration is a section of keys")
    return content or {}


def pairs(experiments: list[Config]) -> Iterator[tuple[Config, str]]:
    """Yield each data set with the configuration that it belongs to."""
    for experiment in experiments:
        for dataset in experiment["datasets"]:
            yield experiment, dataset
