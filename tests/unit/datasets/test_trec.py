"""TREC: questions and coarse classes; the fine classes must stay out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata.datasets.official import trec
from automata.datasets.raw import RawSplits, Tokens

COARSE = ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]
TEST = "NUM:dist How far is it from Denver to Aspen ?\n"


def question(number: int) -> str:
    return f"{COARSE[number % 6]}:fine{number} Who Wrote number{number} ?\n"


def load(folder: Path, train: str, test: str = TEST) -> RawSplits[Tokens]:
    contents = {"train_5500.label": train, "TREC_10.label": test}
    paths = {name: folder / name for name in contents}
    for name, path in paths.items():
        path.write_bytes(contents[name].encode("iso-8859-1"))
    return trec("trec6", paths)


@pytest.fixture
def raw(tmp_path: Path) -> RawSplits[Tokens]:
    return load(tmp_path, "".join(question(number) for number in range(40)))


def test_a_tenth_of_the_training_questions_is_validation(raw: RawSplits[Tokens]) -> None:
    assert (len(raw.train), len(raw.validation), len(raw.test)) == (36, 4, 1)


def test_every_training_question_is_in_one_split(raw: RawSplits[Tokens]) -> None:
    words = {words[2] for words in raw.train.inputs + raw.validation.inputs}
    assert words == {f"number{number}" for number in range(40)}


def test_words_are_lower_case_and_split_at_spaces(raw: RawSplits[Tokens]) -> None:
    assert raw.test.inputs == [["how", "far", "is", "it", "from", "denver", "to", "aspen", "?"]]


def test_labels_stay_with_their_questions(raw: RawSplits[Tokens]) -> None:
    expected = [int(words[2].removeprefix("number")) % 6 for words in raw.train.inputs]
    assert raw.train.labels.tolist() == expected


def test_classes_are_the_coarse_ones(raw: RawSplits[Tokens]) -> None:
    assert (raw.classes, raw.test.labels.tolist()) == (COARSE, [5])


letters = st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="\x85\xa0")
fine = st.text("abcdefghij", min_size=3)


@given(words=st.lists(st.text(letters, min_size=1), min_size=1), fine=fine)
@settings(max_examples=50)
def test_words_are_those_after_the_class(words: list[str], fine: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        line = f"LOC:{fine} {' '.join(words)}\n"
        raw = load(Path(folder), TEST, line)
    assert raw.test.inputs == [" ".join(words).lower().split()]


def test_characters_beyond_ascii_are_latin_1(tmp_path: Path) -> None:
    raw = load(tmp_path, TEST, "HUM:ind Who was Bu\xf1uel ?\n")
    assert raw.test.inputs[0][2] == "bu\xf1uel"


def test_a_line_ends_at_a_line_feed_alone(tmp_path: Path) -> None:
    raw = load(tmp_path, TEST, "HUM:ind Who was\x85here ?\n")
    assert len(raw.test) == 1


def test_line_ends_of_windows_leave_no_trace(tmp_path: Path) -> None:
    assert load(tmp_path, TEST, "HUM:ind Who ?\r\n").test.inputs == [["who", "?"]]


@pytest.fixture(scope="module")
def official_raw(official: Callable[..., dict[str, Path]]) -> RawSplits[Tokens]:
    return trec("trec6", official("train_5500.label", "TREC_10.label"))


def test_official_splits_have_the_sizes_of_the_paper(official_raw: RawSplits[Tokens]) -> None:
    sizes = (len(official_raw.train), len(official_raw.validation), len(official_raw.test))
    assert sizes == (4907, 545, 500)


def test_official_words_hold_no_fine_class(
    official_raw: RawSplits[Tokens], official: Callable[..., dict[str, Path]]
) -> None:
    path = official("train_5500.label")["train_5500.label"]
    classes = {row.split()[0].lower() for row in path.read_text("iso-8859-1").split("\n") if row}
    first = {words[0] for words in official_raw.train.inputs + official_raw.validation.inputs}
    assert not first & classes


def test_official_test_classes_have_the_known_counts(official_raw: RawSplits[Tokens]) -> None:
    assert np.bincount(official_raw.test.labels).tolist() == [9, 138, 94, 65, 81, 113]
