"""Paths name all that a run reads and nothing else; archives hold records and nothing else."""

import hashlib
import io
import lzma
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from automata.config.files import read_experiments
from automata.config.job import Run
from automata.errors import UserError
from automata.records.archive import MOST_BYTES, pack, unpack
from automata.records.paths import job_of, place_of

ROOT = Path(__file__).parents[3]
RUN = {"dataset": "dna", "search": "tpe", "scheduler": "asha", "selector": "gradmatch"}
RUN |= {"fraction": 0.1, "seed": 0}
FULL = {"selector": "full", "fraction": 1}
INITIAL = {"learning_rate": 0.002, "optimizer": "adam", "schedule": "none"}
INITIAL |= {"hidden1": 150, "hidden2": 150, "batch_size": 16}


def place(run=None, files=None, **changes):
    """Return the place of a run of the changed smoke configuration."""
    shipped = [ROOT / "config/config.yaml", ROOT / "config/smoke.yaml"]
    (part,) = read_experiments(shipped, changes)
    return place_of(job_of(part, Run(**{**RUN, **(run or {})}), files or {}))


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ({"protocol": {"tabular": {"epochs": 4}}}, True),
        ({"protocol": {"tabular": {"class_weights": "balanced"}}}, True),
        ({"search": {"tpe": {"startup_configurations": 7}}}, True),
        ({"search": {"initial": [INITIAL]}}, True),
        ({"scheduler": {"asha": {"warm_start": 0.2}}}, True),
        ({"compute": {"threads_per_trial": 2}}, True),
        ({"metering": {"exclusive": True}}, True),
        ({"experiment": "other", "seeds": [0, 1], "carbon": {"pue": 1.5}}, False),
        ({"protocol": {"tabular": {"momentum": 0.0, "class_weights": "none"}}}, False),
        ({"scheduler": {"hyperband": {"reduction_factor": 2}}}, False),
        ({"data": {"cache": "elsewhere", "vectors": {"dimension": 50}}}, False),
        ({"data": {"sst2_neutral": "scores"}}, False),
    ],
    ids=str,
)
def test_only_a_setting_that_a_run_reads_changes_its_protocol(change, read):
    changed = place(**change)
    assert (changed.protocol != place().protocol) == read
    assert changed._replace(protocol="") == place()._replace(protocol="")


@pytest.mark.parametrize("data", [{"vectors": {"dimension": 50}}, {"sst2_neutral": "scores"}])
def test_how_texts_are_prepared_changes_their_protocol(data):
    texts = {"dataset": "sst2"}
    assert place(texts, data=data).protocol != place(texts).protocol


def test_settings_of_a_selector_change_the_variant_alone():
    changed = {"selector": {"gradmatch": {"l2": 0.5}}}
    variant = hashlib.sha256(b'{"l2": 0.5, "tolerance": 0.0}').hexdigest()[:8]
    assert place(**changed) == place()._replace(variant=f"-{variant}")
    assert place(FULL, **changed) == place(FULL)


def test_content_of_own_files_changes_the_protocol():
    one, two = place(files={"own.path": "a"}), place(files={"own.path": "b"})
    assert len({place().protocol, one.protocol, two.protocol}) == 3


def test_own_selector_is_compared_with_the_same_full_run(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/examples")
    own = {"own_selectors": {"mine": "own_methods:HighestLoss"}}
    places = [
        place({"selector": "mine"}, files, **own) for files in ({}, {"own_selectors.mine": "0"})
    ]
    assert {it.protocol for it in places} == {place(FULL).protocol}
    assert len({it.variant for it in places}) == 2
    other = {"own_schedulers": {"mine": "own_methods:MedianStopping"}}
    assert place({"scheduler": "mine"}, **other).protocol != place(FULL).protocol


NAMES = [f"dna/tpe-asha/{run}/record.json" for run in ("full-1/seed-0", "full-1/seed-1", "rs2/s")]


@pytest.fixture
def records(tmp_path):
    """Files at the paths of records."""
    paths = [tmp_path / "results/runs" / name for name in NAMES]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(f"the record of {path.parent}")
    return paths


def entry(name, kind=tarfile.REGTYPE, size=0):
    """Return an entry of an archive."""
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, size, "/etc/passwd"
    return made


def test_archive_gives_the_records_back_and_has_the_same_bytes_each_time(records, tmp_path):
    one, two, again = tmp_path / "one.tar.xz", tmp_path / "two.tar.xz", tmp_path / "again"
    pack(records, one)
    os.utime(records[0], (0, 0))
    records[1].chmod(0o600)
    pack(reversed(records), two)
    unpack([one], again, as_named=True)
    assert one.read_bytes() == two.read_bytes()
    assert {path.relative_to(again).as_posix() for path in again.rglob("*.json")} == set(NAMES)
    for name, path in zip(NAMES, records, strict=True):
        assert (again / name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "made",
    [
        entry("../tpe-asha/full-1/seed-0/record.json"),
        entry("/tpe-asha/full-1/seed-0/record.json"),
        entry("dna/tpe-asha/full-1/seed-0/other.json"),
        entry(NAMES[0], tarfile.SYMTYPE),
        entry(NAMES[0], tarfile.LNKTYPE),
        entry(NAMES[0], tarfile.GNUTYPE_SPARSE),
        entry("dna/tpe-asha/full-1/seed-0", tarfile.DIRTYPE),
        entry("dna/tpe-asha/full-1/seed\n\x1b]0;owned\a/record.json"),
    ],
    ids=["above", "absolute", "other name", "link", "hard link", "sparse", "folder", "unprintable"],
)
def test_entry_that_is_not_a_record_is_refused(made, tmp_path):
    archive = tmp_path / "a.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        made.size = 1 if made.isreg() else 0
        tar.addfile(made, io.BytesIO(b"x"))
    with pytest.raises(UserError, match=f"^{archive}: "):
        unpack([archive], tmp_path / "there" / "deep", as_named=True)
    archive.write_text("text")
    with pytest.raises(UserError, match=f"^{archive}: not an archive of records: "):
        unpack([archive], tmp_path / "there")
    assert not list(tmp_path.rglob("record.json"))


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (tarfile.REGTYPE, MOST_BYTES + 1),
        (tarfile.XHDTYPE, MOST_BYTES + 1),
        (tarfile.GNUTYPE_LONGNAME, -512),
    ],
)
def test_large_entry_is_refused_before_it_is_read(kind, size, tmp_path):
    archive = tmp_path / "a.tar.xz"
    with lzma.open(archive, "wb", preset=0) as file:
        file.write(entry(NAMES[0], kind, size).tobuf(tarfile.GNU_FORMAT))
        for _ in range(MOST_BYTES // 2**20 + 2):
            file.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(UserError, match=f"^{archive}: .*64 MiB") as caught:
        unpack([archive], tmp_path / "again", as_named=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24
    assert "\n" not in str(caught.value)


def test_run_that_archives_hold_twice_is_refused(records, tmp_path):
    one, two = tmp_path / "one.tar.xz", tmp_path / "two.tar.xz"
    pack(records, one)
    pack(records[:1], two)
    with pytest.raises(UserError, match=rf"^{two}: .*record\.json is also in {one}$"):
        unpack([one, two], tmp_path / "again", as_named=True)
    with pytest.raises(UserError, match=rf"^{one}: .*record\.json is twice in it$"):
        unpack([one, one], tmp_path / "again", as_named=True)
    assert not (tmp_path / "again").exists()


def test_different_record_of_a_run_is_kept_and_nothing_is_unpacked(records, tmp_path):
    archive, folder = tmp_path / "records.tar.xz", tmp_path / "again"
    pack(records, archive)
    for _ in range(2):  # equal records are no conflict
        unpack([archive], folder, as_named=True)
    first, *_, last = sorted(folder.rglob("record.json"))
    first.unlink()
    last.write_text("another record")
    with pytest.raises(UserError, match=f"^{archive}: {last} exists already"):
        unpack([archive], folder, as_named=True)
    assert (first.exists(), last.read_text()) == (False, "another record")
