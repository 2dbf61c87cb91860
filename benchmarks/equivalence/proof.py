"""The proofs: two versions of the code do the same work, and what they give is compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from automata.code_versions import DECISIONS, METHODS, NUMBERS, TIMES, claims_of, energy
from automata.errors import UserError
from benchmarks.equivalence.cases import jobs, timed, trainings
from tests.support.replay import replay
from tools.versions import (
    ROOT,
    commit_of,
    first_difference,
    git,
    write_commit,
    write_today,
)

DRIVER = Path("benchmarks/equivalence/driver.py")

WITHIN = 1.03
"""Times and energy that differ by less are equal."""

COSTS = {"wall": TIMES, "CPU": TIMES, **{energy(method): energy(method) for method in METHODS}}
"""Cost that the driver reports -> claim about it."""


@dataclass(frozen=True)
class Compared:
    """A line of the table: what was compared for a claim, and what came out."""

    claim: str
    what: str
    outcome: str
    equal: bool


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """Yield a temporary folder with the files of `commit`; raises UserError where it is none."""
    with tempfile.TemporaryDirectory(prefix="automata-base-") as name:
        write_commit(commit_of(commit), Path(name))
        yield Path(name)


@contextmanager
def copy_of_today() -> Iterator[Path]:
    """Yield a temporary folder with the files of today: neither version is in a checkout."""
    with tempfile.TemporaryDirectory(prefix="automata-today-") as name:
        write_today(Path(name))
        yield Path(name)


def commit_of_today() -> str:
    """Return the commit of the working tree, marked if files in it were changed."""
    changed = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "--short", "HEAD") + (" and changes" if changed else "")


def decisions_by_replay(archives: Sequence[Path], processes: int) -> list[Compared]:
    """Compare published searches with simulations that get the same scores."""
    rows = []
    for group in replay(archives, processes):
        otherwise = group["otherwise"]
        shown = otherwise[0] if otherwise else "the same"
        what = f"replay: {group['decisions']}: {group['records']} records, {group['trials']} trials"
        rows.append(Compared(DECISIONS, what, f"{shown}", not otherwise))
    return rows


def numbers(base: Path, today: Path) -> list[Compared]:
    """Compare trainings and whole jobs of the code in two folders, bit for bit."""
    orders = {"trainings": trainings(), "jobs": jobs()}
    then, now = (drive(folder, **orders) for folder in (base, today))
    rows = [
        _same(NUMBERS, f"training: {name}", then["trainings"][name], found)
        for name, found in now["trainings"].items()
    ]
    for name, found in now["jobs"].items():
        # Numbers of a job rest on its decisions: the one comparison is of both.
        rows += [_same(claim, f"job: {name}", then["jobs"][name], found) for claim in _OF_JOBS]
    return rows


_OF_JOBS = (DECISIONS, NUMBERS)


def times(base: Path, today: Path, rounds: int) -> list[Compared]:
    """Compare the costs of a job of the default experiment, by one version and the other in turns.

    The first round warms up and does not count; in every other one today's code goes first.
    """
    name = timed()["name"]
    ratios: dict[str, list[float]] = {}
    for number in range(rounds + 1):
        turns = (base, today) if number % 2 else (today, base)
        costs = {folder: drive(folder, timed=[timed()])["timed"][name] for folder in turns}
        for cost in costs[today] if number else ():
            ratios.setdefault(cost, []).append(costs[today][cost] / costs[base][cost])
    return [_close(cost, values) for cost, values in ratios.items()]


def _close(cost: str, ratios: list[float]) -> Compared:
    ratio = median(ratios)
    shown = f"{ratio:.3f} of base, {min(ratios):.3f} to {max(ratios):.3f} in {len(ratios)} rounds"
    return Compared(COSTS[cost], f"job: {cost}", shown, 1 / WITHIN <= ratio <= WITHIN)


def entries(rows: Sequence[Compared], base: Path, today: Path, commit: str) -> str:
    """Return the entries that `rows` prove: Python for `EQUIVALENCES`, a part each that differs."""
    proven = {row.claim for row in rows} - {row.claim for row in rows if not row.equal}
    counts = [f"{claim} by {sum(r.claim == claim for r in rows)}" for claim in sorted(proven)]
    proof = f"benchmarks.equivalence on CPU, comparisons: {', '.join(counts)}"
    then, now = map(_versions, (base, today))
    return "".join(
        _entry(part, new, then.get((part, name)) or then[part, ""], sorted(covers), commit, proof)
        for (part, name), new in now.items()
        if new not in then.values() and (covers := proven & claims_of(part, METHODS))
    )


def _versions(folder: Path) -> dict[tuple[str, str], str]:
    """Return the versions of the code in `folder`: of parts, and of selection by selector."""
    found = drive(folder)
    by_selector = found.get("selection", {})
    whole = {(part, ""): code for part, code in found["code"].items()}
    return whole | {("selection", name): code for name, code in by_selector.items()}


def _entry(part: str, new: str, old: str, covers: list[str], commit: str, proof: str) -> str:
    fields = [*map(_quoted, (part, new, old)), f"frozenset({{{', '.join(map(_quoted, covers))}}})"]
    lines = [f"        {field},\n" for field in [*fields, _quoted(commit), _quoted(proof)]]
    return f"    Equivalence(\n{''.join(lines)}    ),\n"


def _quoted(text: str) -> str:
    return json.dumps(text)


def drive(folder: Path, **orders: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the code in `folder` makes of `orders`: by its own driver, if it has one."""
    own = folder / DRIVER
    driver = own if own.exists() else ROOT / DRIVER
    with tempfile.TemporaryDirectory(prefix="automata-orders-") as name:
        asked, found = Path(name) / "orders.json", Path(name) / "found.json"
        asked.write_text(json.dumps({"trainings": [], "jobs": [], "timed": [], **orders}))
        paths = os.pathsep.join([str(folder / "src"), str(driver.parent)])
        done = subprocess.run(
            [sys.executable, str(driver), str(asked), str(found)],
            cwd=name,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise UserError(f"{folder}: the driver failed:\n{done.stderr[-3000:]}")
        results: dict[str, Any] = json.loads(found.read_text())
    if not Path(results["package"]).is_relative_to(folder):
        raise UserError(f"{folder}: the driver imported {results['package']}")
    return results


def _same(claim: str, what: str, then: object, now: object) -> Compared:
    now = _of_both(then, now)
    return Compared(claim, what, first_difference(then, now) or "the same", then == now)


def _of_both(then: Any, now: Any) -> Any:
    """Return `now` without what the older code did not record: it can say nothing of it."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {key: _of_both(then[key], value) for key, value in now.items() if key in then}
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [_of_both(*pair) for pair in zip(then, now, strict=True)]
    return now
