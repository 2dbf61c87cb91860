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
        with file.open(encoding="utf-8") as stream:
            content = yaml.load(stream, _Loader)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:
        problem = " ".join(str(error).replace(f'in "{file}", ', "at ").split())
        raise UserError(f"{file}: not YAML in UTF-8: {problem}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file}: a configuration is a section of keys")
    return content
