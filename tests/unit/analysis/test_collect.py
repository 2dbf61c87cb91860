"""From record files to tables: nothing is lost, doubled or averaged in by mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automata.analysis.collect import collect, record_files
from automata.analysis.runs import protocol_hash
from automata.config.sections import Comparison
from automata.errors import UserError
from automata.records import Record, write_record

MakeRecord = Callable[..., Record]


@pytest.fixture
def written(tmp_path: Path, make_record: MakeRecord) -> Callable[..., Path]:
    """Give a function that writes a record under a name."""

    def write(name: str, **changes: Any) -> Path:
        path = tmp_path / f"{name}.json"
        write_record(make_record(**changes), path)
        return path

    return write


def test_collect_makes_one_sorted_row_per_record(written: Callable[..., Path]) -> None:
    paths = [
        written("a", seed=1),
        written("b", selector="full", fraction=1.0),
        written("c", selector="craig"),
        written("d", seed=0),
    ]

    table = collect(paths, Comparison())["runs.csv"]

    assert list(zip(table["selector"], table["seed"], table["record"], strict=True)) == [
        ("craig", 0, str(paths[2])),
        ("full", 0, str(paths[1])),
        ("gradmatch", 0, str(paths[3])),
        ("gradmatch", 1, str(paths[0])),
    ]


def test_energy_that_was_not_measured_is_missing_from_the_table(
    written: Callable[..., Path],
) -> None:
    paths = [written("a", seed=0), written("b", seed=1, tuning_joules=None)]
    table = collect(paths, Comparison())["runs.csv"]

    assert table["energy_joules"].tolist()[0] == 150.0
    assert pd.isna(table["energy_joules"]).tolist() == [False, True]


def test_two_records_of_one_run_are_refused_by_name(written: Callable[..., Path]) -> None:
    paths = [written("one", seed=1), written("other", seed=2), written("again", seed=1)]

    with pytest.raises(UserError) as refusal:
        collect(paths, Comparison())

    assert str(refusal.value) == f"records of the same run: {paths[0]}, {paths[2]}"


def test_file_that_is_no_record_is_refused_by_name(
    tmp_path: Path, written: Callable[..., Path]
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    with pytest.raises(UserError, match=str(broken)):
        collect([written("a"), broken], Comparison())


def test_settings_behind_each_hash_are_kept(
    written: Callable[..., Path], make_record: MakeRecord
) -> None:
    collected = collect(
        [written("a"), written("b", seed=1), written("c", concurrent_trials=2, seed=2)],
        Comparison(),
    )

    assert list(collected["protocols.json"]) == sorted(set(collected["runs.csv"]["protocol_hash"]))
    kept = collected["protocols.json"][protocol_hash(make_record(concurrent_trials=2))]
    assert kept["protocol"]["epochs"] == 8
    assert kept["compute"]["concurrent_trials"] == 2


def test_evaluations_of_all_runs_are_in_one_table(written: Callable[..., Path]) -> None:
    collected = collect([written("a"), written("b", seed=1)], Comparison())

    assert collected["trials.parquet"]["seed"].tolist() == [0, 0, 1, 1]


def test_folders_stand_for_the_records_in_them(tmp_path: Path) -> None:
    paths = [tmp_path / "runs" / name / "record.json" for name in ("b", "a/c")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.touch()
    (tmp_path / "runs/a/other.json").touch()
    other = tmp_path / "mine.json"
    other.touch()

    assert record_files([tmp_path / "runs", other]) == [paths[1], paths[0], other]


def test_folder_without_records_is_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(UserError, match=f"^{path}: no file, and no folder with"):
            record_files([path])


def test_measurement_versions_are_in_the_table_and_1_where_a_record_has_none(
    written: Callable[..., Path],
) -> None:
    newer = {"training": 2, "metering": 1, "gradmatch": 3}
    paths = [written("a"), written("b", seed=1, measurement=newer)]
    table = collect(paths, Comparison())["runs.csv"]

    versions = [f"{part}_version" for part in ("training", "metering", "selector")]
    assert table[versions].to_numpy().tolist() == [[1, 1, 1], [2, 1, 3]]


@pytest.mark.parametrize(
    ("newer", "selector", "reason"),
    [
        ({"training": 2}, "full", "training 1, not 2"),
        ({"metering": 4}, "rs2", "metering 1, not 4"),
        ({"gradmatch": 2}, "gradmatch", "selector 1, not 2"),
        ({"gradmatch": 2}, "rs2", None),
    ],
)
def test_runs_of_an_older_measurement_than_others_of_their_panel_are_set_aside(
    written: Callable[..., Path], newer: dict[str, int], selector: str, reason: str | None
) -> None:
    """Versions of a selector concern its own runs alone; other panels are not concerned."""
    fraction = 1.0 if selector == "full" else 0.1
    paths = [
        written("new", measurement=newer),
        written("old", selector=selector, fraction=fraction, seed=1),
        written("elsewhere", dataset="dna"),
    ]
    aside = collect(paths, Comparison())["runs.csv"].set_index("record")["set_aside"]

    assert aside[str(paths[0])] == aside[str(paths[2])] == ""
    assert aside[str(paths[1])] == (f"has another measurement version: {reason}" if reason else "")


def test_origins_have_a_row_for_each_run(written: Callable[..., Path]) -> None:
    paths = [written("a", seed=1), written("b", seed=0)]

    table = collect(paths, Comparison())["provenance.csv"]

    assert table["record"].tolist() == [str(paths[1]), str(paths[0])]


def test_tables_are_the_same_however_many_processes_read(
    written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("automata.analysis.collect.CHUNK", 2)
    paths = [written(str(seed), seed=seed) for seed in range(5)]

    one, three = collect(paths, Comparison()), collect(paths, Comparison(), processes=3)

    pd.testing.assert_frame_equal(one["runs.csv"], three["runs.csv"])
    pd.testing.assert_frame_equal(one["trials.parquet"], three["trials.parquet"])
    assert one["protocols.json"] == three["protocols.json"]
    assert len(one["runs.csv"]) == 5
    assert list(dict.fromkeys(one["trials.parquet"]["record"])) == [str(path) for path in paths]


def test_file_that_another_process_cannot_read_is_named(
    written: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("automata.analysis.collect.CHUNK", 1)
    other = tmp_path / "other.json"
    other.write_text("{}")

    with pytest.raises(UserError, match=f"^{other}: its content does not match its digest"):
        collect([written("a"), other], Comparison(), processes=2)
