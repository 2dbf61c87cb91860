"""Models, prepared files, records and archives that are not what they should be, and commands."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from collections.abc import Callable
from typing import Any

from automata.records import sealed
from hostile.case import Case, Maker, Stock, folder, of, pipe
from hostile.configurations import TABLE

MINE = {"datasets": ["mine"], "own_datasets": {"mine": TABLE}}
PREPARED = "mine.safetensors"
RECORD = "record.json"
SPACE = {"learning_rate": {"uniform": [0.001, 0.01]}, "batch_size": {"choice": [8]}}
AGAIN = "damaged, or no prepared data set: delete it, and run the same command again"


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


def built(body: str) -> str:
    """Return a module whose factory makes a network with another `body`."""
    return f"""
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.body = nn.Linear(inputs, 4)
        self.head = nn.Linear(4, classes)
    def features(self, x):
        return self.body(x)
def build(dataset, configuration, width=4):
    net = Net(dataset.train.inputs.shape[1], dataset.classes)
    {body}
    return net
"""


MODELS = [
    model(
        "no module netz (searched: the working directory, PYTHON",
        "",
        "netz:build",
        "plan",
        real=True,
    ),
    model("nets has no function biuld; it has Net, build", built("pass"), "nets:biuld"),
    model("cannot import nets: SyntaxError: ", "def build(:\n", real=True),
    model("cannot import nets: ValueError: not today", "raise ValueError('not\\ntoday')\n"),
    model("ended the process with SystemExit: 3", "import sys; sys.exit(3)\n"),
    model("failed with ZeroDivisionError: division by zero", "def build(*_): 1 / 0\n", real=True),
    model("ended the process with SystemExit: 0", "import sys\ndef build(*_): sys.exit(0)\n"),
    model(
        "failed with TypeError: build() got an unexpected keyword argument 'widht'",
        built("pass"),
        widht=3,
    ),
    model("returned NoneType, not a torch.nn.Module", "def build(*_): pass\n"),
    model("head has 7 outputs, mine has 2 classes", built("net.head = nn.Linear(4, 7)")),
]


def at(header: bytes, other: bytes) -> Maker:
    """Return what writes the prepared file with some bytes of its header changed."""
    assert len(header) == len(other)

    def changed(stock: Stock) -> bytes:
        assert header in stock.prepared
        return stock.prepared.replace(header, other, 1)

    return of(changed)


PREPARED_FILES = [
    job(f"{PREPARED}: {AGAIN}", **{PREPARED: of(lambda stock: stock.prepared[:-1])}),
    job(f"{PREPARED}: {AGAIN}", **{PREPARED: b""}),
    job(f"{PREPARED}: {AGAIN}", **{PREPARED: at(b"train.inputs", b"trajn.inputs")}),
    job(f"{PREPARED}: {AGAIN}", **{PREPARED: at(b'"F32"', b'"F99"')}),
    job(f"{PREPARED}: {AGAIN}", **{PREPARED: at(b'"data_offsets":[0', b'"data_offsets":[9')}),
    job(
        f"{PREPARED}: {AGAIN} (format version 1, expected 2)",
        **{PREPARED: at(b'format_version\\": 2', b'format_version\\": 1')},
    ),
    job(
        f"{PREPARED}: is data set 'mime', not 'mine'",
        **{PREPARED: at(b'name\\": \\"mine', b'name\\": \\"mime')},
    ),
    job(
        f"{PREPARED}: prepared with other settings; delete it, to",
        **{PREPARED: at(b'path\\": \\"mine.csv', b'path\\": \\"mime.csv')},
    ),
    job(f"{PREPARED}: {AGAIN}", **{PREPARED: folder}),
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
        f"its content does not match its digest: cut off, edited or damaged; {REPEAT}",
        of(lambda stock: stock.record[:-9]),
        real=True,
    ),
    collected(
        f"its content does not match its digest: ...; {REPEAT}",
        of(lambda stock: stock.record.replace(b'"seed": 0', b'"seed": 1', 1)),
    ),
    collected(f"its content does not match its digest: ...; {REPEAT}", b"\xff\xfe\x00"),
    collected(
        f"not a record: schema_version: Input should be 2; use the version of the project that made it, or {REPEAT}",
        edited(lambda content: content.update(schema_version=999)),
        real=True,
    ),
    collected(
        f"not a record: test: Field required; {REPEAT}", edited(lambda content: content.pop("test"))
    ),
    collected(
        f"not a record: job.run.seed: ...; {REPEAT}",
        edited(lambda content: content["job"]["run"].update(seed=-1)),
    ),
    collected(
        f"not a record: tuning.trials: ...; {REPEAT}",
        edited(lambda content: content["tuning"].update(trials=None)),
    ),
    command(
        "r: no file, and no folder with a record.json in it",
        f"collect r {TABLES}",
        **{f"r/{RECORD}": pipe},
    ),
    command(
        "records of the same run: a/record.json, b/record.json",
        f"collect a b {TABLES}",
        **{
            f"a/{RECORD}": of(lambda stock: stock.record),
            f"b/{RECORD}": of(lambda stock: stock.record),
        },
    ),
    command(
        "out: File exists",
        f"collect r {TABLES}",
        **{f"r/{RECORD}": of(lambda stock: stock.record), "out": b"not a folder"},
    ),
]


def packed(*entries: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    """Return an archive with these entries."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:xz") as tar:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            entry.size = len(content) if kind == tarfile.REGTYPE else 0
            tar.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def unpacked(
    said: str, made: str | bytes | Maker, *, real: bool = False, **files: str | bytes | Maker
) -> Case:
    """Return the case of an archive of records."""
    return command(said, "unpack a.tar.xz", **{"a.tar.xz": made, **files}, real=real)


RUN = "mine/random-hyperband-0123abcd/full-1/seed-0/record.json"
NO_RECORD = "is not the record of a run"

ARCHIVES = [
    unpacked("a.tar.xz: not an archive of records: ", b"text", real=True),
    unpacked("a.tar.xz: not an archive of records: ", lzma.compress(b"text")),
    unpacked(
        "a.tar.xz: not an archive of records: ",
        of(lambda stock: stock.archive[: len(stock.archive) // 2]),
    ),
    unpacked(
        "a.tar.xz: not an archive of records: ",
        of(lambda stock: stock.archive[:300] + b"\0\0\0\0" + stock.archive[304:]),
    ),
    unpacked(f"a.tar.xz: '../{RUN}' {NO_RECORD}", packed((f"../{RUN}", b"x"))),
    unpacked(f"a.tar.xz: '{RUN}' {NO_RECORD}", packed((RUN, b""), kind=tarfile.SYMTYPE)),
    unpacked(f"a.tar.xz: {RUN}: its content does not match its digest", packed((RUN, b"x"))),
    unpacked(f"a.tar.xz: {RUN}: its content does not match", packed((RUN, b"\xff\xfe"))),
    unpacked(
        "a.tar.xz: ... is twice in it",
        of(
            lambda stock: packed(
                (RUN, stock.record), (RUN.replace("seed-0", "seed-1"), stock.record)
            )
        ),
    ),
]

COMMANDS = [
    Case(
        "command", "automata: error: unrecognized arguments: --forget", command=("runs", "--forget")
    ),
    command(
        "dataset 'mnist' is not one of dna, satimage, letter",
        "prepare mnist --output x.safetensors",
    ),
]

CASES = [*MODELS, *PREPARED_FILES, *RECORDS, *ARCHIVES, *COMMANDS]
