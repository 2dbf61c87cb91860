"""Files of tables as programs write them, and which of their rows are in which split."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from automata.config.data import OwnTabular, Preparation
from automata.datasets.own import load
from automata.datasets.own.reader import read_table
from automata.datasets.own.splits import FileLabels, assign
from automata.datasets.prepare import prepare
from automata.datasets.prepared import SPLITS
from automata.errors import UserError

from .own_tables import features, loaded, whole, written

PLAIN = OwnTabular(kind="tabular", path="-", target="y")


def read(folder, content, name="t.csv", **keys):
    path = written(content, folder / name)
    own = {"kind": "tabular", "path": path, "target": "y", **keys}
    return read_table(folder / name, OwnTabular.model_validate(own))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a,y,\n1,b,\n2,c,\n", ["a", "y"]),
        ("a,y\n1,b,\n2,c,\n", ["a", "y"]),
        ("sep=;\na;y\n1;b\n2;c\n", ["a", "y"]),
        ("a;y\n1,5;b\n2,5;c\n", ["a", "y"]),
        ("a y\n1  b\n2  c\n", ["a", "y"]),
        (",a,y\n7,1,b\n3,2,c\n", ["a", "y"]),
        ("a,y\nx,1,b\nz,2,c\n", ["a", "y"]),
        ("a,a,,y\n1,2,3,b\n", ["a", "a.1", "y"]),
        ("a, y \n1,b\n", ["a", "y"]),
        ("a,a ,y\n1,2,b\n", ["a", "a ", "y"]),
        ("# device: 7\na,y\n1,b\n2,c\n3,d\n", ["a", "y"]),
        ("Sales of 2024\n\na,z,y\n1,2,b\n2,3,c\n", ["a", "z", "y"]),
        ("# a, b, c\n# d\na,z,y\n1,2,b\n", ["a", "z", "y"]),
        ("Sales;;\na;z;y\n1,5;2;b\n2,5;3;c\n", ["a", "z", "y"]),
        ("review\nThe film was lovely\n", ["review"]),
        ("# x,z,y\n1,2,b\n2,3,c\n", ["# x", "z", "y"]),
        (",x\n0,5\n1,6\n", ["x"]),
    ],
)
def test_headers_as_programs_write_them(tmp_path, text, columns):
    assert [*read(tmp_path, text).frame] == columns


def test_a_line_break_in_the_header_is_no_open_quote(tmp_path):
    assert read(tmp_path, 'x,"in\nkg",y\n1,2,a\n3,4,b\n').notes == []


def test_file_without_a_header_has_numbered_columns(tmp_path):
    assert [*read(tmp_path, "1,b\n2,c\n", header=False).frame] == ["column 1", "column 2"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encoding_is_that_of_the_bytes(tmp_path, encoding):
    assert read(tmp_path, "x,y\ncafé,a\n".encode(encoding)).cells("x") == ["café"]


@pytest.mark.parametrize(
    ("encoding", "word"),
    [("cp1252", "Köln"), ("iso8859_2", "Łódź"), ("cp1256", "القاهرة"), ("euc_jp", "東京")],
)
def test_other_encodings_are_asked_for_and_never_guessed(tmp_path, encoding, word):
    content = f"x,y\n{word},a\nplain,b\n".encode(encoding)
    with pytest.raises(UserError, match=r"not utf-8 .*: name its encoding .*automata new --encod"):
        read(tmp_path, content)
    table = read(tmp_path, content, encoding=encoding)
    assert table.cells("x") == [word, "plain"]
    with pytest.raises(UserError, match=rf"read as {encoding}, the encoding of the training file"):
        table.require(["z"], "the model needs")


def test_the_most_frequent_encoding_is_the_first_hint(tmp_path):
    with pytest.raises(UserError, match=r"--encoding\): perhaps cp1252 \('Größe'\), "):
        read(tmp_path, "Größe,y\n1,a\n".encode("cp1252"))


def test_compressed_and_parquet_files_hold_the_same(tmp_path):
    table = pd.DataFrame({"x": [1.5, 2.5], "z": [True, False], "y": ["a", "b"]})
    table.to_parquet(tmp_path / "t.parquet")
    compressed = read(tmp_path, gzip.compress(table.to_csv(index=False).encode()), "t.csv.gz")
    for found in (compressed, read_table(tmp_path / "t.parquet", PLAIN)):
        assert found.frame.to_numpy().tolist() == [["1.5", "True", "a"], ["2.5", "False", "b"]]


def test_parquet_has_types_for_names_with_blanks_and_an_index_is_left_out(tmp_path):
    frame = pd.DataFrame({" code ": ["1", "2"]}, index=pd.Index([7, 8], name="id"))
    frame.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet", PLAIN)
    assert (found.columns, found.types["code"]) == (["code"], "text")
    assert found.notes == ["index 'id': left out"]


@pytest.mark.parametrize("metadata", ["{}", "3", '{"columns": ["x"], "index_columns": []}'])
def test_damaged_metadata_of_parquet_are_refused(tmp_path, metadata):
    table = pa.table({"x": [1.5]}).replace_schema_metadata({"pandas": metadata})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(
        UserError, match=r"t\.parquet: not a readable .* its pandas metadata .*again"
    ):
        read_table(tmp_path / "t.parquet", PLAIN)


def classes(names):
    return {"x": np.arange(len(names)) % 5, "kind": names}


def test_rows_without_a_class_are_left_out_on_request(tmp_path):
    table = classes(["a", "b", "NA", ""] * 10 + ["lone"])
    raw = loaded(tmp_path, table, skip_rows=True)
    assert raw.classes == ["a", "b"]
    assert "data: rows left out for their class: 21, the first in row 4" in raw.facts["read"]
    with pytest.raises(UserError, match=r"missing classes: 20.*automata new --skip-rows"):
        loaded(tmp_path, table)
    named = loaded(tmp_path, classes(["a", "NA"] * 10), categorical=["kind"])
    assert named.classes == ["NA", "a"]  # where the user says so


@pytest.mark.parametrize(
    ("train", "test", "names", "labels", "note"),
    [
        (["01", "1", "2", "75"], ["1", "01"], ["01", "1", "2", "75"], [1, 0], None),
        (["1E2", "100"], ["100", "1E2"], ["100", "1E2"], [0, 1], None),
        (["100000000000000001", "100000000000000002"], [], [], [], None),
        (["0x10", "16", "1_6"], ["16"], ["0x10", "16", "1_6"], [1], None),
        (
            ["1.0", "2.0"],
            ["2", "1"],
            ["1.0", "2.0"],
            [1, 0],
            "test: classes: '1' is read as '1.0', '2' is",
        ),
        (["1", "2.0", "2"], ["1.0"], ["1", "2"], [0], "data: classes: '2.0' is read as '2'"),
        (["true", "FALSE"], ["True"], ["FALSE", "true"], [1], "'True' is read as 'true'"),
        (["yes", "no"], ["Yes", "NO"], ["no", "yes"], [1, 0], "'Yes' is read as 'yes'"),
        (["a", "A"], ["A", "a"], ["A", "a"], [0, 1], None),
        (["1.5", "x"], ["1.5"], ["1.5", "x"], [0], None),
    ],
)
def test_class_is_spelled_as_in_the_training_file(tmp_path, train, test, names, labels, note):
    raw = whole(tmp_path, classes(train * 10), classes(test or train))
    assert raw.classes == (names or train)
    assert raw.test.labels.tolist() == (labels or [*range(len(train))])
    assert (note or "") in " ".join(raw.facts["read"])


@pytest.mark.parametrize(
    ("text", "cells", "note"),
    [
        ('n, t, y\n1, "b, c", d\n2, "e", f\n', ["b, c", "e"], None),
        ('n,t,y\n1,"say ""no""",d\n2,5" pipe,f\n', ['say "no"', '5" pipe'], None),
        (
            'n,t,y\n1,b,c\n2,"d,e\n3,f,g\n4,h",i\n',
            ["b", "d,e\n3,f,g\n4,h"],
            "4 lines are 2 rows: the cell in row 3 of column 't' has 2 line breaks: is",
        ),
    ],
)
def test_cells_are_those_of_the_file_and_what_is_odd_is_said(tmp_path, text, cells, note):
    table = read(tmp_path, text)
    assert table.cells("t") == cells
    assert [note in it for it in table.notes] == [True] * (note is not None)


@pytest.mark.parametrize(
    ("text", "header", "usual", "cells"),
    [
        (",2\n3,4\n5,6\n", False, ",", ["", "3", "5"]),
        ("x\n1\n\n3\n", True, ",", ["1", "", "3"]),
        ("x\n1,5\n2,5\n", True, ";", ["1,5", "2,5"]),
        ("x\nNew York\nSan Jose\n", True, ",", ["New York", "San Jose"]),
    ],
)
def test_no_row_of_a_table_is_lost_and_no_cell_is_split(tmp_path, text, header, usual, cells):
    (tmp_path / "new.csv").write_text(text)
    own = PLAIN.model_copy(update={"header": header})
    table = read_table(tmp_path / "new.csv", own, usual)
    assert table.cells(table.columns[0]) == cells


def test_rare_classes_are_counted_under_one_name_and_in_the_training_file(tmp_path):
    train = classes(["true", "false"] * 20 + ["TRUE"])
    raw = loaded(tmp_path, train, test=classes(["true", "c", "FALSE"]), skip_rows=True)
    assert (raw.classes, raw.test.labels.tolist()) == (["false", "true"], [1, 0])
    assert len(raw.train) + len(raw.validation) == 41


def test_a_decimal_comma_decides_an_order(tmp_path):
    table = {"x": range(40), "t": ["900", "901"] + [f"1,{500 + row}" for row in range(38)]}
    raw = loaded(tmp_path, table, order="t", decimal=",")
    assert [len(rows) for rows in rows_of(raw).values()] == [28, 4, 8]
    assert {0, 1} < {*rows_of(raw)["test"]}


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"test": "train.csv"}, "test: names the training file"),
        ({"test": "sub/../train.csv"}, "test: names the training file"),
        ({"validation": "train.csv"}, "validation: names the training file"),
        ({"validation": "new.csv", "test": "new.csv"}, "test: names the validation file"),
    ],
)
def test_no_file_is_two_splits(tmp_path, files, line):
    path = written(classes([*"ab"] * 20), tmp_path / "train.csv")
    named = {split: str(tmp_path / name) for split, name in files.items()}
    with pytest.raises(UserError, match=f"mine: {line}"):
        load("mine", OwnTabular(kind="tabular", path=path, target="kind", **named))


def test_repeated_rows_are_counted_and_left_out_on_request(tmp_path):
    random = np.random.default_rng(0)
    once = pd.DataFrame({"n": range(60), "x": random.normal(size=60), "kind": [*"ab"] * 30})
    table = pd.concat([once.assign(n=once["n"] + 60 * copy) for copy in range(5)])
    own = {"kind": "tabular", "path": written(table, tmp_path / "t.csv"), "target": "kind"}
    own |= {"drop": ["n"]}
    found = prepare("mine", Preparation.model_validate({"own": own}), tmp_path).metadata
    assert found["repeated_test_rows"] > 0.9
    assert "% of the test rows are also training rows" in found["read"][-1]
    alone = Preparation.model_validate({"own": own | {"drop_duplicates": True}})
    found = prepare("mine", alone, tmp_path).metadata
    assert "repeated_test_rows" not in found
    assert "data: repeated rows left out: 240, the first in row 62" in found["read"]
    both = pd.concat([once.head(50), once.assign(x=once["x"] + 9)])
    raw = loaded(tmp_path, once, test=both, drop=["n"], drop_duplicates=True)
    assert len(raw.test) == 60  # without the rows of the training file


# Splits


@pytest.mark.parametrize(
    ("counts", "given_files", "sizes"),
    [
        ([3] * 40, {}, [40, 40, 40]),
        ([20, 20], {"validation": [1, 0, 1]}, [32, 3, 8]),
        ([20, 20], {"test": [1, 0, 1]}, [36, 4, 3]),
        ([1, 1], {"validation": [0], "test": [1, 1]}, [2, 1, 2]),
    ],
)
def test_given_files_are_taken_whole_and_others_are_a_tenth_and_a_fifth(counts, given_files, sizes):
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))
    files = {"train": rows, **given_files}
    _, parts = assign({split: FileLabels(split, [*map(str, it)]) for split, it in files.items()})
    assert [len(parts[split].rows) for split in SPLITS] == sizes
    for split, labels in given_files.items():
        assert (parts[split].file, parts[split].labels.tolist()) == (split, labels)


def rows_of(raw):
    """Return for each split the cells of the first column, which numbers the rows."""
    assert features(raw) == ["x"]
    return {split: getattr(raw, split).inputs[:, 0].astype(int) for split in SPLITS}


def test_no_group_is_in_two_splits(tmp_path):
    who = np.array([f"p{row % 37}" for row in range(200)])
    rows = rows_of(loaded(tmp_path, {"x": range(200), "who": who}, group="who"))
    assert sum(len({*who[some]}) for some in rows.values()) == 37
    assert sum(map(len, rows.values())) == 200
    largest = 6
    assert abs(len(rows["test"]) - 40) < largest
    assert abs(len(rows["validation"]) - 20) < largest


@pytest.mark.parametrize("ill", [4, 6])
def test_groups_of_one_class_are_drawn_so_that_each_split_has_both(tmp_path, ill):
    patient = np.repeat(np.arange(12), 10)
    for seed in range(6):
        ids = np.random.default_rng(seed).permutation(12)[patient]
        table = {"x": patient, "who": ids, "kind": np.where(ids < ill, "ill", "well")}
        raw = loaded(tmp_path, table, group="who")
        assert all(len({*getattr(raw, split).labels}) == 2 for split in SPLITS)


def test_a_split_without_a_class_is_said(tmp_path):
    table = {"who": np.repeat(["p", "q", "r", "s"], 10), "x": range(40)}
    raw = loaded(tmp_path, table | {"kind": [*["a"] * 30, *"ab" * 5]}, group="who")
    absent = [split for split in SPLITS if len({*getattr(raw, split).labels}) == 1]
    assert absent
    assert [f"{split}: no row of the classes b" for split in absent] == raw.facts["read"][-2:]


@pytest.mark.parametrize(
    "spellings", [("3", "3.0"), ("3", " 3"), ("p1", "p1 "), ("true", "TRUE"), ("2.50", "2.5")]
)
def test_one_group_may_be_spelled_in_two_ways(tmp_path, spellings):
    others = [str(number) for number in range(10, 28)]
    who = np.repeat([*spellings, *others], 5)
    rows = rows_of(loaded(tmp_path, {"x": range(100), "who": who}, group="who"))
    assert sum(some.min() < 10 for some in rows.values()) == 1


@pytest.mark.parametrize("each", [60, 75, 7])
def test_rows_of_one_value_of_the_order_are_in_one_split(tmp_path, each):
    days = pd.date_range("2024-01-01", periods=8).strftime("%Y-%m-%d").repeat(each)
    table = pd.DataFrame({"x": range(len(days)), "day": days, "kind": [*"ab"] * (len(days) // 2)})
    table = table.sample(frac=1, random_state=0)
    rows = rows_of(loaded(tmp_path, table, order="day"))
    days_of = {split: {*(rows[split] // each)} for split in SPLITS}
    assert days_of == {"train": {*range(5)}, "validation": {5}, "test": {6, 7}}
