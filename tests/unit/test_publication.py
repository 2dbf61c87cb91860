"""Records in one file: complete, the same bytes for the same records, and nothing else in it."""

import io
import lzma
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from automata import runs
from automata.cli.commands import publish
from automata.errors import UserError
from automata.runs import pack, unpack

RUNS = ["dna/tpe-asha/full-1/seed-0", "dna/tpe-asha/full-1/seed-1", "dna/tpe-asha/rs2-0.1/seed-0"]


@pytest.fixture
def records(tmp_path: Path) -> list[Path]:
    """Some files where records are."""
    paths = [tmp_path / "results/runs" / run / "record.json" for run in RUNS]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(f"the record of {path.parent}")
    return paths


def archive_of(path: Path, *entries: tarfile.TarInfo) -> Path:
    """Write an archive with these entries, of one byte each."""
    with tarfile.open(path, "w:xz") as tar:
        for entry in entries:
            entry.size = 1 if entry.isreg() else 0
            tar.addfile(entry, io.BytesIO(b"x"))
    return path


def entry(name: str, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    """Return an entry of an archive."""
    made = tarfile.TarInfo(name)
    made.type = kind
    made.linkname = "/etc/passwd"
    return made


def test_what_is_packed_is_unpacked(records: list[Path], tmp_path: Path) -> None:
    pack(records, tmp_path / "records.tar.xz")
    unpack([tmp_path / "records.tar.xz"], tmp_path / "again", as_named=True)

    again = {path.relative_to(tmp_path / "again") for path in tmp_path.glob("again/**/*.json")}
    assert again == {Path(run, "record.json") for run in RUNS}
    for run, path in zip(RUNS, records, strict=True):
        assert (tmp_path / "again" / run / "record.json").read_bytes() == path.read_bytes()


def test_the_same_records_make_the_same_bytes(records: list[Path], tmp_path: Path) -> None:
    pack(records, tmp_path / "one.tar.xz")
    os.utime(records[0], (0, 0))
    records[1].chmod(0o600)
    pack(reversed(records), tmp_path / "two.tar.xz")

    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()


@pytest.mark.parametrize(
    "made",
    [
        entry("../tpe-asha/full-1/seed-0/record.json"),
        entry("/dna/tpe-asha/full-1/seed-0/record.json"),
        entry("/tpe-asha/full-1/seed-0/record.json"),
        entry("dna/tpe-asha/full-1/seed-0/other.json"),
        entry("record.json"),
        entry("dna/tpe-asha/full-1/seed-0/record.json", tarfile.SYMTYPE),
        entry("dna/tpe-asha/full-1/seed-0/record.json", tarfile.LNKTYPE),
        entry("dna/tpe-asha/full-1/seed-0/record.json", tarfile.FIFOTYPE),
        entry("dna/tpe-asha/full-1/seed-0/record.json", tarfile.GNUTYPE_SPARSE),
        entry("dna/tpe-asha/full-1/seed-0", tarfile.DIRTYPE),
    ],
    ids=[
        "upwards",
        "absolute",
        "absolute of five parts",
        "other file",
        "no run",
        "link",
        "hard link",
        "pipe",
        "holes",
        "folder",
    ],
)
def test_anything_but_records_is_refused_by_name(made: tarfile.TarInfo, tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "a.tar.xz", made)

    with pytest.raises(UserError, match=f"^{archive}: "):
        unpack([archive], tmp_path / "there" / "deep", as_named=True)

    assert not list(tmp_path.rglob("record.json"))


LARGE = runs.MOST_BYTES + 1


def large(name: str, kind: bytes, size: int) -> bytes:
    """Return the head of an entry that claims to have so many bytes."""
    made = entry(name, kind)
    made.size = size
    return made.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (tarfile.REGTYPE, LARGE),
        (tarfile.XHDTYPE, LARGE),
        (tarfile.GNUTYPE_LONGNAME, LARGE),
        (tarfile.GNUTYPE_LONGNAME, -512),
    ],
    ids=["record", "attributes", "name", "negative"],
)
def test_entry_too_large_is_refused_before_it_is_read(
    kind: bytes, size: int, tmp_path: Path
) -> None:
    """Also those that tarfile reads by itself, which say what the next is called."""
    archive = tmp_path / "a.tar.xz"
    with lzma.open(archive, "wb", preset=0) as file:
        file.write(large(f"{RUNS[0]}/record.json", kind, size))
        for _ in range(LARGE // 2**20 + 1):
            file.write(bytes(2**20))

    tracemalloc.start()
    with pytest.raises(UserError, match=f"^{archive}: .*64 MiB") as caught:
        unpack([archive], tmp_path / "again", as_named=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 2**24
    assert "\n" not in str(caught.value)


def test_run_in_two_archives_is_refused(records: list[Path], tmp_path: Path) -> None:
    one, two = tmp_path / "one.tar.xz", tmp_path / "two.tar.xz"
    pack(records, one)
    pack(records[:1], two)

    with pytest.raises(UserError, match=rf"^{two}: .*record\.json is also in {one}$"):
        unpack([one, two], tmp_path / "again", as_named=True)
    with pytest.raises(UserError, match=rf"^{one}: .*record\.json is twice in it$"):
        unpack([one, one], tmp_path / "again", as_named=True)

    assert not (tmp_path / "again").exists()


def test_records_that_are_there_stay(records: list[Path], tmp_path: Path) -> None:
    """Also those of a run that would come after others: nothing is half-unpacked."""
    archive, folder = tmp_path / "records.tar.xz", tmp_path / "again"
    pack(records, archive)
    unpack([archive], folder, as_named=True)
    unpack([archive], folder, as_named=True)  # the same records are no harm
    first, *_, last = sorted(folder.rglob("record.json"))
    first.unlink()
    last.write_text("of a run of mine")

    with pytest.raises(UserError, match=f"^{archive}: {last} exists already"):
        unpack([archive], folder, as_named=True)

    assert not first.exists()
    assert last.read_text() == "of a run of mine"


def test_no_archive_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"^{tmp_path / 'no.tar.xz'}: not an archive of records: "):
        unpack([tmp_path / "no.tar.xz"], tmp_path / "again", as_named=True)


def test_copies_keep_their_places(tmp_path: Path) -> None:
    source, target = tmp_path / "results/dna", tmp_path / "results/reference/dna"
    table, page = source / "tables/runs.csv", source / "index.html"
    table.parent.mkdir(parents=True)
    table.write_text("a table")
    page.write_text("a page")

    publish([table, page], source=source, target=target)

    assert (target / "tables/runs.csv").read_text() == "a table"
    assert (target / "index.html").read_text() == "a page"
