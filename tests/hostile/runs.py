"""Models, prepared files, records and archives that are not what they should be, and commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from automata.records import sealed
from hostile.case import Case, Maker, Stock, of, pipe
from hostile.configurations import TABLE

MINE = {"datasets": ["mine"], "own_datasets": {"mine": TABLE}}
PREPARED = "mine.safetensors"
RECORD = "record.json"
SPACE = {"learning_rate": {"uniform": [0.001, 0.01]}, "batch_size": {"choice": [8]}}


def job(said: str, *, real: bool = False, **files: str | bytes | Maker) -> Case:
    """Return the case of what a job that tunes refuses before it trains."""
    return Case("tune", f"automata tune: error: {said}", MINE, files, real=real)


def model(
    said: str,
    code: str,
    factory: str = "nets:build",
    ends: str = "tune",
    *,
    real: bool = False,
    **options: Any,
) -> Case:
    """Return the case of a model of the user's own."""
    key = f"protocol.{'*' if ends == 'tune' else 'tabular'}.model.factory: {factory}: "
    line = f"{'automata tune: error: ' * (ends == 'tune')}{key}{said}"
    chosen = {"model": {"factory": factory, **options}, "search_space": SPACE}
    return Case(ends, line, {**MINE, "protocol": {"tabular": chosen}}, {"nets.py": code}, real=real)


MODELS = [
    model(
        "no module netz (searched: the working directory, PYTHON",
        "",
        "netz:build",
        "plan",
        real=True,
    ),
    model("cannot import nets: SyntaxError: ", "def build(:\n", real=True),
]


def renamed(old: bytes, new: bytes) -> Maker:
    """Return what writes the prepared file with a word of its header replaced."""
    return of(lambda stock: stock.prepared.replace(old, new, 1))


JOBS = [
    job(
        f"{PREPARED}: prepared with other settings; delete it, to",
        **{PREPARED: renamed(b'path\\": \\"mine.csv', b'path\\": \\"mime.csv')},
    ),
    job("work: ", work=b"not a folder"),
    job(
        "record.json: is the record of another run or of other data, which is not replaced: move it",
        **{RECORD: of(lambda stock: stock.record)},
    ),
]


def edited(change: Callable[[dict[str, Any]], Any]) -> Maker:
    """Return what writes the record with another content and a digest that fits."""

    def write(stock: Stock) -> bytes:
        content = json.loads(stock.record)
        del content["digest"]
        change(content)
        return sealed(content).encode()

    return of(write)


TABLES = "--output out"


def command(said: str, line: str, *, real: bool = False, **files: str | bytes | Maker) -> Case:
    """Return the case of a command, as a line."""
    name = line.partition(" ")[0]
    return Case(
        "command", f"automata {name}: error: {said}", {}, files, tuple(line.split()), real=real
    )


def collected(said: str, made: str | bytes | Maker, *, real: bool = False) -> Case:
    """Return the case of a record that no table is made of."""
    return command(
        f"r/{RECORD}: {said}", f"collect r/{RECORD} {TABLES}", **{f"r/{RECORD}": made}, real=real
    )


REPEAT = "delete it to repeat the run"

RECORDS = [
    collected(
        f"not a record: schema_version: Input should be 2; use the version of the project that made it, or {REPEAT}",
        edited(lambda content: content.update(schema_version=999)),
        real=True,
    ),
    collected(
        f"not a record: test: Field required; {REPEAT}", edited(lambda content: content.pop("test"))
    ),
    command(
        "r: no file, and no folder with a record.json in it",
        f"collect r {TABLES}",
        **{f"r/{RECORD}": pipe},
    ),
    command(
        "out: File exists",
        f"collect r {TABLES}",
        **{f"r/{RECORD}": of(lambda stock: stock.record), "out": b"not a folder"},
    ),
]


COMMANDS = [
    command(
        "a.tar.xz: not an archive of records: ",
        "unpack a.tar.xz",
        **{"a.tar.xz": b"text"},
        real=True,
    ),
    Case(
        "command", "automata: error: unrecognized arguments: --forget", command=("runs", "--forget")
    ),
]

CASES = [*MODELS, *JOBS, *RECORDS, *COMMANDS]
