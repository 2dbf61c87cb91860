"""A user's tables as numbers: one-hot categories, dates, filled cells, and what is refused."""

import datetime
import hashlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.data import OwnTabular, Preparation
from automata.datasets.own import load, tabular
from automata.datasets.own.columns import Column
from automata.datasets.prepare import prepare
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


def whole(folder, table, **keys):
    """Load with the same file as validation and test, so that no row leaves training."""
    return loaded(folder, table, others={"validation": table, "test": table}, **keys)


def features(raw):
    """Return the names of the features."""
    return [name for column in raw.encoding["columns"] for name in Column(**column).features]


def fillings(raw):
    """Return what fills the missing cells of each column."""
    return {column["name"]: column["fill"] for column in raw.encoding["columns"]}


def oracle(table, columns):
    """Return the features `columns` of `table` as pandas encodes them."""
    dummies = pd.get_dummies(table.astype({"wet": str}), columns=["soil", "wet"], prefix_sep="=")
    return dummies[columns].to_numpy(np.float64)


def numbers(rows):
    """Return rows in an order that no split decides."""
    return np.array(sorted(rows.tolist()))


def test_columns_are_encoded_in_order(tmp_path):
    assert features(loaded(tmp_path, frame())) == [
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
    np.testing.assert_array_equal(numbers(found), numbers(oracle(table, features(raw))))


@pytest.mark.parametrize("split", SPLITS)
def test_rows_of_given_files_keep_their_order(tmp_path, split):
    tables = {name: frame(seed=seed) for seed, name in enumerate(SPLITS)}
    others = {name: tables[name] for name in SPLITS[1:]}
    raw = loaded(tmp_path, tables["train"], others=others)
    rows = getattr(raw, split)
    np.testing.assert_array_equal(rows.inputs, oracle(tables[split], features(raw)))
    np.testing.assert_array_equal(rows.labels, tables[split]["kind"])


@pytest.mark.parametrize("split", SPLITS)
def test_inputs_are_float64_and_labels_int64(tmp_path, split):
    rows = getattr(loaded(tmp_path, frame()), split)
    assert (rows.inputs.dtype, rows.labels.dtype) == (np.float64, np.int64)


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
    numbers = features(before).index("number")
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
    rows = raw.train.inputs[:, features(raw).index("number")].astype(int)
    table.loc[rows[::3], "size"] = None
    expected = table.loc[rows, "size"].agg(statistic)
    filled = loaded(tmp_path, table, others=others, fill={"size": statistic})
    assert fillings(filled)["size"] == pytest.approx(expected)
    assert filled.train.inputs[::3, 0] == pytest.approx(np.full(len(rows[::3]), expected), rel=1e-6)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("cells", "value", "names", "first"),
    [
        ([None, 2.0, 3.0], 7, ["x"], [7]),
        ([None, "b", "c"], "a", ["x=a", "x=b", "x=c"], [1, 0, 0]),
        ([None, "b", "c"], 3, ["x=3", "x=b", "x=c"], [1, 0, 0]),
        ([None, True, False], True, ["x=False", "x=True"], [0, 1]),
        ([None, True, False], "True", ["x=False", "x=True"], [0, 1]),
    ],
)
def test_missing_cells_become_the_given_value(tmp_path, suffix, cells, value, names, first):
    raw = small(tmp_path, cells, suffix=suffix, fill={"x": value})
    assert features(raw) == names
    assert raw.train.inputs[0].tolist() == first


def test_numbers_named_categorical_are_categories(tmp_path):
    raw = small(tmp_path, [10, 9, 10], [9, 10], categorical=["x"])
    assert features(raw) == ["x=10", "x=9"]
    assert raw.test.inputs.tolist() == [[0, 1], [1, 0]]


def test_category_of_whole_numbers_has_one_name_with_gaps_or_without(tmp_path):
    keys = {"categorical": ["x"], "fill": {"x": 1}, "suffix": ".parquet"}
    raw = small(tmp_path, [1, 2], [2.0, None], **keys)
    assert raw.test.inputs.tolist() == [[0, 1], [1, 0]]


def test_categories_keep_leading_zeros(tmp_path):
    raw = loaded(tmp_path, "x,kind\n" + "01,a\n1,b\n" * 9, categorical=["x"])
    assert features(raw) == ["x=01", "x=1"]


def test_category_that_training_lacks_is_all_zeros(tmp_path):
    raw = small(tmp_path, ["a", "b", "a"], ["c", "b"])
    assert raw.test.inputs.tolist() == [[0, 0], [0, 1]]


def test_pandas_categories_are_categories(tmp_path):
    cells = pd.Series([3, 5, 3], dtype="category")
    assert features(small(tmp_path, cells, suffix=".parquet")) == ["x=3", "x=5"]


@pytest.mark.parametrize(("cells", "width"), [([4.0, 4.0], 1), (["a", "a"], 1)])
def test_constant_column_is_fine(tmp_path, cells, width):
    assert small(tmp_path, cells).train.inputs.shape == (2, width)


def test_further_columns_of_a_test_file_do_not_count(tmp_path):
    other = frame(seed=1)
    plain = loaded(tmp_path, frame(), others={"test": other})
    other.insert(0, "id", 1)
    np.testing.assert_array_equal(
        loaded(tmp_path, frame(), others={"test": other}).test.inputs, plain.test.inputs
    )


def test_text_among_numbers_is_a_category_where_named(tmp_path):
    raw = small(tmp_path, ["1", "2", "?", "4"], categorical=["x"])
    assert features(raw) == ["x=1", "x=2", "x=4", "x=?"]


def test_table_without_features_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"train\.csv: there is no column but the target 'kind'"):
        loaded(tmp_path, frame()[["kind"]])


@given(st.sets(st.sampled_from(["size", "soil", "age", "wet"]), max_size=3))
def test_dropped_columns_are_as_if_the_file_had_none(tmp_path_factory, dropped):
    folder = tmp_path_factory.mktemp("drop")
    with_them = loaded(folder, frame(), drop=sorted(dropped))
    without = loaded(folder, frame().drop(columns=list(dropped)))
    said = [f"left out: {', '.join(sorted(dropped))}"] if dropped else []
    assert with_them.facts["read"] == said + without.facts["read"]
    np.testing.assert_array_equal(with_them.train.inputs, without.train.inputs)
    np.testing.assert_array_equal(with_them.test.labels, without.test.labels)


def test_dropped_column_may_hold_anything_or_be_missing_elsewhere(tmp_path):
    table = frame().assign(note=[None, "2020-01-31", *map(str, range(58))])
    raw = loaded(tmp_path, table, others={"test": frame(seed=1)}, drop=["note"])
    assert features(raw) == features(loaded(tmp_path, frame()))


def named(names, rows):
    """Return a table of `rows` rows whose column "who" has so many different texts."""
    return pd.DataFrame(
        {
            "who": [f"name {row % names}" for row in range(rows)],
            "x": np.arange(rows) % 5,
            "kind": np.arange(rows) // 2 % 2,
        }
    )


@pytest.mark.parametrize(("names", "rows"), [(19, 19), (12, 20), (53, 60), (200, 5000)])
def test_texts_that_repeat_or_are_few_are_categories(tmp_path, names, rows):
    table = named(names, rows)
    raw = whole(tmp_path, table)
    assert len(features(raw)) == names + 1
    assert raw.train.inputs[:, :-1].sum() == rows


def test_texts_of_a_few_rows_only_are_categories_beside_what_fills_the_others(tmp_path):
    table = named(60, 60)
    table.loc[25:, "who"] = None
    raw = loaded(tmp_path, table, fill={"who": "nobody"})
    assert "who=nobody" in features(raw)


def test_names_of_rows_are_categories_where_the_user_says_so(tmp_path):
    table = named(40, 40)
    raw = whole(tmp_path, table, categorical=["who"])
    assert len(features(raw)) == 41


@given(st.lists(st.sampled_from("abcde"), min_size=12, max_size=40), st.integers(2, 12))
def test_rare_categories_are_one_and_every_row_keeps_its_own(tmp_path_factory, cells, fewest):
    folder = tmp_path_factory.mktemp("rare")
    raw = small(folder, cells, ["a", "new"], rare_below=fewest)
    counts = Counter(cells)
    common = sorted(cell for cell in counts if counts[cell] >= fewest)
    rare = len(cells) - sum(counts[cell] for cell in common)
    names = [f"x={cell}" for cell in common] + ["x=(rare)"] * (rare > 0)
    assert features(raw) == names
    assert raw.train.inputs.sum(axis=1).tolist() == [1] * len(cells)
    assert raw.train.inputs.sum(axis=0).tolist() == [counts[c] for c in common] + [rare] * (
        rare > 0
    )
    assert raw.test.inputs[1].tolist() == [0] * len(common) + [1] * (rare > 0)


def test_rare_is_counted_in_the_training_rows_alone(tmp_path):
    raw = small(tmp_path, ["a"] * 5 + ["b"], ["b"] * 9, rare_below=2)
    assert features(raw) == ["x=a", "x=(rare)"]
    assert raw.test.inputs.tolist() == [[0, 1]] * 9


def test_names_of_rows_may_be_grouped(tmp_path):
    raw = loaded(tmp_path, named(60, 60), rare_below=2)
    assert features(raw) == ["who=(rare)", "x"]


@pytest.mark.parametrize(
    ("suffix", "cells"),
    [
        (".csv", ["1970-01-02", "2020-02-29 12:00", "1969-12-31"]),
        (".csv", ["2.1.1970", "29.02.2020 12:00", "31.12.1969"]),
        (".csv", ["1970-01-02", "2020-02-29T14:00:00+02:00", " 1969-12-31 "]),
        (".parquet", pd.to_datetime(["1970-01-02 00:00", "2020-02-29 12:00", "1969-12-31 00:00"])),
        (".parquet", ["1970-01-02", "2020-02-29 12:00", "1969-12-31"]),
    ],
)
def test_dates_become_days_since_1970(tmp_path, suffix, cells):
    # 50 years of which 1972, ..., 2016 are leap years, January, 28 days, and a half.
    days = 50 * 365 + 12 + 31 + 28 + 0.5
    raw = small(tmp_path, cells, suffix=suffix, dates=["x"])
    assert features(raw) == ["x"]
    assert raw.train.inputs.tolist() == [[1], [days], [-1]]


def test_dates_of_parquet_may_be_objects_and_beyond_2262(tmp_path):
    cells = [datetime.date(1970, 1, 2), datetime.date(9999, 12, 31)]
    raw = small(tmp_path, cells, suffix=".parquet", dates=["x"])
    expected = (datetime.date(9999, 12, 31) - datetime.date(1970, 1, 1)).days
    assert raw.train.inputs.tolist() == [[1], [expected]]


@pytest.mark.parametrize(
    ("value", "filled"),
    [("median", 2.0), (4, 4.0), ("1970-01-08", 7.0)],
)
def test_missing_dates_become_a_day(tmp_path, value, filled):
    cells = ["1970-01-02", "1970-01-03", None, "1970-01-04"]
    raw = small(tmp_path, cells, dates=["x"], fill={"x": value})
    assert raw.train.inputs[:, 0].tolist() == [1, 2, filled, 3]


def gappy():
    return pd.DataFrame(
        {
            "a": [1.0, None, 3.0, 5.0],
            "b": [None, 2.0, 2.0, 8.0],
            "soil": ["x", None, "y", "x"],
            "full": [1, 2, 3, 4],
            "kind": [0, 1, 0, 1],
        }
    )


def test_columns_of_a_kind_are_filled_and_a_single_one_wins(tmp_path):
    fill = {"numbers": "median", "texts": "missing", "b": "mean"}
    raw = whole(tmp_path, gappy(), fill=fill)
    assert fillings(raw) == {"b": 4.0, "a": 3.0, "soil": "missing", "full": 2.5}
    assert features(raw) == ["a", "b", "soil=missing", "soil=x", "soil=y", "full"]
    assert raw.train.inputs[:2].tolist() == [[1, 4, 0, 1, 0, 1], [3, 2, 1, 0, 0, 2]]


def test_filling_of_a_kind_is_for_true_and_false_and_named_categories_too(tmp_path):
    table = gappy().assign(soil=[True, None, False, True])
    raw = whole(tmp_path, table, categorical=["a"], fill={"b": 0, "texts": "none"})
    assert fillings(raw) == {"b": 0, "a": "none", "soil": "none", "full": 2.5}


def test_too_little_memory_is_one_line(tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr(tabular, "encoded", full)
    own = {"kind": "tabular", "path": write(frame(), tmp_path / "t.csv"), "target": "kind"}
    with pytest.raises(UserError, match=r"\Aown_datasets\.mine: .*memory.*9 GiB; give fewer .*\Z"):
        prepare("mine", Preparation.model_validate({"own": own}), tmp_path)


def test_european_table_is_read_with_its_marks(tmp_path):
    path = tmp_path / "train.csv"
    frame().to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16")
    form = {"separator": ";", "decimal": ",", "encoding": "utf-16"}
    own = OwnTabular(kind="tabular", path=str(path), target="kind", **form)
    found, plain = load("mine", own), loaded(tmp_path, frame())
    assert found.facts == plain.facts
    np.testing.assert_array_equal(found.train.inputs, plain.train.inputs)
