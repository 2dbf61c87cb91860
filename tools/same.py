"""`python tools/same.py BASE`: show that the working tree gives what commit BASE gave.

Prints a line for each proof, with the first differences; ends with 1 if there are any. What BASE
gave is kept in ~/.cache/automata/same, which may be deleted at any time; what the working tree
gives lies in results/work/same until the next call.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from itertools import zip_longest
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from filelock import FileLock
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # called as a file

# ruff: noqa: E402
from automata.errors import UserError
from tools.versions import both, commit_of, first_difference, write_commit, write_today

SIDE = Path(__file__).with_name("side.py")
KEPT = Path.home() / ".cache/automata/same"
TODAY = ROOT / "results/work/same"

PROOFS = {
    "plans": {
        "plans/runs": "outputs and parameters of `prepare` and `tune`",
        "plans/reductions": "those of all other jobs",
    },
    "errors": {"errors": "what users are told of wrong inputs"},
    "records": {"records": "published records, read and written"},
    "tables": {"redraw/tables": "tables made of published records"},
    "figures": {"redraw/figures": "pixels of the figures"},
    "page": {"redraw/page": "data and text of the page"},
}
"""Proof -> folders that it compares, each by the work that makes it, and what is in them."""

Kind = tuple[Callable[[Path, Path], Iterable[str]], int, list[str]]

CASES = ("tests/hostile", "tests/workflow/test_configuration_errors.py")
"""Wrong inputs: those of BASE are given to both versions."""


def main() -> None:
    """Make both sides, compare them, and say what differs."""
    options = _options()
    commit = commit_of(options.base)
    base, today = _base(commit), TODAY
    with FileLock(TODAY.with_suffix(".lock")), ThreadPoolExecutor(os.cpu_count()) as pool:
        shutil.rmtree(TODAY, ignore_errors=True)
        write_today(TODAY / "tree")
        write_commit(commit, TODAY / "tree", *CASES)
        looks = [look for proof in options.only for look in PROOFS[proof].items()]
        work = dict.fromkeys(name.split("/")[0] for name, _ in looks)
        made = {name: [pool.submit(_make, side, name) for side in (base, today)] for name in work}
        equal = True
        for name, meaning in looks:
            try:
                seconds = [side.result() for side in made[name.split("/")[0]]]
                found = differences(base / name, today / name)
                took = "{:.0f} s, {:.0f} s".format(*seconds)
            except UserError as error:
                found, took = [str(error)], "not made"
            equal = equal and not found
            print(f"{'differs' if found else 'equal':8}{name:18}{meaning} ({took})", flush=True)
            for line in _first(found, options.lines):
                print(f"{'':8}{line}", flush=True)
    sys.exit(0 if equal else 1)


def differences(base: Path, today: Path) -> list[str]:
    """Return in what the files of two folders differ, a line for each file."""
    files = [{str(p.relative_to(f)) for p in f.rglob("*") if p.is_file()} for f in (base, today)]
    lines = []
    for name in sorted(files[0] | files[1]):
        pair = base / name, today / name
        if name not in files[0] & files[1]:
            lines.append(f"{name}: {_only(name in files[0])}")
        elif pair[0].read_bytes() != pair[1].read_bytes():
            compare, shown, only_bytes = KINDS.get(pair[0].suffix, TEXT)
            found = _first(compare(*pair), shown) or only_bytes
            lines += [f"{name}: {'; '.join(found)}"] if found else []
    return lines


def _of_table(base: Path, today: Path) -> Iterable[str]:
    """Yield the columns that differ, in how many rows, by how much at most."""
    read = _parquet if base.suffix == ".parquet" else _csv
    then, now = read(base), read(today)
    for column in dict.fromkeys([*then, *now]):
        if not (column in then and column in now):
            yield f"column {column}: {_only(column in then)}"
    if len(then) != len(now):
        yield f"{len(then)} and {len(now)} rows"
    rows = min(len(then), len(now))
    for column in [column for column in then if column in now]:
        pair = then[column][:rows], now[column][:rows]
        other = pair[0] != pair[1]
        if other.any():
            a, b = (column[other] for column in pair)
            gap = (pd.to_numeric(a, errors="coerce") - pd.to_numeric(b, errors="coerce")).abs()
            most = "" if gap.isna().all() else f", by {gap.max():.3g} at most"
            first = f"row {other.argmax() + 1}: {both(a.iloc[0], b.iloc[0])}"
            yield f"column {column}: {other.sum()} of {rows} rows{most}; {first}"


def _csv(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _parquet(path: Path) -> pd.DataFrame:
    """Return the cells as text; the type of a column stands behind its name."""
    table = pd.read_parquet(path)
    names = {name: f"{name} ({kind})" for name, kind in table.dtypes.items()}
    return table.rename(columns=names).map(str)


def _of_image(base: Path, today: Path) -> Iterable[str]:
    """Yield how much of the pixels differs, or the sizes."""
    then, now = (np.asarray(Image.open(path).convert("RGBA")) for path in (base, today))
    if then.shape != now.shape:
        yield f"{then.shape[1]} x {then.shape[0]} and {now.shape[1]} x {now.shape[0]} pixels"
    elif (other := (then != now).any(axis=2)).any():
        yield f"{other.sum()} of {other.size} pixels"


def _of_json(base: Path, today: Path) -> Iterable[str]:
    """Yield the keys of one side alone, and the first other value of each other key."""
    then, now = (json.loads(path.read_text(encoding="utf-8")) for path in (base, today))
    if not (isinstance(then, dict) and isinstance(now, dict)):
        then, now = {"": then}, {"": now}
    for key in {**then, **now}:
        if not (key in then and key in now):
            yield f"{key}: {_only(key in then)}"
        elif found := first_difference(then[key], now[key], key):
            yield found


def _of_text(base: Path, today: Path) -> Iterable[str]:
    """Yield the lines that differ."""
    pair = (path.read_text(encoding="utf-8").splitlines() for path in (base, today))
    for number, (then, now) in enumerate(zip_longest(*pair, fillvalue="(its end)"), 1):
        if then != now:
            yield f"line {number}: {both(then, now)}"


EVERY_COLUMN = 1000
OTHER_BYTES = ["other bytes, the same content"]
TEXT: Kind = (_of_text, 1, OTHER_BYTES)
KINDS: dict[str, Kind] = {
    ".csv": (_of_table, EVERY_COLUMN, OTHER_BYTES),
    ".json": (_of_json, 1, OTHER_BYTES),
    ".parquet": (_of_table, EVERY_COLUMN, []),
    ".png": (_of_image, 1, []),
}
"""How files are compared, how much of that is shown, what is said where only bytes differ."""


def _only(base: bool) -> str:
    return f"only in {'BASE' if base else 'the working tree'}"


def _first(lines: Iterable[str], most: int) -> list[str]:
    """Return the first `lines`, and how many more there are."""
    every = list(lines)
    return every[:most] + ([f"and {len(every) - most} more"] if len(every) > most else [])


def _base(commit: str) -> Path:
    """Return the folder of a commit, in this environment and for these proofs; with its files."""
    packages = sorted(f"{it.name} {it.version}" for it in distributions())
    rest = [sys.version, SIDE.read_text(encoding="utf-8"), *packages]
    side = KEPT / f"{commit[:12]}-{hashlib.sha256(repr(rest).encode()).hexdigest()[:8]}"
    side.mkdir(parents=True, exist_ok=True)
    with FileLock(side / "tree.lock"):
        if not (side / "tree").exists():
            shutil.rmtree(side / "unfinished", ignore_errors=True)
            write_commit(commit, side / "unfinished")
            (side / "unfinished").rename(side / "tree")
    return side


def _make(side: Path, work: str) -> float:
    """Let a side do its `work`, if it has not; return the seconds that it took."""
    out, done = side / work, side / f"{work}.seconds"
    with FileLock(side / f"{work}.lock"):
        if not done.exists():
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            tree, started = side / "tree", perf_counter()
            environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
            with (side / f"{work}.log").open("w", encoding="utf-8") as log:
                command = [sys.executable, str(SIDE), work, str(out)]
                ended = subprocess.run(
                    command, cwd=tree, env=environment, stdout=log, stderr=log, check=False
                )
            if ended.returncode:
                raise UserError(f"{work} ended with {ended.returncode}: see {side / work}.log")
            shutil.rmtree(out / "work", ignore_errors=True)
            done.write_text(f"{perf_counter() - started:.1f}", encoding="utf-8")
    return float(done.read_text(encoding="utf-8"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tools/same.py", description=__doc__)
    parser.add_argument("base", metavar="BASE", help="commit to compare with")
    parser.add_argument("--only", default=",".join(PROOFS), help="proofs (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=5, help="differences shown for each proof")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := sorted(set(options.only) - set(PROOFS)):
        parser.error(f"--only: {unknown[0]}: not one of {', '.join(PROOFS)}")
    return options


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
