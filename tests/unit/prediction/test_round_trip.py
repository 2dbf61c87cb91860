"""A table of any columns, spelled as files are, is predicted as its file says and was prepared."""

import datetime
from itertools import cycle, islice

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from automata.config.data import Preparation
from automata.config.files import DEFAULTS, read_experiments
from automata.datasets.own.columns import Column
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from automata.prediction.predict import load
from automata.training.evaluation import evaluate
from support.keeping import keep

ROWS = 40
FORMS = [
    {"sep": ","},
    {"sep": ", "},
    {"sep": ";"},
    {"sep": "\t", "encoding": "utf-16"},
    {"sep": ",", "above": "# device: 7\n"},
    {"sep": ";", "above": "Measurements\n\n"},
    {"parquet": True},
]
CLASSES = [
    ["01", "1", "2"],
    ["1E2", "100", "7"],
    ["100000000000000001", "100000000000000002"],
    ["1.0", "2.0", "10.0"],
    ["1.5", "2.0", "2.5"],
    ["-1", "0", "1"],
    ["TRUE", "FALSE"],
    ["yes", "Yes", "no"],
    ["\u0141\u00f3d\u017a", "a,b", 'say "x"'],
    ["2020-01-31", "31.1.2020"],
    ["$5", "5 $", "5"],
]
WHOLE = st.integers(-50, 50)
LARGE = st.integers(1000, 999_999)
DAYS = st.dates(datetime.date(1990, 1, 1), datetime.date(2029, 12, 31))
TIMES = st.times().map(lambda time: time.replace(second=0, microsecond=0))


def dated(form):
    return DAYS, lambda day: day.strftime(form)


KINDS = {
    "whole": (WHOLE, str),
    "half": (WHOLE.map(lambda number: number / 2), str),
    "exponent": (WHOLE.filter(bool), lambda number: f"{number / 8:e}"),
    "comma": (WHOLE, lambda number: f"{number / 4:.2f}".replace(".", ",")),
    "thousands": (LARGE, lambda number: f"{number:,}"),
    "blanks": (LARGE, lambda number: f"{number:,}.5".replace(",", " ").replace(".", ",")),
    "swiss": (LARGE, lambda number: f"{number:,}.50".replace(",", "'")),
    "money": (WHOLE, lambda number: f"-${-number}" if number < 0 else f"${number}"),
    "losses": (WHOLE, lambda number: f"({-number})" if number < 0 else str(number)),
    "weight": (WHOLE, lambda number: f"{number / 2} kg"),
    "share": (WHOLE, lambda number: f"{number} %"),
    "code": (st.sampled_from(["007", "010", "7", "1E2", "100"]), str),
    "long": (st.integers(0, 30), lambda number: f"{10**17 + number}"),
    "truth": (st.sampled_from(["true", "FALSE"]), str),
    "town": (st.sampled_from(["Ulm", "\u00c5bo", "a,b", 'say "x"', "two words", "-5-"]), str),
    "seat": (st.sampled_from([f"{row}{seat}" for row in (1, 2, 30) for seat in "ABCD"]), str),
    **{form: dated(form) for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d-%b-%Y", "%y-%m-%d")},
    "time": (TIMES, lambda time: time.strftime("%I:%M %p")),
}
ODD = ["", "NA", "?", "n.v.", "<1", "inf"]


@st.composite
def tables(draw):
    """Return the values of some columns with gaps as None, their cells as texts, and classes."""
    names = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True))
    values, cells = {}, {}
    for name in names:
        kind, spell = KINDS[name]
        values[name] = draw(st.lists(kind, min_size=ROWS, max_size=ROWS))
        cells[name] = [*map(spell, values[name])]
        for row in draw(st.lists(st.integers(0, ROWS - 1), max_size=2)):
            values[name][row], cells[name][row] = None, draw(st.sampled_from(ODD))
    classes = [*islice(cycle(draw(st.sampled_from(CLASSES))), ROWS)]
    cells |= {"kept": [*"1234"] * 10, "y": draw(st.permutations(classes))}
    return values, pd.DataFrame(cells)


def write(frame, path, sep=",", encoding="utf-8", above="", parquet=False):
    """Write a table as programs do; a blank behind the separator is no part of a cell."""
    if parquet:
        frame.to_parquet(path)
        return
    with path.open("w", encoding=encoding, newline="") as file:
        file.write(above)
        for row in (frame.columns, *frame.itertuples(index=False)):
            quoted = [f'"{it}"' if set(sep + '",') & set(it) else it for it in escaped(row)]
            file.write(sep.join(quoted) + "\r\n")


def escaped(row):
    return [cell.replace('"', '""') for cell in row]


@given(tables(), st.sampled_from(FORMS))
@settings(
    max_examples=500 if settings.get_current_profile_name() == "thorough" else 40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_predictions_of_the_training_file_are_its_classes_and_have_the_records_accuracy(
    tmp_path_factory, table, form
):
    folder, (values, frame) = tmp_path_factory.mktemp("t"), table
    suffix = "parquet" if "parquet" in form else "csv"
    files = [folder / f"{name}.{suffix}" for name in ("train", "validation", "test")]
    for file in files:
        write(frame, file, **form)
    guessed = guess(files[0], "y", None)
    own = {**guessed.own, "validation": str(files[1]), "test": str(files[2])}
    read_experiments([DEFAULTS], {"datasets": ["t"], "own_datasets": {"t": own}})
    preparation = Preparation.model_validate({"own": own})
    data = prepare("t", preparation, folder)

    assert {*data.metadata["class_names"]} == {*frame["y"]}
    model, _ = keep(data, preparation, folder / "model.safetensors")
    predicted = load(folder / "model.safetensors").table(files[0])["prediction"]
    accuracy = (predicted == frame["y"]).mean()
    assert accuracy == pytest.approx(evaluate(model, data.train).accuracy)

    columns = [Column(**column) for column in data.encoding["columns"]]
    owners = np.repeat([it.name for it in columns], [len(it.features) for it in columns])
    deviations = data.train.inputs.numpy().std(axis=0)
    for name, of_rows in values.items():
        if len({*of_rows} - {None}) > 1 and name not in own.get("drop", []):
            assert deviations[owners == name].any(), name
