"""Configuration files as plain sections, lists and values.

A file is data: no tag makes an object, and no alias a structure that is too large to walk.
"""

from __future__ import annotations

import json
import math
import re
import stat
from pathlib import Path
from typing import Any

import yaml

from automata.config.refusals import dotted
from automata.errors import UserError

Config = dict[str, Any]
"""What is in a configuration file."""

PLAIN = ("null", "bool", "int", "float", "str", "seq", "map")
"""The tags of YAML that a configuration needs."""

DEEPEST, MOST = 30, 100_000
"""Levels and values that a configuration may have, with what aliases repeat."""


class _Loader(yaml.SafeLoader):
    """YAML as people expect it: 1e-3 is a number, dates are texts, no key comes twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the section at `node`; raises ConstructorError for a key that is there twice."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for number, key in enumerate(keys):
            if key in keys[:number]:
                again = node.value[number][0].start_mark
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key} is there twice", again
                )
        return super().construct_mapping(node, deep)


_Loader.yaml_constructors = {
    tag: construct
    for tag, construct in yaml.SafeLoader.yaml_constructors.items()
    if tag is None or tag.rpartition(":")[2] in PLAIN  # None: refuses all others
}
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
    text = _text(file)
    try:
        content = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {_fault(error, text)}") from error
    if not isinstance(content, dict):
        found = "it has none" if content is None else f"this is {json.dumps(content)[:40]}"
        raise UserError(f"{file}: a configuration is a section of keys; {found}")
    _require_plain(file, content)
    return content


def _text(file: Path) -> str:
    """Return what is in `file`; raises UserError if that is no text."""
    try:
        mode = file.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a pipe would be waited for
            raise UserError(f"{file}: cannot be read: not a regular file")
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}") from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        byte = content[error.start]
        raise UserError(
            f"{file}: {_place(before, len(before))}: not UTF-8: byte 0x{byte:02x}; save it as UTF-8"
        ) from error


def _fault(error: Exception, text: str) -> str:
    """Return what is wrong with the YAML in `text`, and where."""
    if isinstance(error, yaml.reader.ReaderError):
        return f"{_place(text, error.position)}: not YAML: {error.reason}"
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return f"not YAML: {' '.join(str(error).split())}"
    problem, context = getattr(error, "problem", ""), getattr(error, "context", None)
    if "'\\t'" in problem:
        problem = "a tab; indent with spaces"
    begun = getattr(error, "context_mark", None)
    within = f"{context} of line {begun.line + 1}, " if context and begun else ""
    return f"line {mark.line + 1}, column {mark.column + 1}: not YAML: {within}{problem}"


def _place(text: str, position: int) -> str:
    """Return line and column of a position in `text`, both from 1."""
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, column {position - before.rfind(chr(10))}"


def _require_plain(file: Path, content: Config) -> None:
    """Raise UserError for what is no plain configuration: keys that are no texts, or too much."""
    left: list[tuple[list[str], Any]] = [([], content)]
    seen = 0
    while left:
        path, value = left.pop()
        seen += 1
        problem = _problem(path, value) if seen <= MOST else f"it has more than {MOST} values"
        if problem is not None:
            raise UserError(f"{file}: {dotted(path[:4])}: {problem}")
        if isinstance(value, dict):
            left += [([*path, key], inner) for key, inner in value.items()]
        elif isinstance(value, list):
            left += [([*path, str(number)], inner) for number, inner in enumerate(value)]


def _problem(path: list[Any], value: Any) -> str | None:
    """Return what is wrong with the value at `path`, None if nothing is."""
    if path and not isinstance(path[-1], str):
        return f"the key {path[-1]} is no text; put it into quotes"
    if len(path) > DEEPEST:
        return f"it is nested deeper than {DEEPEST} levels"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not finite"
    if isinstance(value, int) and value.bit_length() > 63:
        return "the integer has more than 63 bits"
    if isinstance(value, str) and any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value):
        return f"the text {json.dumps(value)} has a character that no path can have"
    return None
