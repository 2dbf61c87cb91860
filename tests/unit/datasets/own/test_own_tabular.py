"""A user's tables as numbers: one-hot categories, filled cells, and what is refused."""

import datetime
import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.data import OwnTabular
from automata.datasets.own import load
from automata.errors import UserError

SPLITS = ["train", "validation", "test"]


def frame(rows=60, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": random.normal(size=rows),
            "soil": random.choice(["sand", "clay", "peat"], rows),
            "age": random.integers(0, 9, rows),
            "wet": random.random(rows) < 0.5,
            "kind": random.permutation(np.arange(rows) % 3),
        }
    )


def write(table, path):
    """Write a data frame, or text as it is, and return the path as the configuration has it."""
    if isinstance(table, str):
        path.write_text(table)
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    return str(path)


def loaded(folder, train, suffix=".csv", target="kind", others=None, **keys):
    """Write the files of a data set and load it."""
    paths = {s: write(t, folder / f"{s}{suffix}") for s, t in (others or {}).items()}
    path = write(train, folder / f"train{suffix}")
    own = OwnTabular(kind="tabular", path=path, target=target, **paths, **keys)
    return load("mine", own)


def small(folder, *columns, others=None, **keys):
    """Load two files of one feature "x": the training cells, and those of the test file."""
    train, test = columns if len(columns) == 2 else (columns[0], columns[0][:1])
    tables = [
        pd.DataFrame({"x": cells, "kind": (["a", "b"] * len(cells))[: len(cells)]})
        for cells in (train, test)
    ]
    given = {"validation": tables[0], "test": tables[1]}
    return loaded(folder, tables[0], others=given, suffix=keys.pop("suffix", ".csv"), **keys)


def oracle(table, columns):
    """Return the features `columns` of `table` as pandas encodes them."""
    dummies = pd.get_dummies(table.astype({"wet": str}), columns=["soil", "wet"], prefix_sep="=")
    return dummies[columns].to_numpy(np.float32)


def numbers(rows):
    """Return rows in an order that no split decides."""
    return np.array(sorted(rows.tolist()))


def test_columns_are_encoded_in_order(tmp_path):
    assert loaded(tmp_path, frame()).facts["features"] == [
        "size",
        "soil=clay",
        "soil=peat",
        "soil=sand",
        "age",
        "wet=False",
        "wet=True",
    ]


def test_rows_are_those_that_pandas_encodes(tmp_path):
    table = frame()
    raw = loaded(tmp_path, table)
    found = np.vstack([getattr(raw, split).inputs for split in SPLITS])
    np.testing.assert_array_equal(numbers(found), numbers(oracle(table, raw.facts["features"])))


@pytest.mark.parametrize("split", SPLITS)
def test_rows_of_given_files_keep_their_order(tmp_path, split):
    tables = {name: frame(seed=seed) for seed, name in enumerate(SPLITS)}
    others = {name: tables[name] for name in SPLITS[1:]}
    raw = loaded(tmp_path, tables["train"], others=others)
    rows = getattr(raw, split)
    np.testing.assert_array_equal(rows.inputs, oracle(tables[split], raw.facts["features"]))
    np.testing.assert_array_equal(rows.labels, tables[split]["kind"])


@pytest.mark.parametrize("split", SPLITS)
def test_inputs_are_float32_and_labels_int64(tmp_path, split):
    rows = getattr(loaded(tmp_path, frame()), split)
    assert (rows.inputs.dtype, rows.labels.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("keys", [{}, {"categorical": ["age"]}, {"fill": {"soil": "none"}}])
def test_csv_and_parquet_give_the_same(tmp_path, split, keys):
    table = frame()
    if "fill" in keys:
        table.loc[::7, "soil"] = None
    one, two = (loaded(tmp_path, table, suffix, **keys) for suffix in (".csv", ".parquet"))
    assert one.facts == two.facts
    np.testing.assert_array_equal(getattr(one, split).inputs, getattr(two, split).inputs)
    np.testing.assert_array_equal(getattr(one, split).labels, getattr(two, split).labels)


def test_record_says_source_files_and_classes(tmp_path):
    raw = loaded(tmp_path, frame(), others={"test": frame(seed=1)})
    paths = [tmp_path / "train.csv", tmp_path / "test.csv"]
    assert raw.source == "own file train.csv"
    assert raw.files == {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}
    assert raw.classes == ["0", "1", "2"]
    assert raw.facts["rows_by_class"]["test"] == {"0": 20, "1": 20, "2": 20}


@given(st.integers(1, 99), st.floats(-1e30, 1e30), st.text("abc", min_size=1))
def test_drawn_rows_never_change_the_training_rows(tmp_path_factory, seed, size, soil):
    folder = tmp_path_factory.mktemp("drawn")
    table = frame(seed=seed).assign(number=np.arange(60.0))
    before = loaded(folder, table)
    numbers = before.facts["features"].index("number")
    drawn = np.concatenate([before.validation.inputs, before.test.inputs])[:, numbers].astype(int)
    table.loc[drawn, "size"] = size
    table.loc[drawn, "soil"] = soil
    after = loaded(folder, table)
    np.testing.assert_array_equal(after.train.inputs, before.train.inputs)


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("given_files", [True, False])
def test_filling_is_of_the_training_rows_only(tmp_path, statistic, given_files):
    table = frame().assign(number=np.arange(60.0))
    others = {s: frame(seed=1).assign(number=1.0) for s in SPLITS[1:]} if given_files else {}
    raw = loaded(tmp_path, table, others=others)
    rows = raw.train.inputs[:, raw.facts["features"].index("number")].astype(int)
    table.loc[rows[::3], "size"] = None
    expected = table.loc[rows, "size"].agg(statistic)
    filled = loaded(tmp_path, table, others=others, fill={"size": statistic})
    assert filled.facts["filled"]["size"] == pytest.approx(expected)
    assert filled.train.inputs[::3, 0] == pytest.approx(np.full(len(rows[::3]), expected), rel=1e-6)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("cells", "value", "features", "first"),
    [
        ([None, 2.0, 3.0], 7, ["x"], [7]),
        ([None, "b", "c"], "a", ["x=a", "x=b", "x=c"], [1, 0, 0]),
        ([None, "b", "c"], 3, ["x=3", "x=b", "x=c"], [1, 0, 0]),
        ([None, True, False], True, ["x=False", "x=True"], [0, 1]),
        ([None, True, False], "True", ["x=False", "x=True"], [0, 1]),
    ],
)
def test_missing_cells_become_the_given_value(tmp_path, suffix, cells, value, features, first):
    raw = small(tmp_path, cells, suffix=suffix, fill={"x": value})
    assert raw.facts["features"] == features
    assert raw.train.inputs[0].tolist() == first


def test_numbers_named_categorical_are_categories(tmp_path):
    raw = small(tmp_path, [10, 9, 10], [9, 10], categorical=["x"])
    assert raw.facts["features"] == ["x=10", "x=9"]
    assert raw.test.inputs.tolist() == [[0, 1], [1, 0]]


def test_category_of_whole_numbers_has_one_name_with_gaps_or_without(tmp_path):
    keys = {"categorical": ["x"], "fill": {"x": 1}, "suffix": ".parquet"}
    raw = small(tmp_path, [1, 2], [2.0, None], **keys)
    assert raw.test.inputs.tolist() == [[0, 1], [1, 0]]


def test_categories_keep_leading_zeros(tmp_path):
    raw = loaded(tmp_path, "x,kind\n" + "01,a\n1,b\n" * 9, categorical=["x"])
    assert raw.facts["features"] == ["x=01", "x=1"]


def test_category_that_training_lacks_is_all_zeros(tmp_path):
    raw = small(tmp_path, ["a", "b", "a"], ["c", "b"])
    assert raw.test.inputs.tolist() == [[0, 0], [0, 1]]


def test_pandas_categories_are_categories(tmp_path):
    cells = pd.Series([3, 5, 3], dtype="category")
    assert small(tmp_path, cells, suffix=".parquet").facts["features"] == ["x=3", "x=5"]


@pytest.mark.parametrize(("cells", "width"), [([4.0, 4.0], 1), (["a", "a"], 1)])
def test_constant_column_is_fine(tmp_path, cells, width):
    assert small(tmp_path, cells).train.inputs.shape == (2, width)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("cells", [[1, None, None], ["a", None, None], [True, None, None]])
def test_missing_cells_are_refused_with_count_and_row(tmp_path, suffix, cells):
    row = 3 if suffix == ".csv" else 2
    expected = rf"train\{suffix}: column 'x': 2 missing cell.*, the first in row {row}: .*fill"
    with pytest.raises(UserError, match=expected):
        small(tmp_path, cells, suffix=suffix)


def test_empty_text_is_missing_in_parquet(tmp_path):
    with pytest.raises(UserError, match=r"column 'x': 1 missing cell.*row 2:"):
        small(tmp_path, ["a", ""], suffix=".parquet")


def test_missing_cells_of_the_test_file_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"test\.csv: column 'x': 1 missing cell.*row 2:"):
        small(tmp_path, [1, 2], [None, 1])


def test_missing_class_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"column 'kind': 1 missing class.* row 3:"):
        loaded(tmp_path, "x,kind\n1,a\n2,\n3,b\n", fill={"x": 1})


@pytest.mark.parametrize("number", ["inf", "-inf", "1e39"])
def test_number_beyond_float32_is_refused(tmp_path, number):
    with pytest.raises(UserError, match=r"train\.csv: column 'x': row 3: .* infinite"):
        loaded(tmp_path, f"x,kind\n1,a\n{number},b\n" + "1,a\n2,b\n" * 9)


@pytest.mark.parametrize(
    ("keys", "key", "value"),
    [
        ({"target": "sort"}, "target", "sort"),
        ({"categorical": ["rain"]}, "categorical", "rain"),
        ({"fill": {"rain": 1}}, "fill", "rain"),
    ],
)
def test_unknown_column_is_refused_with_those_that_exist(tmp_path, keys, key, value):
    expected = rf"own_datasets\.mine\.{key}: \S*train\.csv .*'{value}' .*size, soil, age, wet"
    with pytest.raises(UserError, match=expected):
        loaded(tmp_path, frame(), **keys)


@pytest.mark.parametrize("keys", [{"categorical": ["kind"]}, {"fill": {"kind": 0}}])
def test_target_is_no_feature(tmp_path, keys):
    with pytest.raises(UserError, match=r"no column 'kind' for it: size, soil, age, wet$"):
        loaded(tmp_path, frame(), **keys)


@pytest.mark.parametrize("split", ["validation", "test"])
def test_file_without_columns_of_training_is_refused(tmp_path, split):
    other = frame().drop(columns=["soil", "kind"])
    expected = rf"own_datasets\.mine\.{split}: \S*{split}\.csv lacks .*: soil, kind; it has size"
    with pytest.raises(UserError, match=expected):
        loaded(tmp_path, frame(), others={split: other})


def test_further_columns_of_a_test_file_do_not_count(tmp_path):
    other = frame(seed=1)
    plain = loaded(tmp_path, frame(), others={"test": other})
    other.insert(0, "id", 1)
    np.testing.assert_array_equal(
        loaded(tmp_path, frame(), others={"test": other}).test.inputs, plain.test.inputs
    )


def test_text_in_the_test_file_where_training_has_numbers_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"test\.csv: column 'x': it holds string .*numbers"):
        small(tmp_path, [1, 2], ["a", "b"])


def test_stray_text_among_numbers_is_refused_with_its_row(tmp_path):
    with pytest.raises(UserError, match=r"'x': row 4: '\?' among numbers"):
        small(tmp_path, ["1", "2", "?", "4"])


def test_text_among_numbers_is_a_category_where_named(tmp_path):
    raw = small(tmp_path, ["1", "2", "?", "4"], categorical=["x"])
    assert raw.facts["features"] == ["x=1", "x=2", "x=4", "x=?"]


@pytest.mark.parametrize(
    ("suffix", "cells"),
    [
        (".csv", ["2020-01-31", "2021-02-28"]),
        (".csv", ["2020-01-31 10:00", None]),
        (".csv", ["31.1.2020", "28.2.2021"]),
        (".parquet", pd.to_datetime(["2020-01-31", None])),
        (".parquet", [datetime.date(2020, 1, 31), None]),
        (".parquet", pd.to_timedelta([1, 2])),
    ],
)
def test_dates_are_refused(tmp_path, suffix, cells):
    with pytest.raises(UserError, match=r"column 'x': it holds dates"):
        small(tmp_path, cells, suffix=suffix)


@pytest.mark.parametrize("cells", [[[1], [2]], [b"a", b"b"]])
def test_what_is_no_feature_is_refused(tmp_path, cells):
    with pytest.raises(UserError, match=r"column 'x': it holds \w+ values, features are"):
        small(tmp_path, cells, suffix=".parquet")


def test_table_without_features_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"train\.csv: there is no column but the target 'kind'"):
        loaded(tmp_path, frame()[["kind"]])


@pytest.mark.parametrize(
    ("cells", "value", "expected"),
    [
        (["a", None], "mean", "holds categories, which have no mean"),
        (["a", None], "median", "holds categories, which have no median"),
        ([1, None], "none", "holds numbers, 'none' is none: a number, mean or median"),
        ([1, None], float("nan"), "nan is not a finite number"),
        ([1, None], 1e39, "not a finite number"),
        ([None, None], "mean", "has no number in the training rows, so no mean"),
    ],
)
def test_filling_that_does_not_fit_is_refused(tmp_path, cells, value, expected):
    with pytest.raises(UserError, match=rf"own_datasets\.mine\.fill: column 'x' .*{expected}"):
        small(tmp_path, cells, fill={"x": value})


@pytest.mark.parametrize("key", ["path", "validation", "test"])
def test_path_that_does_not_exist_is_refused(tmp_path, key):
    here = write(frame(), tmp_path / "train.csv")
    own = OwnTabular(kind="tabular", **{"path": here, "target": "kind", key: "no/such.csv"})
    with pytest.raises(UserError, match=rf"^own_datasets\.mine\.{key}: no/such\.csv: no such file or folder$"):
        load("mine", own)


def test_error_is_one_line_whatever_columns_are_called(tmp_path):
    table = pd.DataFrame({"a\nb": [1, None, 2], "kind": [1, 2, 1]})
    with pytest.raises(UserError, match=r"\A[^\n]*\Z"):
        loaded(tmp_path, table, others={"validation": table, "test": table})
