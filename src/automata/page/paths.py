"""Records named briefly: seeds of one combination on one line, as a shell would expand it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SEED = re.compile(r"^(.*/seed-)(\d+)(/[^/]*)$")


def brief(records: Iterable[str]) -> list[str]:
    """Return `records` with those that differ in their seed alone on one line: seed-{0,1,2}."""
    seeds: dict[tuple[str, str], list[int]] = {}
    others = []
    for record in records:
        found = _SEED.match(record)
        if found:
            seeds.setdefault((found[1], found[3]), []).append(int(found[2]))
        else:
            others.append(record)
    lines = [f"{start}{_braced(sorted(numbers))}{end}" for (start, end), numbers in seeds.items()]
    return sorted([*lines, *others])


def _braced(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{{{','.join(map(str, numbers))}}}"
