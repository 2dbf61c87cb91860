"""A user's tables as numbers: what each column becomes, what fills gaps, and what is refused."""

import datetime
import hashlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.data import Preparation
from automata.datasets.own import tabular
from automata.datasets.prepare import prepare
from automata.errors import UserError

from .own_tables import features, loaded, whole, written

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


def repeated(*cells):
    """Return a table of 40 rows with these cells in turn."""
    return {"x": np.resize(np.array(cells, object), 40)}


def values(raw):
    return raw.train.inputs[:, 0].tolist()


def test_rows_of_files_are_those_that_pandas_encodes(tmp_path):
    tables = {split: frame(seed=seed) for seed, split in enumerate(SPLITS)}
    raw = loaded(tmp_path, tables["train"], **{split: tables[split] for split in SPLITS[1:]})
    soils, truths = ["soil=clay", "soil=peat", "soil=sand"], ["wet=False", "wet=True"]
    assert features(raw) == ["size", *soils, "age", *truths]
    for split, table in tables.items():
        text = table.astype({"wet": str})
        dummies = pd.get_dummies(text, columns=["soil", "wet"], prefix_sep="=")
        rows, expected = getattr(raw, split), dummies[features(raw)].to_numpy(np.float64)
        np.testing.assert_array_equal(rows.inputs, expected, strict=True)
        np.testing.assert_array_equal(rows.labels, table["kind"], strict=True)


def test_record_says_source_files_and_classes(tmp_path):
    raw = loaded(tmp_path, frame(), test=frame(seed=1).query("kind < 2"))
    paths = [tmp_path / "train.csv", tmp_path / "test.csv"]
    assert raw.source == "own file train.csv"
    assert raw.files == {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}
    assert raw.classes == ["0", "1", "2"]
    assert raw.facts["rows_by_class"]["test"] == {"0": 20, "1": 20, "2": 0}


@given(st.integers(1, 99), st.floats(-1e30, 1e30), st.text("abc", min_size=1))
def test_drawn_rows_never_change_the_training_rows(tmp_path_factory, seed, size, soil):
    folder = tmp_path_factory.mktemp("drawn")
    table = frame(seed=seed).assign(number=np.arange(60.0))
    table.loc[::5, "size"] = None
    keys = {"fill": {"size": "mean"}}
    before = loaded(folder, table, **keys)
    number = features(before).index("number")
    drawn = np.concatenate([before.validation.inputs, before.test.inputs])[:, number].astype(int)
    table.loc[drawn, "size"] = size
    table.loc[drawn, "soil"] = soil
    np.testing.assert_array_equal(loaded(folder, table, **keys).train.inputs, before.train.inputs)


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
    raw = whole(tmp_path, {"x": cells}, suffix=suffix, fill={"x": value})
    assert features(raw) == names
    assert raw.train.inputs[0].tolist() == first


NAMED, PARQUET = {"categorical": ["x"]}, {"suffix": ".parquet"}
CODES = pd.Series([3, 5], dtype="category")


@pytest.mark.parametrize(
    ("train", "test", "names", "rows", "keys"),
    [
        ([10, 9, 10], [9, 10], ["10", "9"], [[0, 1], [1, 0]], NAMED),
        (["1", "?"], ["?", "1"], ["1", "?"], [[0, 1], [1, 0]], NAMED),
        (["01", "1"], ["1", "01"], ["01", "1"], [[0, 1], [1, 0]], NAMED),
        (["a", "b"], ["c", "b"], ["a", "b"], [[0, 0], [0, 1]], {}),
        (["a", "a"], ["a", "b"], ["a"], [[1], [0]], {}),
        ([1, 2], [2.0, None], ["1", "2"], [[0, 1], [1, 0]], NAMED | PARQUET | {"fill": {"x": 1}}),
        (CODES, CODES[::-1], ["3", "5"], [[0, 1], [1, 0]], PARQUET),
    ],
    ids=[
        "numbers",
        "texts",
        "leading zeros",
        "unknown",
        "constant",
        "one name with gaps",
        "pandas categories",
    ],
)
def test_categories_have_a_feature_each(tmp_path, train, test, names, rows, keys):
    raw = whole(tmp_path, {"x": train}, {"x": test}, **keys)
    assert features(raw) == [f"x={name}" for name in names]
    assert raw.test.inputs.tolist() == rows


@pytest.mark.parametrize(
    ("train", "test", "names", "rows"),
    [
        (["1", "NA", "3", "8"], ["", "5"], ["x", "x is missing"], [[3, 1], [5, 0]]),
        (["s", "", "t", "t"], ["", "s"], ["x=(missing)", "x=s", "x=t"], [[1, 0, 0], [0, 1, 0]]),
        (["1", "2", "3", "3"], ["", "5"], ["x"], [[2.5], [5]]),
        (["1", "?", "3", "8"], ["?", "5"], ["x", "x is missing"], [[3, 1], [5, 0]]),
    ],
    ids=["numbers", "categories", "in the test file alone", "mark"],
)
def test_gaps_are_filled_and_marked_by_the_training_rows(tmp_path, train, test, names, rows):
    raw = whole(tmp_path, repeated(*train), {"x": test})
    assert features(raw) == names
    assert raw.test.inputs.tolist() == rows
    note = "path: column 'x': 10 gaps become 3, and a feature marks them"
    assert (note in raw.facts["read"]) is (rows[0] == [3, 1])


@pytest.mark.parametrize("spelling", ["true", "True", "TRUE"])
def test_truth_is_one_thing_however_it_is_spelled_in_any_file(tmp_path, spelling):
    no = {"true": "false", "True": "False", "TRUE": "FALSE"}[spelling]
    test = f"x,kind\n{spelling},a\nunknown,b\n{no},b\n"
    raw = whole(tmp_path, repeated("true", "false"), test)
    assert features(raw) == ["x=False", "x=True"]
    assert raw.test.inputs.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert "test: column 'x': categories without a training row: unknown" in raw.facts["read"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["$12.50", "$1,234", "-$3", "$0.5"], [12.5, 1234, -3, 0.5]),
        (["1,234,567", "12", "-1,000.5", "7"], [1234567, 12, -1000.5, 7]),
        (["12%", "3.5 %", "0%", "100%"], [12, 3.5, 0, 100]),
        (["€5", "6 €", "£7", "8"], [5, 6, 7, 8]),
        ([" 1", "2 ", "+3", "1e2"], [1, 2, 3, 100]),
        ([1_700_000_000, 1_700_000_001, 2, 3], [1_700_000_000, 1_700_000_001, 2, 3]),
    ],
    ids=["dollars", "thousands", "per cent", "other currencies", "signs", "beyond float32"],
)
def test_numbers_may_have_signs_and_separators(tmp_path, cells, expected):
    assert values(whole(tmp_path, repeated(*cells)))[:4] == expected


@pytest.mark.parametrize(("decimal", "expected"), [(None, 1.234), (",", 1.234), (".", 1234)])
def test_decimal_mark_is_the_comma_between_semicolons_or_what_a_user_says(
    tmp_path, decimal, expected
):
    text = "x;kind\n" + "1,234;a\n5;b\n" * 9
    assert values(whole(tmp_path, text, decimal=decimal))[:2] == [expected, 5]


@pytest.mark.parametrize(
    ("suffix", "cells", "first"),
    [
        (".csv", ["1970-01-02", "2020-02-29 12:00"], "1970-01-02"),
        (".csv", ["2020-02-29T14:00:00+02:00", " 1969-12-31 "], "2020-02-29T12:00"),
        (".csv", ["2012/01/31", "2012/02/01"], "2012-01-31"),
        (".csv", ["13/12/2020", "1/2/2020"], "2020-12-13"),
        (".csv", ["12/13/2020", "1/2/2020"], "2020-12-13"),
        (".csv", ["1.2.2020 06:00", "3.4.2020"], "2020-02-01T06:00"),
        (".parquet", ["1969-12-31", "2020-02-29 12:00"], "1969-12-31"),
        (".parquet", pd.to_datetime(["2020-02-29 12:00", "1970-01-02 00:00"]), "2020-02-29T12:00"),
        (".parquet", [datetime.date(9999, 12, 31), datetime.date(1970, 1, 2)], "9999-12-31"),
    ],
)
@pytest.mark.parametrize("keys", [{}, {"dates": ["x"]}], ids=["seen", "named"])
def test_dates_become_days_since_1970(tmp_path, suffix, cells, first, keys):
    raw = whole(tmp_path, {"x": cells}, suffix=suffix, **keys)
    passed = datetime.datetime.fromisoformat(first) - datetime.datetime(1970, 1, 1)
    assert features(raw) == ["x"]
    assert values(raw)[0] == passed.total_seconds() / 86400


@pytest.mark.parametrize(("value", "filled"), [("median", 2.0), (4, 4.0), ("1970-01-08", 7.0)])
def test_missing_dates_become_a_day(tmp_path, value, filled):
    cells = ["1970-01-02", "1970-01-03", None, "1970-01-04"]
    assert values(whole(tmp_path, {"x": cells}, fill={"x": value})) == [1, 2, filled, 3]


def test_durations_are_seconds(tmp_path):
    minutes = {"x": pd.to_timedelta([1.5, 2], unit="min")}
    assert values(whole(tmp_path, minutes, suffix=".parquet")) == [90, 120]


TEXTS, TRUTH = ["x", None, "y", "x"], [True, None, False, True]
BY_KIND = {"fill": {"numbers": "median", "texts": "missing", "b": "mean"}}
BY_NAME = {"categorical": ["a"], "fill": {"b": 0, "texts": "none"}}


@pytest.mark.parametrize(
    ("soil", "keys", "fills", "second"),
    [
        (TEXTS, BY_KIND, [3.0, 4.0, "missing", 2.5], [3, 2, 1, 0, 0, 2]),
        (TRUTH, BY_NAME, ["none", 0, "none", 2.5], [0, 0, 0, 1, 2, 0, 0, 1, 2]),
    ],
)
def test_columns_of_a_kind_are_filled_and_a_single_one_wins(tmp_path, soil, keys, fills, second):
    numbers = {"a": [1, None, 3, 5], "b": [None, 2, 2, 8]}
    raw = whole(tmp_path, {**numbers, "soil": soil, "full": [1, 2, 3, 4]}, **keys)
    assert [column["fill"] for column in raw.encoding["columns"]] == fills
    assert raw.train.inputs[1].tolist() == second


def named(names, rows):
    """Return a table of `rows` rows whose column "who" has so many different texts."""
    return {"who": [f"name {row % names}" for row in range(rows)], "x": np.arange(rows) % 5}


@pytest.mark.parametrize(
    ("names", "rows", "keys", "width"),
    [
        (19, 19, {}, 19),
        (12, 20, {}, 12),
        (53, 60, {}, 53),
        (40, 40, {"categorical": ["who"]}, 40),
        (60, 60, {"rare_below": 2}, 1),
    ],
    ids=["few", "repeated", "less than 90 %", "named", "grouped"],
)
def test_texts_that_do_not_name_rows_are_categories(tmp_path, names, rows, keys, width):
    raw = whole(tmp_path, named(names, rows), **keys)
    assert len(features(raw)) == width + 1
    assert raw.train.inputs[:, :-1].sum() == rows


def test_identifiers_are_refused_all_at_once(tmp_path):
    table = {"id": [f"id {row}" for row in range(40)], **named(36, 40)}
    with pytest.raises(UserError, match=r"column 'id': .* names rows.*column 'who': .*rare_below"):
        loaded(tmp_path, table)
    assert features(loaded(tmp_path, table, drop=["id", "who"])) == ["x"]


@given(st.lists(st.sampled_from("abcde"), min_size=12, max_size=40), st.integers(2, 12))
def test_rare_categories_are_one_and_every_row_keeps_its_own(tmp_path_factory, cells, fewest):
    folder = tmp_path_factory.mktemp("rare")
    raw = whole(folder, {"x": cells}, {"x": ["a", "new"]}, rare_below=fewest)
    counts = Counter(cells)
    common = sorted(cell for cell in counts if counts[cell] >= fewest)
    rare = [len(cells) - sum(counts[cell] for cell in common)] * (len(common) < len(counts))
    assert features(raw) == [f"x={cell}" for cell in common] + ["x=(rare)"] * len(rare)
    assert raw.train.inputs.sum(axis=1).tolist() == [1] * len(cells)
    assert raw.train.inputs.sum(axis=0).tolist() == [counts[c] for c in common] + rare
    assert raw.test.inputs[1].tolist() == [0] * len(common) + [1] * len(rare)


def test_columns_that_are_left_out_may_hold_anything_or_be_missing_elsewhere(tmp_path):
    table = frame().assign(note=[None, "2020-01-31", *map(str, range(58))], empty=None)
    other = frame(seed=1)
    other.insert(0, "id", 1)
    raw = loaded(tmp_path, table, test=other.assign(empty=1), drop=["note", "wet"])
    plain = loaded(tmp_path, frame().drop(columns="wet"), test=frame(seed=1).drop(columns="wet"))
    assert raw.facts["read"] == ["left out: note, wet, empty (no cells)", *plain.facts["read"]]
    np.testing.assert_array_equal(raw.train.inputs, plain.train.inputs)
    np.testing.assert_array_equal(raw.test.inputs, plain.test.inputs)


@pytest.mark.parametrize(
    ("table", "keys", "problem"),
    [
        ({"kind": ["a", "b"] * 20}, {}, "train.csv: there is no column but the target 'kind'"),
        (repeated("1/2/2020", "3/4/2020"), {}, "nothing tells day and month apart: write"),
        (repeated("2020-01-31", "soon"), {"dates": ["x"]}, "row 3: 'soon' is no date: write 2020"),
        (repeated("a", "b"), {"fill": {"x": "mean"}}, "'x' holds category cells, mean fills none"),
        (repeated("1", "2"), {"test": {"x": ["1", "large"]}}, "row 3: 'large' is no number below"),
        (
            repeated("1", "2", "3", "12a"),
            {},
            "train.csv: column 'x': row 5: '12a' among numbers (10 such cells): missing takes it "
            'for a missing cell (missing: ["12a"]), categorical takes all cells as names',
        ),
    ],
)
def test_table_that_cannot_be_used_is_refused_in_one_line(tmp_path, table, keys, problem):
    with pytest.raises(UserError) as caught:
        whole(tmp_path, table, **keys)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("own_datasets.mine: ")
    assert "\n" not in str(caught.value)


def test_too_little_memory_is_reported_in_one_line(tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr(tabular, "encoded", full)
    own = {"kind": "tabular", "path": written(frame(), tmp_path / "t.csv"), "target": "kind"}
    with pytest.raises(UserError, match=r"\Aown_datasets\.mine: .*memory.*9 GiB; give fewer .*\Z"):
        prepare("mine", Preparation.model_validate({"own": own}), tmp_path)
