"""Reads a configuration file as dicts, lists and values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from automata.errors import UserError

Config = dict[str, Any]
"""The content of a configuration file."""


class _Loader(yaml.SafeLoader):
    """YAML with 1e-3 as a number, dates as texts, and duplicate keys as errors."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the section at `node`; raises ConstructorError for a duplicate key."""
        seen = []
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                problem = f"duplicate key {key}"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.append(key)
        return super().construct_mapping(node, deep)


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
        content = yaml.load(file.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: {error}; save it as UTF-8") from error
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"{file}: {_yaml_error(error)}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file}: a configuration is a section of keys")
    return content


def _yaml_error(error: Exception) -> str:
    """Return the place and the problem of an error in YAML."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f"not YAML: {' '.join(str(error).split())}"
    mark, start = error.problem_mark, error.context_mark
    context = f"{error.context} of line {start.line + 1}, " if error.context and start else ""
    return f"line {mark.line + 1}, column {mark.column + 1}: not YAML: {context}{error.problem}"
