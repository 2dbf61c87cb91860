"""A record on disk: what is written is read, and nothing else is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from automata.errors import UserError
from automata.records import Record, read_record, sealed, write_record

MakeRecord = Callable[..., Record]


@pytest.fixture
def change(tmp_path: Path, make_record: MakeRecord) -> Callable[..., Path]:
    """Give a function that writes a record whose JSON a function has changed, digest and all."""

    def write(edit: Callable[[dict[str, Any]], Any]) -> Path:
        path = tmp_path / "changed.json"
        write_record(make_record(), path)
        content = json.loads(path.read_text())
        del content["digest"]
        edit(content)
        path.write_text(sealed(content))
        return path

    return write


@pytest.mark.parametrize(
    "changes",
    [{}, {"selector": "full", "fraction": 1.0}, {"tuning_joules": None}],
    ids=["with a final training", "without one", "without energy"],
)
def test_what_was_written_is_read(
    tmp_path: Path, make_record: MakeRecord, changes: dict[str, Any]
) -> None:
    record = make_record(**changes)

    write_record(record, tmp_path / "a" / "record.json")

    assert read_record(tmp_path / "a" / "record.json") == record


def test_best_is_the_trial_at_its_index(make_record: MakeRecord) -> None:
    record = make_record()
    record.tuning.best = 1

    assert record.best is record.tuning.trials[1]


@pytest.mark.parametrize("text", ["", "[]", "null", '"text"', "{}"])
def test_other_json_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(text)

    with pytest.raises(UserError, match=f"^{path}: "):
        read_record(path)


@pytest.mark.parametrize(
    "edit",
    [
        lambda content: content.update(colour="red"),
        lambda content: content["tuning"].update(colour="red"),
        lambda content: content["tuning"]["segments"][0].update(colour="red"),
        lambda content: content["tuning"]["trials"][0]["progress"].update(colour="red"),
        lambda content: content["job"]["settings"].update(colour="red"),
    ],
    ids=["record", "tuning", "measurement", "progress", "settings"],
)
def test_unknown_field_is_refused_by_name(
    change: Callable[..., Path], edit: Callable[[dict[str, Any]], Any]
) -> None:
    path = change(edit)

    with pytest.raises(UserError, match=f"^{path}: not a record: .*colour: Extra inputs"):
        read_record(path)


def test_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "no such record.json"

    with pytest.raises(UserError, match=f"^{path}: not a record: "):
        read_record(path)


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_diverged_trial_survives_the_file(
    tmp_path: Path, make_record: MakeRecord, loss: float
) -> None:
    record = make_record()
    record.tuning.trials[-1].progress.training_loss[-1] = loss

    write_record(record, tmp_path / "record.json")

    read = read_record(tmp_path / "record.json").tuning.trials[-1].progress.training_loss[-1]
    assert str(read) == str(loss)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"accuracy": 0.72', '"accuracy": 0.73'),
        ('"accuracy": 0.72', '"accuracy": 0.7200000000000001'),
        ('"sha256": "0', '"sha256": "1'),
        ('"seed": 0', '"seed": 1'),
        ('"digest": "', '"digest": "0'),
        ('"digest": ', '"digested": '),
        ('"notes": [', '"notes": ["b", '),
        ('"seed": 0', '"seed":  0'),
        ("}\n", "}\n\n"),
    ],
)
def test_edited_record_is_refused_by_name(
    tmp_path: Path, make_record: MakeRecord, old: str, new: str
) -> None:
    path = tmp_path / "record.json"
    write_record(make_record(), path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))

    with pytest.raises(UserError) as refusal:
        read_record(path)

    assert str(refusal.value) == (
        f"{path}: its content does not match its digest: cut off, edited or damaged; "
        "delete it to repeat the run"
    )


def test_record_is_json_for_others(tmp_path: Path, make_record: MakeRecord) -> None:
    path = tmp_path / "record.json"
    write_record(make_record(), path)
    content = json.loads(path.read_text())

    text, mark, _ = path.read_text().partition(',\n "digest"')
    assert mark
    assert content["digest"] == hashlib.sha256(text.encode()).hexdigest()
    del content["digest"]
    assert Record.model_validate(content) == make_record()
