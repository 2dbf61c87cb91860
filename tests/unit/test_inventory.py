"""Runs on disk: listed with their use, removed on request alone, adopted from before."""

import io
import shutil
import sys
from pathlib import Path

import pytest

from automata.cli import COMMANDS
from automata.config import parse_preparation
from automata.config.inputs import content_of
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.errors import UserError
from automata.files import sha256
from automata.inventory import adopt, listing, panels, remove
from automata.publication import pack, unpack
from automata.records import read_record, write_record
from automata.runs import place_of, recorded_place

ROOT = Path(__file__).parents[2]
RUNS = Path("results/runs")
OLD = RUNS / "satimage/tpe-asha/full-1/seed-0/record.json"
"""A published record, where versions before fingerprints have it."""
NEW = RUNS / "satimage/tpe-asha-d1688842/full-1/seed-0/record.json"


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The published records of the default experiment, by the names that they were made under."""
    folder = tmp_path_factory.mktemp("published")
    unpack([ROOT / "results/reference/default/records.tar.xz"], folder)
    return folder


@pytest.fixture
def here(published, tmp_path, monkeypatch):
    """A working directory with a few of these records."""
    monkeypatch.chdir(tmp_path)
    for name in ("full-1", "gradmatch-0.1"):
        run = f"satimage/tpe-asha/{name}"
        shutil.copytree(published / run, RUNS / run)
    return tmp_path


def test_records_of_before_are_moved_to_where_runs_are_looked_for(here):
    before = OLD.read_bytes()
    moved, _ = adopt(RUNS, Path("downloads"))
    assert NEW in moved
    assert len(moved) == 2
    assert NEW.read_bytes() == before
    assert not (RUNS / "satimage/tpe-asha").exists()


def test_adopting_twice_moves_nothing_and_replaces_nothing(here):
    adopt(RUNS, Path("downloads"))
    OLD.parent.mkdir(parents=True)
    shutil.copy(RUNS / "satimage/tpe-asha-d1688842/gradmatch-0.1/seed-0/record.json", OLD)
    there = NEW.read_bytes()
    record = read_record(OLD)
    OLD.unlink()
    write_record(record.model_copy(update={"job": read_record(NEW).job}), OLD)
    assert adopt(RUNS, Path("downloads")) == ([], [OLD])
    assert NEW.read_bytes() == there
    assert OLD.exists()


def test_an_archive_of_before_is_unpacked_to_where_runs_are_looked_for(here):
    unpack([ROOT / "results/reference/default/records.tar.xz"], Path("again"), recorded_place)
    again = {path.relative_to("again") for path in Path("again").rglob("record.json")}
    assert NEW.relative_to(RUNS) in again
    assert len(again) == 34


def own(here, monkeypatch):
    """Return a record of a user's own table as an earlier version has it."""
    rows = [f"{i},{i % 3}" for i in range(60)]
    Path("flowers.csv").write_text("\n".join(["size,species", *rows]))
    text = '{"own": {"kind": "tabular", "path": "flowers.csv", "target": "species"}}'
    preparation = parse_preparation(text)
    write_dataset(prepare("flowers", preparation, Path("downloads")), Path("prepared.safetensors"))
    record = read_record(OLD)
    run = record.job.run.model_copy(update={"dataset": "flowers"})
    settings = record.job.settings.model_copy(update={"data": preparation})
    data = record.data.model_copy(update={"sha256": sha256(Path("prepared.safetensors"))})
    job = record.job.model_copy(update={"run": run, "settings": settings})
    path = RUNS / "flowers/tpe-asha/full-1/seed-0/record.json"
    write_record(record.model_copy(update={"job": job, "data": data}), path)
    return job


def test_a_record_of_own_data_goes_to_the_runs_on_the_same_content(here, monkeypatch):
    job = own(here, monkeypatch)
    files = {"own.path": content_of(Path("flowers.csv"))}
    expected = place_of(job.model_copy(update={"files": files})).stem
    assert RUNS / expected / "record.json" in adopt(RUNS, Path("downloads"))[0]


def test_unpacking_opens_nothing_that_a_record_names(here, monkeypatch):
    """The file is there and is the very same, which only who reads it can know."""
    job = own(here, monkeypatch)
    record = RUNS / "flowers/tpe-asha/full-1/seed-0/record.json"
    pack([record], Path("records.tar.xz"))
    files = {"prepared": read_record(record).data.sha256}
    opened = []
    monkeypatch.setattr(
        "automata.datasets.prepare.prepare",
        lambda *given: opened.append(given) or prepare(*given),
    )
    COMMANDS["unpack"]([Path("records.tar.xz")], output=Path("again"))
    (again,) = Path("again").rglob("record.json")
    assert again.parent == Path("again", place_of(job.model_copy(update={"files": files})).stem)
    assert not opened


def test_a_record_of_other_content_lies_apart(here, monkeypatch):
    job = own(here, monkeypatch)
    with Path("flowers.csv").open("a") as file:
        file.write("\n5,1\n")
    files = {"own.path": content_of(Path("flowers.csv"))}
    elsewhere = place_of(job.model_copy(update={"files": files})).panel
    (moved,) = [path for path in adopt(RUNS, Path("downloads"))[0] if "flowers" in path.parts]
    assert elsewhere not in str(moved)


def test_a_list_says_how_many_of_which_protocol_and_for_whom(here):
    adopt(RUNS, Path("downloads"))
    tables = Path("results/mine/tables")
    tables.mkdir(parents=True)
    (tables / "runs.csv").write_text(f"dataset,record\nsatimage,{NEW}\n")
    heading, row = listing(panels(RUNS)).splitlines()
    assert heading.split() == ["panel", "runs", "MB", "protocol", "used", "by"]
    assert row.startswith("satimage/tpe-asha-d1688842  2 ")
    assert "mlp, 27 configurations, 40 epochs, selection every 5" in row
    assert row.endswith("mine")


def test_a_list_says_what_to_do_with_records_of_before(here):
    assert "2 records are of an earlier version" in listing(panels(RUNS))


def test_a_folder_without_records_is_one_line(here):
    with pytest.raises(UserError, match=r"^results/nothing: no record of results/runs lies there$"):
        panels(RUNS, [Path("results/nothing")])


def test_removal_takes_what_is_named_and_says_so(here, capsys):
    adopt(RUNS, Path("downloads"))
    remove(RUNS, [NEW.parents[1]], confirmed=True)
    assert not NEW.exists()
    assert len(list(RUNS.rglob("record.json"))) == 1
    assert "satimage/tpe-asha-d1688842  1 " in capsys.readouterr().err


@pytest.mark.parametrize("answer", ["", "n\n", "no\n"])
def test_nothing_is_removed_without_a_yes(here, monkeypatch, answer):
    adopt(RUNS, Path("downloads"))
    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    with pytest.raises(UserError, match=r"^nothing was deleted$"):
        remove(RUNS, [NEW.parents[3]], confirmed=False)
    assert NEW.exists()


def test_nothing_is_removed_where_nobody_can_be_asked(here, monkeypatch):
    adopt(RUNS, Path("downloads"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(UserError, match=r"--yes deletes$"):
        remove(RUNS, [RUNS], confirmed=False)
    assert NEW.exists()


def test_nothing_but_listed_records_is_removed(here, capsys):
    Path("results/precious.txt").write_text("mine")
    (OLD.parent / "notes.txt").write_text("mine")
    remove(RUNS, [RUNS], confirmed=True)
    assert "satimage/tpe-asha  2 " in capsys.readouterr().err
    left = {path.name for path in Path("results").rglob("*") if path.is_file()}
    assert left == {"precious.txt", "notes.txt"}


def test_a_folder_elsewhere_is_refused(here):
    with pytest.raises(UserError, match=r"^/usr: does not lie in results/runs$"):
        remove(RUNS, [Path("/usr")], confirmed=True)


def test_runs_behind_a_link_are_listed_by_any_spelling(here):
    RUNS.rename("elsewhere")
    RUNS.symlink_to(here / "elsewhere")
    tables = Path("results/mine/tables")
    tables.mkdir(parents=True)
    (tables / "runs.csv").write_text(f"dataset,record\nsatimage,{OLD}\n")
    for runs in (RUNS, here / RUNS):
        assert listing(panels(runs)).splitlines()[1].endswith("mine")


def test_nothing_is_removed_while_snakemake_works_here(here, monkeypatch):
    monkeypatch.setattr("automata.inventory.other_call", lambda folder: "another call")
    with pytest.raises(UserError, match=r"^nothing was deleted: another call$"):
        remove(RUNS, [RUNS], confirmed=True)
    assert OLD.exists()


def test_a_removal_names_what_it_removes(here):
    with pytest.raises(UserError, match=r"^--remove: name folders below results/runs"):
        remove(RUNS, [], confirmed=True)
