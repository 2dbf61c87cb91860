"""A user's tables as numbers: what each column becomes, what fills gaps, and what is refused."""

import datetime
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from automata.config.data import Preparation
from automata.datasets.own import tabular
from automata.datasets.prepare import prepare
from automata.errors import UserError

from .own_tables import features, loaded, whole, written


def frame(seed=0):
    random = np.random.default_rng(seed)
    columns = {
        "size": random.normal(size=60),
        "soil": random.choice(["sand", "clay", "peat"], 60),
        "wet": random.random(60) < 0.5,
        "kind": random.permutation(np.arange(60) % 3),
    }
    return pd.DataFrame(columns)


def repeated(*cells):
    """Return a table of 40 rows with these cells in turn."""
    return {"x": np.resize(np.array(cells, object), 40)}


def test_drawn_rows_never_change_the_training_rows(tmp_path):
    table = frame().assign(number=np.arange(60.0))
    table.loc[::5, "size"] = None
    before = loaded(tmp_path, table)
    number = features(before).index("number")
    drawn = np.concatenate([before.validation.inputs, before.test.inputs])[:, number].astype(int)
    table.loc[drawn, ["size", "soil"]] = [1e30, "loam"]
    np.testing.assert_array_equal(loaded(tmp_path, table).train.inputs, before.train.inputs)


def test_categories_of_parquet_have_the_same_names_with_and_without_gaps(tmp_path):
    table = pd.DataFrame({"x": [1, 2], "code": pd.Series([3, 5], dtype="category")})
    keys = {"suffix": ".parquet", "categorical": ["x"]}
    raw = whole(tmp_path, table, table[::-1].assign(x=[2.0, None]), **keys)
    assert features(raw) == ["x=1", "x=2", "code=3", "code=5"]
    assert raw.test.inputs.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]


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


def test_truth_is_one_thing_however_it_is_spelled_in_any_file(tmp_path):
    raw = whole(tmp_path, repeated("true", "False"), "x,kind\nTRUE,a\nunknown,b\nfalse,b\n")
    assert features(raw) == ["x=False", "x=True"]
    assert raw.test.inputs.tolist() == [[0, 1], [0, 0], [1, 0]]
    assert "test: x: categories without a training row: 'unknown'" in raw.facts["read"]


def day(text):
    """Return the days since 1970."""
    passed = datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1)
    return passed.total_seconds() / 86400


NUMBERS = {"$12.50": 12.5, "-$3": -3, "$-6": -6, "3.5 $": 3.5, "-1,000.5": -1000.5}
NUMBERS |= {"1,234,567": 1234567, " +3": 3, "1e2": 100, "1700000001": 1_700_000_001}
NUMBERS |= {"(1,234)": -1234, "($5)": -5, "1'234.5": 1234.5, "1\u202f234": 1234, "\u22127": -7}
SEMICOLONS, PARQUET = "x;kind\n1,234;a\n5;b\n", {"suffix": ".parquet"}
NOON, LAST = day("2020-02-29T12:00"), datetime.date(9999, 12, 31)


@pytest.mark.parametrize(
    ("table", "keys", "expected"),
    [
        ({"x": [*NUMBERS]}, {}, [*NUMBERS.values()]),
        # The decimal mark is the comma between semicolons, or what a user says.
        (SEMICOLONS, {}, [1.234, 5]),
        (SEMICOLONS, {"decimal": ","}, [1.234, 5]),
        (SEMICOLONS, {"decimal": "."}, [1234, 5]),
        (SEMICOLONS.replace(";", "\t"), {}, [1234, 5]),
        ("x\tkind\n1234,567\ta\n980,125\tb\n", {}, [1234.567, 980.125]),
        ("x\tkind\n,125\ta\n,250\tb\n", {}, [0.125, 0.25]),
        ({"x": [10**16 + 2, 3]}, PARQUET, [10**16 + 2, 3]),
        ({"x": ["1 234,5", "7,25"]}, {}, [1234.5, 7.25]),
        ({"x": ["12 kg", "1.5 kg"]}, {}, [12, 1.5]),
        ({"x": ["20°C", "-3 °C"]}, {}, [20, -3]),
        ({"x": ["12 EUR", "EUR 7"]}, {}, [12, 7]),
        ({"x": ["01-Jan-2024", "2-feb-2024"]}, {}, [day("2024-01-01"), day("2024-02-02")]),
        ({"x": ["March 3, 2021", "May 14 2021"]}, {}, [day("2021-03-03"), day("2021-05-14")]),
        ({"x": ["31.12.99", "1.1.03"]}, {}, [day("1999-12-31"), day("2003-01-01")]),
        ({"x": ["1:00 PM", "9:30 am"]}, {}, [13 / 24, 9.5 / 24]),
        ({"x": ["13:00", "6:00:00"]}, {}, [13 / 24, 6 / 24]),
        ({"x": ["2020-02-29T14:00:00+02:00", " 1969-12-31 "]}, {}, [NOON, -1]),
        ({"x": ["2012/01/31", "2012/02/01"]}, {}, [day("2012-01-31"), day("2012-02-01")]),
        ({"x": ["13/12/2020", "1/2/2020"]}, {}, [day("2020-12-13"), day("2020-02-01")]),
        ({"x": ["12/13/2020", "1/2/2020"]}, {}, [day("2020-12-13"), day("2020-01-02")]),
        ({"x": ["1.2.2020 12:00", "3.4.2020"]}, {}, [day("2020-02-01T12:00"), day("2020-04-03")]),
        ({"x": pd.to_datetime(["2020-02-29 12:00", "1970-01-02 00:00"])}, PARQUET, [NOON, 1]),
        ({"x": [LAST, datetime.date(1970, 1, 2)]}, PARQUET, [day("9999-12-31"), 1]),
        ({"x": pd.to_timedelta([1.5, 2], unit="min")}, PARQUET, [90, 120]),
    ],
)
def test_numbers_are_what_cells_say_dates_count_days_and_durations_seconds(
    tmp_path, table, keys, expected
):
    raw = whole(tmp_path, table, **keys)
    assert features(raw) == ["x"]
    assert raw.train.inputs[:, 0].tolist() == expected


def named(names, rows):
    """Return a table of `rows` rows whose column "who" has so many different texts."""
    return {"who": [f"name {row % names}" for row in range(rows)], "x": np.arange(rows) % 5}


def test_texts_that_name_rows_are_refused_all_at_once(tmp_path):
    table = {"id": [f"id {row}" for row in range(40)], **named(36, 40)}
    with pytest.raises(
        UserError, match=r"column 'id': looks like an identifier.*column 'who': .*rare_below"
    ):
        loaded(tmp_path, table)
    assert features(loaded(tmp_path, table, drop=["id", "who"])) == ["x"]
    assert len(features(whole(tmp_path, table, categorical=["id", "who"]))) == 77
    assert len(features(whole(tmp_path, table, rare_below=2, drop=["id"]))) == 5 + 1
    with pytest.raises(UserError, match="'id': rare_below: 2 makes one value of all its 28"):
        loaded(tmp_path, table, rare_below=2)
    assert len(features(whole(tmp_path, named(19, 19)))) == 19 + 1  # few
    assert len(features(whole(tmp_path, named(53, 60)))) == 53 + 1  # below 90 %


MEASURED = [f"{number / 8}" for number in range(100)]


def measured(*cells, every=30):
    """Return a table of numbers in which some cells are others."""
    table = pd.DataFrame({"x": MEASURED, "z": MEASURED[::-1]})
    if cells:
        table.loc[::every, "x"] = np.resize(cells, len(table.loc[::every]))
    return table


def dated(*cells):
    """Return a table of dates in which some cells are others."""
    days = pd.date_range("2020-01-01", periods=96).strftime("%d.%m.%Y")
    return {"x": [*days, *cells]}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (measured("inf"), "number (4 of 100 cells are gaps: 'inf'"),
        (measured("n.v.", "<1.0"), "number (4 of 100 cells are gaps: '<1.0', 'n.v.'"),
        (measured("12 kg", every=50), "number (2 of 100 cells are gaps: '12 kg'"),
        (measured("?", every=3), "number (34 of 100 cells are gaps: '?'"),
        (dated("n.b.", "2"), "date ('01.01.2020' is 2020-01-01; 2 of 98 cells are gaps: '2',"),
        (dated("?", "?"), "2 of 98 cells are gaps: '?'"),
        ({"x": ["5 kg", "6 kg"] * 20}, "x: number (unit kg)"),
        ({"x": ["1E2", "100", "7"] * 20}, "x: category (codes such as '1E2'; 3 values)"),
        ({"x": ["01", "1"] * 20}, "x: category (codes such as '01'; 2 values)"),
        ({"x": [f"{10**17 + row % 9}" for row in range(40)]}, "x: category (codes such as '10000"),
        ({"x": ["12A", "1B", "7C", "7D"] * 20}, "x: category (4 values)"),
        ({"x": ["7:05 pm", "11:30 AM"] * 20}, "x: date (a time)"),
    ],
)
def test_the_kind_of_a_column_is_said_with_its_reasons(tmp_path, table, said):
    assert any(said in note for note in loaded(tmp_path, table).facts["read"])


def test_inf_in_parquet_is_a_gap(tmp_path):
    table = measured().astype(float)
    table.loc[::50, "x"] = np.inf
    assert "2 of 100 cells are gaps: 'inf'" in loaded(tmp_path, table, ".parquet").facts["read"][0]


@pytest.mark.parametrize(
    ("training", "new", "as_training", "note"),
    [
        (["1", "2"], ["1.0", "2.0"], ["1", "2"], None),
        (["yes", "no"], ["Yes", "NO"], ["yes", "no"], "x: 'NO' is read as 'no'; 'Yes' is"),
        (["A", "a", "b"], ["B", "A"], ["b", "A"], "x: 'B' is read as 'b'"),
    ],
)
def test_categories_of_other_files_are_matched_and_said(tmp_path, training, new, as_training, note):
    raw = whole(tmp_path, repeated(*training), {"x": new}, categorical=["x"])
    expected = whole(tmp_path, repeated(*training), {"x": as_training}, categorical=["x"])
    assert raw.test.inputs.tolist() == expected.test.inputs.tolist()
    assert ([it for it in raw.facts["read"] if it.startswith("test: ")] == []) is (note is None)
    assert (note or "") in " ".join(raw.facts["read"])


def test_an_odd_cell_of_another_file_is_a_gap_and_many_are_refused(tmp_path):
    raw = loaded(tmp_path, measured(), test=measured("n.v.", every=50))
    assert "test: x: 2 of 100 cells are gaps: 'n.v.'" in raw.facts["read"]
    with pytest.raises(
        UserError, match=r"'n\.v\.' is not a number .*cells: 34, the first in row 2"
    ):
        loaded(tmp_path, measured(), test=measured("n.v.", every=3))


def test_a_number_without_the_unit_of_all_others_is_odd_in_any_file(tmp_path):
    train = {"x": [f"{number} kg" for number in range(1, 41)]}
    new = {"x": [*train["x"], "7000"]}
    raw = loaded(tmp_path, train, test=new)
    assert "test: x: 1 of 41 cells are gaps: '7000'" in raw.facts["read"]
    with pytest.raises(UserError, match="'7' is not a number as in the training file"):
        loaded(tmp_path, train, test={"x": ["7", "8"]})


def test_a_rare_category_is_not_read_as_one_that_differs_in_case(tmp_path):
    raw = whole(tmp_path, {"x": ["Yes"] * 35 + ["yes"] * 4 + ["no"] * 5}, rare_below=5)
    assert features(raw) == ["x=Yes", "x=no", "x=(rare)"]
    assert raw.train.inputs.sum(axis=0).tolist() == [35, 5, 4]


def test_the_rarest_of_very_many_categories_share_a_feature(tmp_path):
    names = [f"c{number:03}" for number in range(300) for _ in range(1 + number % 3)]
    raw = whole(tmp_path, {"x": names}, {"x": ["c002", "c297", "new"]})
    assert raw.train.inputs.shape == (600, 256)
    assert "x: category (255 values, and one for the others)" in raw.facts["read"]
    assert raw.test.inputs[:, -1].tolist() == [0, 1, 1]


def test_columns_that_are_left_out_may_hold_anything_or_be_missing_elsewhere(tmp_path):
    table = frame().assign(note=[None, "2020-01-31", *map(str, range(58))], empty=None)
    other = frame(seed=1)
    other.insert(0, "id", 1)
    raw = loaded(tmp_path, table, test=other.assign(empty=1), drop=["note", "wet"])
    plain = loaded(tmp_path, frame().drop(columns="wet"), test=frame(seed=1).drop(columns="wet"))
    left_out = {"note, wet: left out (drop)", "empty: left out: has no cells"}
    assert {*raw.facts["read"]} == {*plain.facts["read"], *left_out}
    np.testing.assert_array_equal(raw.train.inputs, plain.train.inputs)
    np.testing.assert_array_equal(raw.test.inputs, plain.test.inputs)


GOOD = repeated("1", "2")


@pytest.mark.parametrize(
    ("table", "keys", "problem"),
    [
        # The file
        ("", {}, "No columns to parse from file"),
        ("x,kind\n1,a\n1,2,3\n", {}, "Expected 2 fields in line 3, saw 3"),
        ("x,kind\n1,2,3,4\n", {}, "rows have 2 cells more than the header"),
        (b"x,kind\n\xe9,a\n", {"encoding": "utf-8"}, "it is not utf-8 (invalid continuation byte"),
        # Its classes
        ({"kind": np.arange(30) / 3}, {}, "30 different numbers, such as 0.333"),
        ({"kind": np.arange(60)}, {}, "60 different numbers, such as 0, are amounts"),
        ({"kind": [*"abbccc", *"d" * 30]}, {}, "is left for training: a, b: add rows, name a file"),
        ({"kind": ["a"] * 9}, {}, "'a' is the only class, at least 2"),
        (
            GOOD,
            {"test": {"x": [1], "kind": ["c"]}},
            "column 'kind' lacks: c; it has a, b",
        ),
        (GOOD, {"test": "x,kind\n"}, "test.csv: column 'kind': there are no rows"),
        # The column that splits the rows
        (GOOD, {"group": "who"}, "no column who, which group names; it has x, kind"),
        (GOOD, {"group": "kind"}, "mine: group: 'kind' is the target as well"),
        (GOOD, {"group": "x", "order": "x"}, "mine: order: group is given as well"),
        (repeated("p1", "p2"), {"order": "x"}, "column 'x': rows are ordered by numbers or dates"),
        (repeated("1", None), {"order": "x"}, "column 'x': missing cells: 20"),
        (repeated("p1"), {"group": "x"}, "none is left for training: a, b"),
        # Other columns
        ({"kind": ["a", "b"] * 20}, {}, "train.csv: there is no column but the target 'kind'"),
        (repeated("1/2/2020", "3/4/2020"), {}, "nothing tells day and month apart: write"),
        (
            GOOD,
            {"test": {"x": ["1", "large"]}},
            "'large' is not a number as in the training file (such cells: 1, the first in row 3)",
        ),
        (repeated("$1", "2 €"), {}, "column 'x': numbers in several units: '$', '€': write them"),
        (repeated("1 kg", "2 lb"), {}, "numbers in several units: 'kg', 'lb': write them in one"),
        (repeated("1.1.40", "1.1.80"), {}, "'1.1.40': nothing tells the century: write 2020"),
        (
            repeated("1", "2", "3", "12a"),
            {},
            "train.csv: column 'x': 10 of 40 cells are no number: '12a': missing makes them gaps "
            '(missing: ["12a"]), categorical takes all cells as names; or leave columns out (drop)',
        ),
    ],
)
def test_table_that_cannot_be_used_is_refused_in_one_line(tmp_path, table, keys, problem):
    with pytest.raises(UserError) as caught:
        loaded(tmp_path, table, **keys)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("own_datasets.mine: ")
    assert "\n" not in str(caught.value)


def test_too_little_memory_is_reported_in_one_line(tmp_path, monkeypatch):
    full = Mock(side_effect=MemoryError("Unable to allocate 9 GiB"))
    monkeypatch.setattr(tabular, "features", full)
    own = {"kind": "tabular", "path": written(frame(), tmp_path / "t.csv"), "target": "kind"}
    with pytest.raises(UserError, match=r"\Aown_datasets\.mine: .*memory.*9 GiB; give fewer .*\Z"):
        prepare("mine", Preparation.model_validate({"own": own}), tmp_path)
