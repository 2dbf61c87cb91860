"""Bad inputs end with one clear line, and the user's files stay the same.

The tests of each room have the refusals that are raised there.
"""

import json
import os
import re
import shutil
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
import yaml

from automata.cli import main
from automata.datasets.prepared import read_dataset
from automata.errors import UserError
from automata.records import sealed

from .conftest import JOB, MINE, RUN, configured

OWN = {"datasets": ["mine"], "own_datasets": {"mine": {**MINE, "path": "t.csv"}}}
TEXT = {"mine": {**MINE, "kind": "text", "text": "soil"}}
PREPARED = Path("mine.safetensors")
RECORD = RUN / "record.json"
REPEAT = "delete it to repeat the run"


def content(folder):
    """Return the bytes of files, and the type of anything else in a folder, but for locks."""
    return {
        path: path.read_bytes() if path.is_file() else path.lstat().st_mode
        for path in folder.rglob("*")
        if path.name != "lock"
    }


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            {"protocol": {"tabular": None}},
            "smoke.yaml: datasets.0: dna needs the section protocol.tabular",
        ),
        (OWN, "own_datasets.mine.path: t.csv: no such file or folder"),
        (
            {**OWN, "own_datasets": TEXT, "data": {"vectors": {"source": "v.txt", "dimension": 3}}},
            "data.vectors.source: v.txt: no such file",
        ),
    ],
)
def test_plan_without_what_it_needs_is_refused_by_one_line(config, line, folder):
    Path("own.yaml").write_text(yaml.safe_dump(config))
    before = content(folder)
    with pytest.raises(UserError, match=f"^\\S*{re.escape(line)}.*$"):
        configured()
    assert content(folder) == before


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


def replace_by_text(path):
    shutil.rmtree(path, ignore_errors=True)
    path.write_text("text")


def replace_by_pipe(path):
    """Who opens it waits forever."""
    path.unlink()
    os.mkfifo(path)


def name_another_source(path):
    path.with_name(f"{path.name}.sha256").unlink()
    path.write_bytes(path.read_bytes().replace(rb'"mine.csv', rb'"mime.csv'))


def edited(change):
    """Return what changes a record, and gives it a digest that fits."""

    def edit(path):
        record = json.loads(path.read_text())
        del record["digest"]
        change(record)
        path.write_text(sealed(record))

    return edit


PREPARE = ["prepare", "mine", "--preparation", json.dumps({"own": MINE}), "--output=new"]
TUNE = ["tune", "mine.safetensors", "--job", JOB.model_dump_json()]
TUNE += ["--work=work", "--output=new.json"]
COLLECT = ["collect", "mine", "--output=out"]


@pytest.mark.parametrize(
    ("change", "file", "command", "line"),
    [
        (
            replace_by_folder,
            "mine.csv",
            PREPARE,
            "own_datasets.mine: mine.csv: not a readable .csv file: .*Is a directory",
        ),
        (
            name_another_source,
            PREPARED,
            TUNE,
            f"{PREPARED}: prepared with other settings; delete it, to",
        ),
        (replace_by_text, "work", TUNE, "work: "),
        (
            edited(lambda record: record.update(schema_version=999)),
            RECORD,
            COLLECT,
            f"{RECORD}: not a record: schema_version: Input should be 2; use the version of the "
            f"project that made it, or {REPEAT}",
        ),
        (
            edited(lambda record: record.pop("test")),
            RECORD,
            COLLECT,
            f"{RECORD}: not a record: test: Field required; {REPEAT}",
        ),
        (replace_by_pipe, RECORD, COLLECT, "mine: no file, and no folder with a record.json in it"),
        (replace_by_text, "out", COLLECT, "out: File exists"),
        (
            replace_by_text,
            "records.tar.xz",
            ["unpack", "records.tar.xz"],
            "records.tar.xz: not an archive of records: ",
        ),
    ],
)
def test_command_on_a_bad_file_ends_with_one_line(change, file, command, line, folder, capfd):
    change(Path(file))
    before = content(folder)
    with pytest.raises(SystemExit, match=f"^automata {command[0]}: error: {line}.*$") as end:
        main(command)
    assert len(end.value.code) <= 450
    assert "Traceback" not in capfd.readouterr().err
    assert content(folder) == before


def test_flipped_bits_in_the_header_of_a_prepared_file_are_refused_or_do_not_count(folder):
    PREPARED.with_name(f"{PREPARED}.sha256").unlink()
    sound = PREPARED.read_bytes()
    for bit, byte in product(range(8), range(0, len(sound), 31)):
        flipped = bytearray(sound)
        flipped[byte] ^= 1 << bit
        PREPARED.write_bytes(flipped)
        with suppress(UserError):
            read_dataset(PREPARED)
