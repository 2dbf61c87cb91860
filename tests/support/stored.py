"""What figures and the page show, as the texts in `golden/shown` have it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "golden/shown"


def check_stored(name: str, lines: Sequence[str]) -> None:
    """Fail if `lines` are not the stored ones; store them instead if $AUTOMATA_STORE is set."""
    file = FOLDER / f"{name}.txt"
    if os.environ.get("AUTOMATA_STORE"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    stored = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    hint = f"look at it, then store it: AUTOMATA_STORE=1 pytest -m '' tests/unit -k '{name}'"
    assert [*lines] == stored, f"{name} does not show what is stored; {hint}"


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
