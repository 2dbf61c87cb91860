"""The table of provenance, and what a reader sees of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from automata.analysis.collect import presented, provenance_row
from automata.analysis.tables import read_texts, write
from automata.records import Record

MakeRecord = Callable[..., Record]


def _table(path: Path, records: list[Record]) -> pd.DataFrame:
    rows = [provenance_row(record, Path(f"{number}.json")) for number, record in enumerate(records)]
    write(pd.DataFrame(rows), path / "provenance.csv")
    return read_texts(path / "provenance.csv")


def test_row_says_what_made_the_record(make_record: MakeRecord) -> None:
    row = provenance_row(make_record(seed=3), Path("r.json"))

    assert row["record"] == "r.json"
    assert row["seed"] == 3
    assert row["started"] == "2023-11-14T22:13:20+00:00"
    assert (row["git_commit"], row["git_dirty"]) == ("c0ffee", False)
    assert row["measurement"] == "training 1, metering 1, selector 1"
    assert row["lock_sha256"] == "1" * 64
    assert row["data"] == "satimage " + "0" * 64
    assert row["blas"] == "internal_api openblas, version 0.3, num_threads 1"
    assert row["environment"] == "OMP_NUM_THREADS 1"


def test_record_made_outside_of_a_checkout_has_no_commit(make_record: MakeRecord) -> None:
    record = make_record()
    record.provenance["git"] = None

    row = provenance_row(record, Path("r.json"))

    assert (row["git_commit"], row["git_dirty"]) == (None, None)


def test_each_value_is_counted_and_many_are_one_row(
    tmp_path: Path, make_record: MakeRecord
) -> None:
    records = [make_record(seed=seed) for seed in range(9)]
    records[0].provenance["host"] = "elsewhere"
    records[0].provenance["git"] = None

    text = presented(_table(tmp_path, records))

    assert "| host | elsewhere | 1 |\n| host | here | 8 |\n" in text
    assert "| git_commit |  | 1 |\n| git_commit | c0ffee | 8 |\n" in text
    assert "| seed | 9 values | 9 |\n" in text
    assert text.endswith(
        "\n\n9 runs, begun between 2023-11-14T22:13:20+00:00 and 2023-11-14T22:13:20+00:00.\n"
    )
