"""A record on disk: what is written is read, and nothing else is."""

import hashlib
import json
import math

import pytest

from automata.errors import UserError
from automata.records import Record, read_record, sealed, write_record


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a" / "record.json"


def test_a_record_of_trials_that_diverged_is_read_as_written_and_its_digest_checked_by_others(
    path, make_record
):
    record = make_record(tuning={"joules": None})
    record.tuning.trials[-1].progress.training_loss = [0.1 + 0.2, math.nan, math.inf]
    write_record(record, path)
    assert repr(read_record(path)) == repr(record)
    content = json.loads(path.read_text())
    text, mark, _ = path.read_text().partition(',\n "digest"')
    assert mark
    assert content.pop("digest") == hashlib.sha256(text.encode()).hexdigest()
    assert repr(Record.model_validate(content)) == repr(record)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"accuracy": 0.72', '"accuracy": 0.7200000000000001'),
        ('"digest": ', '"digested": '),
        ('"seed": 0', '"seed":  0'),
        ("}\n", "}\n\n"),
    ],
)
def test_an_edited_record_is_refused_by_name(path, make_record, old, new):
    write_record(make_record(), path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    message = "its content does not match its digest: cut off, edited or damaged; delete it to "
    with pytest.raises(UserError, match=f"^{path}: {message}repeat the run$"):
        read_record(path)


def test_an_unknown_field_is_refused_by_name(path, make_record):
    write_record(make_record(), path)
    content = json.loads(path.read_text())
    del content["digest"]
    content["tuning"]["trials"][0]["progress"]["colour"] = "red"
    path.write_text(sealed(content))
    with pytest.raises(UserError, match=f"^{path}: not a record: .*colour: Extra inputs"):
        read_record(path)
