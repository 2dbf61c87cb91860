"""Tables as people have them: read as they are meant, or refused in one line with a remedy."""

import datetime
import gzip
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata.config.data import OwnTabular
from automata.datasets.own import load
from automata.datasets.own.reader import read_table
from automata.errors import UserError
from tests.unit.datasets.own.test_own_tabular import features

N = 40


def description(path, **keys):
    return OwnTabular.model_validate({"kind": "tabular", "path": str(path), "target": "y", **keys})


def loaded(folder, cells, name="x", **keys):
    """Load a table of one feature, whose training file is validation and test file, too."""
    rows = [*cells] * (N // len(cells))
    table = pd.DataFrame({name: rows, "y": ["a", "b"] * (len(rows) // 2)})
    path = folder / "t.csv"
    table.to_csv(path, index=False)
    return load("t", description(path, **{"validation": str(path), "test": str(path), **keys}))


def values(raw):
    return raw.train.inputs[:, 0]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["$12.50", "$1,234", "-$3", "$0.5"], [12.5, 1234, -3, 0.5]),
        (["1,234,567", "12", "-1,000.5", "7"], [1234567, 12, -1000.5, 7]),
        (["12%", "3.5 %", "0%", "100%"], [12, 3.5, 0, 100]),
        (["€5", "6 €", "£7", "8"], [5, 6, 7, 8]),
        ([" 1", "2 ", "+3", "1e2"], [1, 2, 3, 100]),
    ],
)
def test_numbers_may_have_signs_and_separators(tmp_path, cells, expected):
    assert values(loaded(tmp_path, cells))[:4].tolist() == expected


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2012/01/31", "2012/02/01"], "2012-01-31"),
        (["31/12/2020", "1/2/2020"], "2020-12-31"),
        (["12/31/2020", "1/2/2020"], "2020-12-31"),
        (["1.2.2020", "3.4.2020"], "2020-02-01"),
        (["2020-01-31 06:00", "2020-02-01 12:00"], "2020-01-31T06:00"),
    ],
)
def test_dates_become_days(tmp_path, cells, first):
    stamp = datetime.datetime.fromisoformat(first) - datetime.datetime(1970, 1, 1)
    assert values(loaded(tmp_path, cells))[0] == stamp.total_seconds() / 86400


def test_day_and_month_that_nothing_tells_apart_are_one_line(tmp_path):
    with pytest.raises(UserError, match=r"'1/2/2020': nothing tells day and month apart: write"):
        loaded(tmp_path, ["1/2/2020", "3/4/2020"])


def test_large_numbers_that_differ_little_stay_apart(tmp_path):
    """float32 has one value for 128 of them."""
    cells = [str(1_700_000_000 + number) for number in range(N)]
    assert len({*values(loaded(tmp_path, cells))}) == N


@pytest.mark.parametrize("spelling", ["true", "True", "TRUE"])
def test_truth_is_one_thing_however_it_is_spelled_in_any_file(tmp_path, spelling):
    test = tmp_path / "test.csv"
    no = "f" if spelling[0] == "t" else "F"
    other = spelling.replace(spelling[0], no).replace("rue", "alse").replace("RUE", "ALSE")
    test.write_text(f"x,y\n{spelling},a\nunknown,b\n{other},b\n")
    raw = loaded(tmp_path, ["true", "false"], test=str(test))
    assert features(raw) == ["x=False", "x=True"]
    assert raw.test.inputs.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert "test: column 'x': categories without a training row: unknown" in raw.facts["read"]


def test_gaps_are_filled_and_marked_by_the_training_rows(tmp_path):
    raw = loaded(tmp_path, ["1", "NA", "3", "8"])
    assert features(raw) == ["x", "x is missing"]
    assert raw.train.inputs[:4].tolist() == [[1, 0], [3, 1], [3, 0], [8, 0]]
    assert "path: column 'x': 10 gaps become 3, and a feature marks them" in raw.facts["read"]


def test_gaps_among_categories_are_a_category(tmp_path):
    raw = loaded(tmp_path, ["s", "", "t", "t"])
    assert features(raw) == ["x=(missing)", "x=s", "x=t"]


def test_column_without_gaps_is_ready_for_those_of_other_files(tmp_path):
    test = tmp_path / "test.csv"
    test.write_text("x,y\n,a\n5,b\n")
    raw = loaded(tmp_path, ["1", "2", "3", "3"], test=str(test))
    assert raw.test.inputs.tolist() == [[2.5], [5]]


@pytest.mark.parametrize("mark", ["?", "-", "unknown"])
def test_marks_among_numbers_are_gaps(tmp_path, mark):
    assert values(loaded(tmp_path, ["1", mark, "3", "8"]))[:4].tolist() == [1, 3, 3, 8]


def test_other_texts_among_numbers_are_refused_with_what_to_type(tmp_path):
    with pytest.raises(UserError) as error:
        loaded(tmp_path, ["1", "2", "3", "12a"])
    assert str(error.value) == (
        f"own_datasets.t: {tmp_path / 't.csv'}: column 'x': row 5: '12a' among numbers (10 such "
        'cells): missing takes it for a missing cell (missing: ["12a"]), categorical takes all '
        "cells as names"
    )


def test_text_in_the_test_file_where_training_has_numbers_is_refused(tmp_path):
    test = tmp_path / "test.csv"
    test.write_text("x,y\n1,a\nlarge,b\n")
    with pytest.raises(UserError, match=r"row 3: 'large' is no number below"):
        loaded(tmp_path, ["1", "2"], test=str(test))


def test_identifiers_are_refused_all_at_once(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"id {i},name {i},{i % 3},{'ab'[i % 2]}" for i in range(N)]
    path.write_text("\n".join(["one,two,n,y", *rows]))
    with pytest.raises(UserError, match=r"column 'one': .* names rows.*column 'two': .*rare_below"):
        load("t", description(path))
    assert features(load("t", description(path, drop=["one", "two"]))) == ["n"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,y,\n1,b,\n2,c,\n", ["a", "y"]),
        ("sep=;\na;y\n1;b\n2;c\n", ["a", "y"]),
        ("a;y\n1,5;b\n2,5;c\n", ["a", "y"]),
        ("a y\n1  b\n2  c\n", ["a", "y"]),
        (",a,y\n7,1,b\n3,2,c\n", ["a", "y"]),
        (",a,y\nx,1,b\nz,2,c\n", ["index", "a", "y"]),
        ("\n\na,y\n1,b\n", ["a", "y"]),
        ("a,y\nx,1,b\nz,2,c\n", ["index", "a", "y"]),
        ("a,y\n1,b,\n2,c,\n", ["a", "y"]),
        ("a,a,,y\n1,2,3,b\n", ["a", "a.1", "Unnamed: 2", "y"]),
    ],
)
def test_headers_as_programs_write_them(tmp_path, text, columns):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert read_table(path).columns == columns


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encoding_is_that_of_the_bytes(tmp_path, encoding):
    words = ["café", "naïve", "façade", "Straße", "über", "garçon"]
    text = "x,y\n" + "".join(f"{words[i % 6]} déjà vu,{'ab'[i % 2]}\n" for i in range(60))
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    assert read_table(path).frame["x"][0] == "café déjà vu"


def test_encoding_that_a_user_names_must_fit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("x,y\né,a\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"it is not utf-8 .*: change the key encoding"):
        read_table(path, description(path, encoding="utf-8"))


def test_compressed_and_parquet_files_hold_the_same(tmp_path):
    table = pd.DataFrame({"x": [1.5, 2.0], "z": [True, False], "y": ["a", "b"]})
    table.to_parquet(tmp_path / "t.parquet")
    content = table.to_csv(index=False).encode()
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(content))
    assert read_table(tmp_path / "t.csv.gz").frame["x"].tolist() == ["1.5", "2.0"]
    assert read_table(tmp_path / "t.parquet").frame["z"].tolist() == ["True", "False"]


def test_durations_are_seconds(tmp_path):
    table = pd.DataFrame({"x": pd.to_timedelta([1.5, 2] * 20, unit="min"), "y": ["a", "b"] * 20})
    table.to_parquet(tmp_path / "t.parquet")
    assert {*values(load("t", description(tmp_path / "t.parquet")))} == {90, 120}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "No columns to parse from file"),
        ("a,y\n1,b\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("a,y\n1,2,3,4\n", "rows have 2 cells more than the header"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path, content, problem):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(UserError, match=problem) as error:
        read_table(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("header", [True, False])
def test_file_without_a_header_has_numbered_columns(tmp_path, header):
    path = tmp_path / "t.csv"
    path.write_text("1,b\n2,c\n")
    table = read_table(path, description(path, header=header))
    assert table.columns == (["1", "b"] if header else ["column 1", "column 2"])
    assert len(table.frame) == 2 - header


def table_with(folder, classes):
    path = folder / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 5},{name}\n" for i, name in enumerate(classes)))
    return path


def test_rows_without_a_class_are_refused_or_left_out(tmp_path):
    path = table_with(tmp_path, ["a", "b", "NA", ""] * 10 + ["lone"])
    with pytest.raises(UserError, match=r"missing classes: 20, the first in row 4: .*skip_rows"):
        load("t", description(path))
    raw = load("t", description(path, skip_rows=True))
    assert raw.classes == ["a", "b"]
    assert "path: rows left out for their class: 21, the first in row 4" in raw.facts["read"]


def test_na_is_a_class_where_the_user_says_so(tmp_path):
    path = table_with(tmp_path, ["a", "NA"] * 10)
    assert load("t", description(path, categorical=["y"])).classes == ["NA", "a"]


@pytest.mark.parametrize(
    ("classes", "problem"),
    [
        ([f"{i / 3}" for i in range(30)], "30 different numbers, such as 0.333"),
        ([f"{i}" for i in range(60)], "60 different numbers, such as 0, are amounts"),
    ],
)
def test_amounts_are_no_classes(tmp_path, classes, problem):
    with pytest.raises(UserError, match=problem):
        load("t", description(table_with(tmp_path, classes)))


def test_classes_have_one_name_however_programs_write_them(tmp_path):
    path = table_with(tmp_path, ["1", "2.0"] * 10)
    other = tmp_path / "test.csv"
    other.write_text("x,y\n1,1.0\n2,2\n")
    raw = load("t", description(path, test=str(other)))
    assert (raw.classes, raw.test.labels.tolist()) == (["1", "2"], [0, 1])


CELLS = st.sampled_from(
    ["", "NA", "1", "2.5", "-3", "1e3", "true", "False", "a", "b c", "2020-01-02"]
)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=24, max_size=40))
@settings(max_examples=60, deadline=None)
def test_whatever_is_accepted_is_finite_and_as_wide_as_its_names(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    lines = [f"{one},{two},{'ab'[i % 2]}" for i, (one, two) in enumerate(rows)]
    path.write_text("\n".join(["p,q,y", *lines]))
    raw = None
    with suppress(UserError):
        raw = load("t", description(path))
    for split in (raw.train, raw.validation, raw.test) if raw else ():
        assert split.inputs.shape[1] == len(features(raw))
        assert np.isfinite(split.inputs).all()
