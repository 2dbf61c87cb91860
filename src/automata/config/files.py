"""Reads configuration files, and combines them into experiments."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from automata.config.base import first_refusal, invalid
from automata.config.experiment import Experiment
from automata.errors import UserError

Config = dict[str, Any]
"""The content of a configuration file."""

REPLACED = ("model", "finalist_rungs", "rungs")
"""Sections that a later file replaces as a whole, because halves of two would not fit."""

_INSTALLED = Path(__file__).parents[1] / "shipped"
SHIPPED = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).parents[3] / "config"
"""Folder of the project's configurations; in a wheel it is inside the package."""

SNAKEFILE = SHIPPED.with_name("workflow") / "Snakefile"
"""The Snakefile of this package, in a wheel or in a checkout."""

DEFAULTS = SHIPPED / "config.yaml"
"""The default experiment, which other files override."""
RECOMMENDED = SHIPPED / "recommended.yaml"
"""The recommended way to tune, which `automata new` writes into configurations."""

Layer = tuple[Path, Config]
"""The name of a source, and its keys; later layers override earlier ones."""


class _Loader(yaml.CSafeLoader):
    """YAML with 1e-3 as a number, dates as texts, and duplicate keys as errors."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream)
        self._looked_at: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge sections (<<) into the one at `node`; raises ConstructorError for a duplicate key.

        A merge repeats keys, so each node is looked at once, before.
        """
        if id(node) in self._looked_at:
            return
        self._looked_at.add(id(node))
        seen: list[Any] = []
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":  # <<, which may repeat keys
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                problem = f"duplicate key {key}"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.append(key)
        super().flatten_mapping(node)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][-+]?[0-9]+$"),
    list("-+.0123456789"),
)


def read(file: Path) -> Config:
    """Return the configuration in `file`; raises UserError, in one line."""
    try:
        with file.open(encoding="utf-8") as stream:
            content = yaml.load(stream, _Loader)
        json.dumps(content)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        problem = " ".join(str(error).replace(f'in "{file}", ', "at ").split())
        raise UserError(f"{file}: not YAML in UTF-8 with plain values: {problem}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file}: a configuration is a section of keys")
    return content


def command(files: Sequence[str], snakefile: Path = SNAKEFILE) -> str:
    """Return the command that runs the configuration in `files` from the current folder."""
    found = Path("workflow/Snakefile").resolve() == snakefile.resolve()  # by Snakemake, too
    named = [] if found else ["--snakefile", str(snakefile)]
    configuration = ["--configfile", *files] if files else []
    return shlex.join(["snakemake", "--cores", "all", *named, *configuration])


def prediction_command(folder: str | Path) -> str:
    """Return the command that predicts with the model of an experiment or a run."""
    return shlex.join(
        ["automata", "predict", str(folder), "NEWROWS", "--output", "predictions.csv"]
    )


def combine(base: Config, change: Config) -> Config:
    """Return `base`, overridden by `change`: sections merge, except for those in REPLACED.

    A search space merges by hyper-parameter, where `null` removes one, unless the model changes.
    """
    result = dict(base)
    same_model = change.get("model", base.get("model")) == base.get("model")
    if "model" in base and not same_model and isinstance(base.get("for_search"), dict):
        result["for_search"] = {
            search: keys | {"search_space": {}} if isinstance(keys, dict) else keys
            for search, keys in base["for_search"].items()
        }
    for key, value in change.items():
        old = result.get(key)
        if key in REPLACED or not (isinstance(old, dict) and isinstance(value, dict)):
            result[key] = value
        elif key != "search_space":
            result[key] = combine(old, value)
        else:
            kept = old if same_model else {}
            removed = [name for name in kept if value.get(name, ...) is None]
            result[key] = {k: v for k, v in {**kept, **value}.items() if k not in removed}
    return result


def read_experiments(
    files: list[Path], changes: Mapping[str, Any] | None = None, source: str = "--config"
) -> list[Experiment]:
    """Return the experiment of each part of `files`, or the only one if there are no parts.

    Later files override earlier ones, and `changes` override all: messages name their `source`.

    A file may list `parts`: files by paths relative to it, each an experiment that this file and
    later ones override; their `datasets` selects from its data sets. A part may have parts.

    Raises UserError, in one line, for the first error.
    """
    layers = [(file, read(file)) for file in files]
    return _experiments([*layers, (Path(source), dict(changes or {}))])


def _experiments(layers: list[Layer]) -> list[Experiment]:
    """Return the experiment of each part of `layers`, with only the selected data sets."""
    listing = [index for index, (_, config) in enumerate(layers) if config.get("parts")]
    if not listing:
        return [_experiment(layers)]
    before, after = layers[: listing[-1]], layers[listing[-1] :]
    file, config = after[0]
    before, rest = _without(["parts"], before), _without(["parts", "datasets"], after)
    experiments: list[Experiment] = []
    owner: dict[str, Path] = {}
    for name in _names(file, "parts", config["parts"], "files"):
        part = file.parent / name
        if part.resolve() in [other.resolve() for other, _ in after]:
            raise UserError(f"{file}: parts: {name} is a part of itself; remove it here")
        for experiment in _experiments([*before, (part, read(part)), *rest]):
            experiments.append(experiment)
            for dataset in experiment.datasets:
                if dataset in owner:  # the runs would share paths
                    raise UserError(f"{part}: datasets: {dataset} is also in {owner[dataset]}")
                owner[dataset] = part
    selected = list(owner)
    for file, config in after:
        if "datasets" in config:
            valid = ", ".join(owner)
            selected = _names(file, "datasets", config["datasets"], valid)
            for dataset in selected:
                if dataset not in owner:
                    raise UserError(f"{file}: datasets: {dataset} is in none of the parts: {valid}")
    kept = [(part, [name for name in part.datasets if name in selected]) for part in experiments]
    return [part.model_copy(update={"datasets": names}) for part, names in kept if names]


def _without(keys: Sequence[str], layers: list[Layer]) -> list[Layer]:
    return [
        (file, {key: value for key, value in config.items() if key not in keys})
        for file, config in layers
    ]


def _names(file: Path, key: str, value: object, valid: str) -> list[str]:
    """Return `value` if it is a list of texts; otherwise raise UserError."""
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return value
    raise UserError(f"{file}: {key}: {invalid(value, f'a list of {valid}')}")


def _experiment(layers: list[Layer]) -> Experiment:
    config = reduce(combine, (content for _, content in layers))
    try:  # types are strict, as in JSON: "1" and true are not numbers
        return Experiment.model_validate_json(
            json.dumps(config), strict=True, by_alias=True, by_name=False
        )
    except ValidationError as error:
        path, problem = first_refusal(error, Experiment)
    source = _source(path, layers)
    if source == "--config" and len(path) > 1:  # Snakemake passes its values as texts
        problem += "; give lists and sections in a file: --configfile"
    raise UserError(f"{source}: {'.'.join(path)}: {problem}")


def _source(path: list[str], layers: list[Layer]) -> str:
    """Return the last source that sets `path`, or else the most sections around it."""
    # A later file replaces these sections, and the domains of a search space, as a whole.
    ends = {**dict.fromkeys(REPLACED, 0), "search_space": 1}
    replaced = [depth + ends[key] for depth, key in enumerate(path, start=1) if key in ends]
    whole = path[: min(replaced, default=len(path))]
    file, _ = max(reversed(layers), key=lambda layer: _depth(layer[1], whole))
    return os.path.relpath(file) if file.exists() else str(file)


def _depth(content: Any, path: list[str]) -> int:
    """Return the number of keys of `path` that `content` has, one in the other."""
    for depth, key in enumerate(path):
        try:
            content = content[int(key) if isinstance(content, list) else key]
        except (LookupError, TypeError, ValueError):
            return depth
    return len(path)
