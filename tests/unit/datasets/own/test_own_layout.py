"""How tables are written: separators, decimal marks, encodings, and what a wrong one says."""

import gzip
import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.datasets.own.header import Layout, columns_of
from automata.datasets.own.tables import read_table
from automata.errors import UserError

FRAME = pd.DataFrame({"size": [0.1, 2.5, -3e-7], "soil": ["a", "b;c", "d,ä"], "kind": [1, 0, 1]})


def layout(**said):
    return Layout("own_datasets.mine", **said)


def spoilt(path, content, **said):
    """Write `content`, and return what reading it with a layout ends with."""
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_table(path, layout(**said))
    return str(error.value)


@pytest.mark.parametrize(
    ("separator", "encoding", "suffix"),
    [
        (",", None, ".csv"),
        (";", "utf-8", ".csv"),
        ("\t", "UTF8", ".csv"),
        ("|", "utf-8-sig", ".tsv"),
        (" ", "latin-1", ".tsv"),
        (";", "utf-16", ".csv.gz"),
        (",", "utf-8-sig", ".csv.gz"),
    ],
)
def test_table_is_read_as_it_was_written(tmp_path, separator, encoding, suffix):
    path = tmp_path / f"t{suffix}"
    FRAME.to_csv(path, index=False, sep=separator, encoding=encoding or "utf-8")
    said = layout(separator=separator, encoding=encoding)
    table = read_table(path, said)
    pd.testing.assert_frame_equal(table.frame, FRAME)
    assert columns_of(path, said) == list(FRAME)
    assert table.place(2) == "row 4"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_decimal_commas_give_back_every_float(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "commas.csv"
    frame = pd.DataFrame({"a": values, "b": 0})
    frame.to_csv(path, index=False, sep=";", decimal=",")
    found = read_table(path, layout(separator=";", decimal=","))
    assert found.frame["a"].tolist() == values


NAMES = st.text(st.sampled_from('ab ,;"\n\tä'), min_size=1, max_size=6).filter(str.strip)


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True), st.sampled_from([",", ";", "\t"]))
def test_header_is_what_pandas_reads(tmp_path_factory, names, separator):
    path = tmp_path_factory.getbasetemp() / "header.csv"
    pd.DataFrame([range(len(names))], columns=names).to_csv(path, index=False, sep=separator)
    assert columns_of(path, layout(separator=separator)) == names


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a;b;y\n1,5;2;x\n2,5;3,5;y\n", ";"),
        ("a;b,c;y\n1;2;x,x,x\n", ";"),
        ("a\tb\ty\n1\t2,5,5\tx\n", "\t"),
        ("a|b|y\n1|2,5|x\n", "|"),
    ],
)
def test_parser_that_fails_over_a_separator_names_the_key(tmp_path, text, separator):
    said = spoilt(tmp_path / "t.csv", text.encode())
    shown = json.dumps(separator)
    expected = f"its cells seem separated by {shown}: give own_datasets.mine.separator: {shown}"
    assert said.endswith(f"t.csv: {expected}")


def test_separator_that_is_wrong_names_the_one_that_is_not(tmp_path):
    said = spoilt(tmp_path / "t.csv", b"a,b,y\n1,2;5,x\n", separator=";")
    assert 'own_datasets.mine.separator: ","' in said


def test_ragged_file_is_not_said_to_need_a_separator(tmp_path):
    said = spoilt(tmp_path / "t.csv", b"a,b\n1,2\n1,2,3\n")
    assert "not a readable .csv file" in said
    assert "separator" not in said


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_byte_that_is_not_utf8_is_named(tmp_path, name):
    content = "a,b\n" + "1,x\n" * 5000 + "2,caf\N{LATIN SMALL LETTER E WITH ACUTE}\n"
    data = content.encode("latin-1")
    said = spoilt(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data)
    expected = "byte 0xe9 is not UTF-8: give own_datasets.mine.encoding, such as latin-1 or cp1252"
    assert said.endswith(f"{name}: {expected}")


def test_file_of_two_bytes_per_character_is_recognised(tmp_path):
    said = spoilt(tmp_path / "t.csv", "a,b\n1,2\n1,2,3\n".encode("utf-16"))
    assert said.endswith("t.csv: it seems to be UTF-16: give own_datasets.mine.encoding: utf-16")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "ascii"])
def test_encoding_that_does_not_fit_says_so(tmp_path, encoding):
    said = spoilt(tmp_path / "t.csv", b"a,b\n\xe9\xff,2\n", encoding=encoding)
    assert f"t.csv: it is not {encoding} (" in said
    assert "own_datasets.mine.encoding" in said


@pytest.mark.parametrize("encoding", ["klingon", "base64"])
def test_unknown_encoding_is_refused(tmp_path, encoding):
    said = spoilt(tmp_path / "t.csv", b"a,b\n1,2\n", encoding=encoding)
    assert said == (
        f"own_datasets.mine.encoding: '{encoding}' is no encoding, such as latin-1 or utf-16"
    )


@pytest.mark.parametrize("said", [{"decimal": ","}, {"decimal": ".", "separator": "."}])
def test_one_character_cannot_be_both_marks(tmp_path, said):
    expected = f"own_datasets.mine.decimal: '{said['decimal']}' separates the cells as well: give"
    assert spoilt(tmp_path / "t.csv", b"a,b\n1,2\n", **said).startswith(expected)


def test_decimal_comma_needs_no_separator_among_tabs(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tb\n1,5\t2\n")
    assert read_table(tmp_path / "t.tsv", layout(decimal=",")).frame["a"].tolist() == [1.5]


def test_line_without_an_end_is_not_read_as_a_header(tmp_path, monkeypatch):
    monkeypatch.setattr("automata.datasets.own.header._LONGEST", 50)
    (tmp_path / "t.csv").write_text("a" * 60)
    with pytest.raises(UserError, match="a line has 50 characters or more"):
        columns_of(tmp_path / "t.csv", layout())
