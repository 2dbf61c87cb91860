"""GLUE's SST-2: two tables of an archive, one of which is divided."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from automata.datasets.official import glue
from automata.datasets.raw import RawSplits, Tokens

Obtain = Callable[[dict[str, bytes]], dict[str, Path]]
HEADER = "sentence\tlabel\n"
TRAIN = HEADER + "".join(f"sentence number{n} Is fine \t{n % 2}\n" for n in range(60))
DEVELOPMENT = HEADER + "it 's a charming journey . \t1\nunflinchingly bleak \t0\n"
TEST = "index\tsentence\n0\tuneasy mishmash of styles .\n"


def archive(**tables: str | bytes) -> bytes:
    """Return SST-2.zip as GLUE publishes it, with these tables."""
    content = {"train": TRAIN, "dev": DEVELOPMENT, "test": TEST, **tables}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        target.mkdir("SST-2")
        for name, table in content.items():
            target.writestr(f"SST-2/{name}.tsv", table)
    return packed.getvalue()


@pytest.fixture
def raw(obtain: Obtain) -> RawSplits[Tokens]:
    return glue("glue-sst2", obtain({"SST-2.zip": archive()}))


def test_a_twentieth_of_the_training_rows_is_for_the_test(raw: RawSplits[Tokens]) -> None:
    assert (len(raw.train), len(raw.test)) == (57, 3)


def test_every_training_row_is_in_train_or_test(raw: RawSplits[Tokens]) -> None:
    words = {words[1] for words in raw.train.inputs + raw.test.inputs}
    assert words == {f"number{n}" for n in range(60)}


def test_development_set_is_for_validation(raw: RawSplits[Tokens]) -> None:
    expected = [["it", "'s", "a", "charming", "journey", "."], ["unflinchingly", "bleak"]]
    assert (raw.validation.inputs, raw.validation.labels.tolist()) == (expected, [1, 0])


def test_labels_stay_with_their_sentences(raw: RawSplits[Tokens]) -> None:
    expected = [int(words[1].removeprefix("number")) % 2 for words in raw.train.inputs]
    assert raw.train.labels.tolist() == expected


def test_words_are_lower_case(raw: RawSplits[Tokens]) -> None:
    assert raw.train.inputs[0][2:] == ["is", "fine"]


def test_published_test_table_is_not_read(obtain: Obtain) -> None:
    paths = obtain({"SST-2.zip": archive(test=b"\xff")})
    assert len(glue("glue-sst2", paths).test) == 3


def test_classes_are_named(raw: RawSplits[Tokens]) -> None:
    assert raw.classes == ["negative", "positive"]


def test_full_size_gives_the_counts_of_the_paper(obtain: Obtain) -> None:
    full = HEADER + "a word \t1\n" * 67349
    raw = glue("glue-sst2", obtain({"SST-2.zip": archive(train=full)}))
    assert (len(raw.train), len(raw.test)) == (63982, 3367)


def test_line_ends_of_windows_leave_no_trace(obtain: Obtain) -> None:
    windows = DEVELOPMENT.replace("\n", "\r\n")
    raw = glue("glue-sst2", obtain({"SST-2.zip": archive(dev=windows)}))
    np.testing.assert_array_equal(raw.validation.labels, [1, 0])
