"""Stored values of tiny runs: a line of JSON for each, with the platform that computed it."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from automata.records.provenance import cpu_model

NEARLY = 1e-2


def read(file: Path) -> dict[str, Any]:
    """Return platform and values of each run by its name."""
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line.pop("name"): line for line in lines}


def add(file: Path, runs: Mapping[str, Callable[[], Any]], replaced: Sequence[str]) -> None:
    """Store runs that are not stored; replace those that are named, and say which others differ."""
    stored = read(file)
    for name, compute in runs.items():
        values = json.loads(json.dumps(compute()))
        if name not in stored or name in replaced:
            stored[name] = {"platform": platform(), "values": values}
            print(f"{name}: stored")  # noqa: T201
        else:
            other = "differs, and stays; an argument of this name replaces it"
            print(f"{name}: {'as stored' if agrees(values, stored[name]) else other}")  # noqa: T201
    kept = {name: stored[name] for name in runs}
    lines = [json.dumps({"name": name, **it}, sort_keys=True) for name, it in kept.items()]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def agrees(values: Any, stored: Mapping[str, Any]) -> bool:
    """Return whether values are the stored ones: to the bit on their platform, elsewhere nearly."""
    exact = stored["platform"] == platform()
    return bool(values == stored["values"] if exact else _near(values, stored["values"]))


def platform() -> str:
    """Return what numbers depend on beside the code."""
    level = torch.backends.cpu.get_cpu_capability()
    return f"{cpu_model()}, {level}, torch {torch.__version__}, numpy {numpy.__version__}"


def _near(values: Any, stored: Any) -> bool:
    if isinstance(stored, list):
        return len(values) == len(stored) and all(map(_near, values, stored))
    if isinstance(stored, dict):
        return values.keys() == stored.keys() and all(
            _near(values[it], stored[it]) for it in stored
        )
    near = pytest.approx(stored, NEARLY, NEARLY) if isinstance(stored, float) else stored
    return bool(values == near)
