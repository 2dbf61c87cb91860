"""Digests of what figures and the page show, as `golden/shown.json` has them."""

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parents[1] / "golden/shown.json"


def check_stored(name: str, digests: dict[str, str]) -> None:
    """Fail if `digests` are not the stored ones; store them instead if $AUTOMATA_STORE is set."""
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    if os.environ.get("AUTOMATA_STORE"):
        text = json.dumps({**stored, name: digests}, indent=1, sort_keys=True)
        FILE.write_text(f"{text}\n", encoding="utf-8")
    else:
        hint = "look at it, then store it: AUTOMATA_STORE=1 pytest -n0 -m '' tests/unit"
        assert digests == stored.get(name), f"{name} shows something else; {hint}"


def digest(value: Any) -> str:
    """Return the digest of texts and numbers; of these it has four digits: processors differ."""
    return sha256(repr(_rounded(value)).encode()).hexdigest()[:8]


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [*map(_rounded, value.items())]
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [*map(_rounded, value)]
    if isinstance(value, float | np.floating):
        return f"{value:.4g}" if abs(value) > 1e-9 else "0"
    return str(value)
