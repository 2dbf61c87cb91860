"""Paths of records, named briefly: as a shell that knows braces expands them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

_Word = tuple[tuple[str, ...], ...]
"""The choices of each part of a path."""

_BRACES = re.compile(r"\{([^{}]*)\}")


def brief(paths: Iterable[str]) -> list[str]:
    """Return `paths`, those that differ in one part alone in one word: dna/seed-{0,1,2}.

    Parts end at slashes, and words are united part by part, the last one first: a word with several
    braces stands for all their combinations. `expanded` is the inverse. Braces, commas and spaces
    of the paths' own would be misread.
    """
    deep: dict[int, set[_Word]] = {}
    for path in paths:
        parts = path.split("/")
        deep.setdefault(len(parts), set()).add(tuple((part,) for part in parts))
    for depth in deep:
        for place in reversed(range(depth)):
            deep[depth] = _united(deep[depth], place)
    return sorted("/".join(map(_braced, word)) for words in deep.values() for word in words)


def expanded(words: Iterable[str]) -> list[str]:
    """Return all paths that `words` of `brief` stand for, sorted."""
    return sorted(
        "".join(chosen)
        for word in words
        for chosen in product(
            *(
                text.split(",") if place % 2 else [text]
                for place, text in enumerate(_BRACES.split(word))
            )
        )
    )


def _united(words: set[_Word], place: int) -> set[_Word]:
    """Return `words`, those that differ at `place` alone as one with the choices of all of them."""
    alike: dict[tuple[_Word, _Word], set[str]] = {}
    for word in words:
        alike.setdefault((word[:place], word[place + 1 :]), set()).update(word[place])
    return {(*before, tuple(sorted(choices)), *after) for (before, after), choices in alike.items()}


def _braced(choices: tuple[str, ...]) -> str:
    """Return a part of a path: what all `choices` have up to their last hyphen, and their rests."""
    if len(choices) == 1:
        return choices[0]
    starts = {re.sub(r"[^-]*$", "", choice) for choice in choices}
    start = starts.pop() if len(starts) == 1 else ""
    rests = sorted((choice[len(start) :] for choice in choices), key=_number_first)
    return f"{start}{{{','.join(rests)}}}"


def _number_first(text: str) -> tuple[bool, int, str]:
    return not text.isdecimal(), int(text) if text.isdecimal() else 0, text
