"""Which code made a record: a short hash of each part that decides what is in it.

Code that was proven to do the same can be declared equal, for exactly what the proof covers:
see `Equivalence`. The standard library alone: the workflow asks for it while it plans.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from automata.selection import SELECTORS

PACKAGE = Path(__file__).parent

_IMPORT = re.compile(r"^ *(?:from|import) (automata\.selection\.\w+)", re.MULTILINE)

PARTS = {
    "selection": ("selection",),
    "training": (
        "training",
        "models",
        "tuning",
        "datasets/prepared.py",
        "config/job.py",
        "seeds.py",
    ),
    "metering": ("metering",),
}
"""The parts, and the folders and files of the package that each consists of."""

DECISIONS = "decisions"
"""Which configurations are proposed, where each trial stops, which is best."""
NUMBERS = "numbers"
"""Losses and scores, bit for bit."""
TIMES = "times"
"""Wall and CPU seconds, within 3 %."""
METHODS = ("measured", "polled", "estimated")
"""How energy is obtained: what one claims of it says nothing of another."""

INTERRUPTED = " of interrupted runs"
GPU = " on GPUs"
"""Ends of claims: without, they are of runs that nothing interrupted, and of CPUs."""


def energy(method: str) -> str:
    """Return the claim about energy that was `measured`, `polled` or `estimated`: within 3 %."""
    return f"{method} energy"


def claims_of(
    part: str, methods: Iterable[str] = (), interrupted: bool = False, device: str = "cpu"
) -> set[str]:
    """Return what code of `part` must be equal in, to be the same for a run on `device`.

    Its energy was obtained by `methods`.
    """
    where = "" if device == "cpu" else GPU
    costs = {TIMES, *(map(energy, methods) if part == "metering" else ())}
    claims = {cost + (INTERRUPTED if interrupted else "") + where for cost in costs}
    if part != "metering":
        claims.add(NUMBERS + where)
    return claims | ({DECISIONS} if part == "training" else set())


CLAIMS = frozenset(
    claim
    for part in PARTS
    for interrupted in (False, True)
    for device in ("cpu", "a GPU")
    for claim in claims_of(part, METHODS, interrupted, device)
)
"""All that an equivalence can cover."""


@dataclass(frozen=True)
class Equivalence:
    """Code of a `part` that does, in what it `covers`, what older code of it did.

    `python -m benchmarks.equivalence` proves it and prints the entry.
    """

    part: str
    new: str
    old: str
    covers: frozenset[str]
    """Of CLAIMS; in all else the two are other code."""
    commit: str
    """Of the new code."""
    proof: str


EQUIVALENCES: tuple[Equivalence, ...] = (
    Equivalence(
        "training",
        "9691139e",
        "efe78cf7",
        frozenset({"decisions", "numbers"}),
        "5e10ed4",
        "benchmarks.equivalence on CPU, comparisons: decisions by 12, numbers by 44",
    ),
    *(
        Equivalence(
            part,
            new,
            old,
            frozenset(covers),
            "5f2f3f5",
            "benchmarks.equivalence on CPU, comparisons: decisions by 11, estimated energy by 1, "
            "numbers by 44, times by 2 (9 rounds: 1.028 of the wall time, 1.027 of the energy)",
        )
        for part, new, old, covers in (
            ("training", "efe78cf7", "154c9939", {"decisions", "numbers", "times"}),
            ("metering", "13a750f5", "402a34c5", {"estimated energy", "times"}),
            *(
                ("selection", new, old, {"numbers", "times"})
                for new, old in (
                    ("052b0fd3", "2fa87894"),
                    ("9c051371", "e5e629dc"),
                    ("d464390e", "467e7652"),
                    ("466fa138", "b204d7a9"),
                    ("a1633c2a", "946991f1"),
                    ("10a38105", "13b86bd3"),
                    ("d4cb210f", "5653d17a"),
                    ("66c6da62", "55544222"),
                )
            ),
        )
    ),
    *(
        Equivalence(
            "selection",
            new,
            "ca7d8688",
            frozenset(claim for claim in CLAIMS if claim.startswith((NUMBERS, TIMES))),
            "386234b",
            "the modules are the same; those that only other selectors need are left out",
        )
        for new in (
            "2fa87894",
            "e5e629dc",
            "467e7652",
            "b204d7a9",
            "946991f1",
            "55544222",
            "5653d17a",
            "13b86bd3",
        )
    ),
    *(
        Equivalence(
            "training",
            new,
            "4821db55",
            frozenset({"decisions", "numbers"}),
            commit,
            "benchmarks.equivalence on CPU, comparisons: decisions by 11, numbers by 44",
        )
        for new, commit in (
            ("154c9939", "326fed5"),
            ("7bee50bb", "4edf6f8"),
            ("7450eba8", "951ba88"),
        )
    ),
    Equivalence(
        "training",
        "4821db55",
        "3276ea2c",
        frozenset({"decisions", "numbers", "times"}),
        "03b7bf1",
        "benchmarks.equivalence on CPU, comparisons: decisions by 11, numbers by 44, times by 2 "
        "(15 rounds: 0.994 of the wall time, 0.986 of the CPU time)",
    ),
    Equivalence(
        "metering",
        "402a34c5",
        "191fce3c",
        frozenset({"estimated energy", "times"}),
        "03b7bf1",
        "benchmarks.equivalence on CPU, comparisons: estimated energy by 1, times by 2 "
        "(15 rounds: 0.985 of the energy)",
    ),
)
"""The newest first; a hash is `new` in one of them at most."""


def origin(part: str, version: str | None, claims: Iterable[str]) -> str | None:
    """Return the oldest version of `part` that equals `version` in all `claims`.

    Two versions are equal in these if and only if they have the same origin.
    """
    needed = frozenset(claims)
    older = {e.new: e.old for e in EQUIVALENCES if e.part == part and needed <= e.covers}
    while version in older:
        version = older[version]
    return version


@cache
def code_versions(selector: str | None = None) -> dict[str, str]:
    """Return eight hexadecimal digits for each of PARTS; comments and layout do not count.

    Of a run with `selector` (or a control) only what this one needs of `selection` counts: a new
    selector leaves the records of all others as they are.
    """
    if selector is None:
        return {part: version(PACKAGE, paths) for part, paths in PARTS.items()}
    target = SELECTORS.get(selector, "")
    return {**code_versions(), "selection": version(PACKAGE, needed_for(target), target)}


def needed_for(target: str) -> tuple[str, ...]:
    """Return the modules of `selection` that training and the selector "module:class" import."""
    training = [file for path in PARTS["training"] for file in _modules(PACKAGE / path)]
    wanted = {path for file in training for path in _selection(file)}
    if target:
        wanted.add(_path(target.partition(":")[0]))
    needed: set[str] = set()
    while wanted > needed:
        needed |= wanted
        wanted |= {path for name in needed for path in _selection(PACKAGE / name)}
    return tuple(sorted(needed))


def _selection(file: Path) -> list[str]:
    """Return the modules of `selection` that a file of the package imports."""
    return [_path(name) for name in _IMPORT.findall(file.read_text(encoding="utf-8"))]


def _path(module: str) -> str:
    """Return where in the package a module lies."""
    return module.removeprefix("automata.").replace(".", "/") + ".py"


def version(package: Path, paths: tuple[str, ...], named: str = "") -> str:
    """Return the hash of the code in `paths`, folders and files of the folder `package`.

    What is `named` in it counts, too.
    """
    total = hashlib.sha256(named.encode())
    for file in sorted(file for path in paths for file in _modules(package / path)):
        name = file.relative_to(package).as_posix()
        code = essence(file.read_text(encoding="utf-8"))
        total.update(f"{name}\0{code}\0".encode())
    return total.hexdigest()[:8]


def origins(
    code: dict[str, str],
    methods: Iterable[str] = (),
    interrupted: bool = False,
    device: str = "cpu",
) -> dict[str, str | None]:
    """Return the parts of `code` by their origins, in all that such a run consists of."""
    kinds = tuple(methods)
    return {
        part: origin(part, code.get(part), claims_of(part, kinds, interrupted, device))
        for part in PARTS
    }


def other_code(
    made_by: dict[str, str],
    selector: str,
    methods: Iterable[str] = (),
    interrupted: bool = False,
    device: str = "cpu",
) -> list[str]:
    """Return the parts whose code of today neither is nor equals that of a run, in all of it.

    The run, with `selector`, was `made_by` some code.
    """
    run = (tuple(methods), interrupted, device)
    then, now = origins(made_by, *run), origins(code_versions(selector), *run)
    return [part for part in PARTS if then[part] != now[part]]


def essence(source: str) -> str:
    """Return what `source` does: its syntax tree without docstrings, comments and layout.

    Not `ast.dump`, whose text differs between versions of Python: what is empty is left out
    here, and newer versions only add fields that are empty in older code.
    """
    return _text(ast.parse(source))


def _modules(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


def _text(value: object) -> str:
    """Return a node, or what is in one, as text."""
    if isinstance(value, list):
        return f"[{','.join(map(_text, value))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = []
    for name, content in ast.iter_fields(value):
        if name == "body" and isinstance(content, list):
            content = [line for line in content if not _is_text_alone(line)]
        if isinstance(value, ast.JoinedStr):  # Python 3.12 ends some with an empty text
            content = [part for part in content if getattr(part, "value", None) != ""]
        if content is not None and content != []:
            fields.append(f"{name}={_text(content)}")
    return f"{type(value).__name__}({','.join(fields)})"


def _is_text_alone(line: ast.stmt) -> bool:
    """Say whether a line of code is nothing but a text: a docstring, of whatever."""
    return (
        isinstance(line, ast.Expr)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, str)
    )
