"""Configuration files as plain sections, lists and values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from automata.errors import UserError
from automata.experiments.settings import Config


class _Loader(yaml.SafeLoader):
    """YAML as people expect it: 1e-3 is a number, dates are texts, no key comes twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the section at `node`; raises ConstructorError for a key that is there twice."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key} is there twice", node.start_mark
                )
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
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content or {}, dict):
        raise UserError(f"{file}: a configuration is a section of keys")
    _require_texts(file, content or {}, [])
    return content or {}


def _require_texts(file: Path, content: Any, path: list[str]) -> None:
    """Raise UserError for a key that YAML takes for something else than a text."""
    if isinstance(content, dict):
        for key, value in content.items():
            if not isinstance(key, str):
                here = ".".join([*path, str(key)])
                raise UserError(f"{file}: {here}: the key {key} is no text; put it into quotes")
            _require_texts(file, value, [*path, key])
    elif isinstance(content, list):
        for number, value in enumerate(content):
            _require_texts(file, value, [*path, str(number)])
