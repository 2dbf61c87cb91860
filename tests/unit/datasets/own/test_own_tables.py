"""Reading a user's tables: formats, names, classes, and where in a file something is."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.datasets.own.header import Layout
from automata.datasets.own.tables import read_table, read_tables, target_labels
from automata.errors import UserError

FRAME = pd.DataFrame({"size": [0.1, 2.0, -3e-7], "soil": ["a", "b c", "ä"], "kind": [1, 0, 1]})


def written(folder, name):
    """Write FRAME in the format of its suffix and return the path."""
    path = folder / name
    if name.endswith(".parquet"):
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    return path


def table_of(folder, text, name="t.csv", **how):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_table(path, **how)


def labels_of(folder, *cells):
    return target_labels(table_of(folder, "\n".join(["y,x", *(f"{c},1" for c in cells)])), "y")


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz", "t.parquet", "T.CSV", "a.b.csv"]
)
def test_every_format_gives_the_same_rows(tmp_path, name):
    pd.testing.assert_frame_equal(read_table(written(tmp_path, name)).frame, FRAME)


def test_other_suffix_is_refused_with_the_valid_ones(tmp_path):
    with pytest.raises(UserError, match=r"t\.xlsx: .* \.csv, \.csv\.gz, .*\.parquet"):
        table_of(tmp_path, "", "t.xlsx")


def test_folder_is_no_table(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(UserError, match=r"t\.csv: this is a folder"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.parquet", b"PAR1 and no more"),
        ("t.csv.gz", b"not gzip"),
        ("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 999, mtime=0)[:-20]),
        ("t.csv", b""),
        ("t.csv", b"a,b\n1,2\n1,2,3\n"),
        ("t.csv", b"a,b\n1,2,3\n4,5,6\n"),
        ("t.csv", b'a,b\n"1,2\n'),
    ],
)
def test_damaged_file_is_one_line(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"\A.*{name}: not a readable .*\Z"):
        read_table(path)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a,b,a", "two columns are called 'a'"),
        ("a,,b", "column 2 has no name"),
        (",a,index", "column 1 has no name"),
    ],
)
def test_columns_that_pandas_would_rename_are_refused(tmp_path, header, expected):
    with pytest.raises(UserError, match=expected):
        table_of(tmp_path, f"{header}\n1,2,3\n")


def test_row_names_of_pandas_are_called_index(tmp_path):
    pd.DataFrame({"a": ["01", "2"]}).to_csv(tmp_path / "t.csv")
    table = read_table(tmp_path / "t.csv", words=["index"])
    assert table.columns == ["index", "a"]
    assert table.frame["index"].tolist() == ["0", "1"]


def test_marks_of_missing_cells_are_added_to_the_usual(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,?\n?,-\nNA,x\n")
    table = read_table(tmp_path / "t.csv", Layout(missing=("?",)))
    assert table.empty("a").tolist() == [False, True, True]
    assert table.frame["b"].tolist()[1:] == ["-", "x"]


@pytest.mark.parametrize("numbers", [range(21), range(0, 3000, 2)])
def test_target_of_amounts_is_refused(tmp_path, numbers):
    with pytest.raises(UserError, match="different numbers: this project classifies"):
        labels_of(tmp_path, *map(str, numbers))
    assert labels_of(tmp_path, *map(str, [*numbers][:20] * 100)) is not None


@pytest.mark.parametrize("how", [{"words": ["a"]}, {"texts": ["a"]}])
def test_words_stay_as_they_are_spelled(tmp_path, how):
    assert table_of(tmp_path, "a,b\n01,1\n1.0,1\n", **how).frame["a"].tolist() == ["01", "1.0"]


def test_only_an_empty_cell_is_missing_among_texts(tmp_path):
    table = table_of(tmp_path, "a,b\nNone,NA\nnan,\n,1\n", texts=["a"])
    assert table.empty("a").tolist() == [False, False, True]
    assert table.empty("b").tolist() == [True, True, False]


def test_words_of_the_training_file_are_words_elsewhere(tmp_path):
    (tmp_path / "train.csv").write_text("a,b\n01,1\nx,1\n")
    (tmp_path / "test.csv").write_text("a,b\n01,1\n")
    paths = {"train": tmp_path / "train.csv", "test": tmp_path / "test.csv"}
    assert read_tables(paths)["test"].frame["a"].tolist() == ["01"]


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["b", "a", "b"], ["b", "a", "b"]),
        (["2", "10"], ["2", "10"]),
        (["1.0", "2.0"], ["1", "2"]),
        (["true", "FALSE"], ["True", "False"]),
        (["-1", "1"], ["-1", "1"]),
    ],
)
def test_classes_are_text_whole_numbers_or_truth_values(tmp_path, cells, names):
    assert list(labels_of(tmp_path, *cells).names) == names


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", "b"], dtype="category"),
        pd.Series(["a", "b"], dtype=object),
        pd.Series(["a", "b"], dtype="string"),
    ],
)
def test_parquet_may_hold_text_in_any_way(tmp_path, values):
    pd.DataFrame({"y": values}).to_parquet(tmp_path / "t.parquet")
    assert target_labels(read_table(tmp_path / "t.parquet"), "y").names == ["a", "b"]


@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.0], pd.array([1, 2], dtype="Int64")])
def test_parquet_may_hold_whole_numbers_in_any_way(tmp_path, values):
    pd.DataFrame({"y": values}).to_parquet(tmp_path / "t.parquet")
    assert target_labels(read_table(tmp_path / "t.parquet"), "y").names == ["1", "2"]


@pytest.mark.parametrize("number", ["1.5", "inf"])
def test_target_that_is_not_whole_is_refused(tmp_path, number):
    with pytest.raises(UserError, match=rf"'y': row 3: {number} .*this project classifies"):
        labels_of(tmp_path, "1", number)


def test_dates_are_no_classes(tmp_path):
    pd.DataFrame({"y": pd.to_datetime(["2020-01-01"])}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(UserError, match="'y': it holds datetime64 values"):
        target_labels(read_table(tmp_path / "t.parquet"), "y")


@pytest.mark.parametrize("cells", [("a", "", "b", "NA"), ("1", "", "2", "")])
def test_missing_class_is_refused_with_its_row(tmp_path, cells):
    with pytest.raises(UserError, match=r"t\.csv: column 'y': 2 missing class.* row 3:"):
        labels_of(tmp_path, *cells)


def test_empty_string_is_a_missing_class_in_parquet(tmp_path):
    pd.DataFrame({"y": ["a", ""]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(UserError, match=r"'y': 1 missing class.* row 2:"):
        target_labels(read_table(tmp_path / "t.parquet"), "y")


def test_rows_are_counted_as_spreadsheets_do(tmp_path):
    table = table_of(tmp_path, '\na,b\n\n"two\nlines",1\n  \nx,2\n')
    assert [table.place(row) for row in range(len(table.frame))] == ["row 2", "row 3"]


def test_columns_do_not_come_from_the_names_of_folders(tmp_path):
    folder = tmp_path / "size=3"
    folder.mkdir()
    assert read_table(written(folder, "t.parquet")).columns == ["size", "soil", "kind"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_csv_gives_back_every_float(tmp_path_factory, values):
    path = Path(tmp_path_factory.getbasetemp()) / "floats.csv"
    pd.DataFrame({"a": values, "b": 0}).to_csv(path, index=False)
    np.testing.assert_array_equal(read_table(path).frame["a"], values)
