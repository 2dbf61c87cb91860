"""Runs on disk, listed with their use."""

import shutil
from pathlib import Path

import pytest

from automata.cli import COMMANDS
from automata.config.data import Preparation
from automata.config.refusals import parsed
from automata.records import read_record, write_record
from automata.runs import pack, place_of, unpack
from automata.status import inventory

ROOT = Path(__file__).parents[2]
RUNS = Path("results/runs")
PANEL = "satimage/tpe-asha-d1688842"
RECORD = RUNS / PANEL / "full-1/seed-0/record.json"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The published records of the default experiment."""
    folder = tmp_path_factory.mktemp("published")
    unpack([ROOT / "results/reference/default/records.tar.xz"], folder)
    return folder


@pytest.fixture
def here(published, tmp_path, monkeypatch):
    """A working directory with a few of these records."""
    monkeypatch.chdir(tmp_path)
    for name in ("full-1", "gradmatch-0.1"):
        run = f"{PANEL}/{name}"
        shutil.copytree(published / run, RUNS / run)
    return tmp_path


def test_unpacking_opens_nothing_that_a_record_names(here):
    """A record of own data that names no content lies by the checksum of its prepared file."""
    record = read_record(RECORD)
    own = parsed(Preparation, '{"own": {"kind": "tabular", "path": "no.csv", "target": "species"}}')
    settings = record.job.settings.model_copy(update={"data": own})
    job = record.job.model_copy(update={"settings": settings})
    write_record(record.model_copy(update={"job": job}), RECORD)
    pack([RECORD], Path("records.tar.xz"))
    COMMANDS["unpack"]([Path("records.tar.xz")], output=Path("again"))
    (again,) = Path("again").rglob("record.json")
    files = {"prepared": record.data.sha256}
    assert again.parent == Path("again", place_of(job.model_copy(update={"files": files})).stem)


def test_a_list_says_how_many_of_which_protocol(here):
    heading, row = inventory().splitlines()
    assert heading.split() == ["panel", "runs", "MB", "protocol"]
    assert row.startswith("satimage/tpe-asha-d1688842  2 ")
    assert row.endswith("mlp, 27 configurations, 40 epochs, selection every 5")
