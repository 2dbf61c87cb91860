"""Configuration files as plain sections, lists and values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from automata.errors import UserError

Config = dict[str, Any]
"""What is in a configuration file."""


class _Loader(yaml.SafeLoader):
    """YAML as people expect it: 1e-3 is a number, dates are texts, no key comes twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the section at `node`; raises ConstructorError for a key that cannot be."""
        seen = []
        for at, _ in node.value:
            key = self.construct_object(at, deep=True)
            if key in seen:
                problem = f"the key {key} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, at.start_mark)
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
    """Return the configuration in `file`; raises UserError, in one line, if it is none."""
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: {error}; save it as UTF-8") from error
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"{file}: {_fault(error)}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file}: a configuration is a section of keys")
    return content


def _fault(error: Exception) -> str:
    """Return what is wrong with a file of YAML, and where."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f"not YAML: {' '.join(str(error).split())}"
    mark, begun = error.problem_mark, error.context_mark
    within = f"{error.context} of line {begun.line + 1}, " if error.context and begun else ""
    return f"line {mark.line + 1}, column {mark.column + 1}: not YAML: {within}{error.problem}"
