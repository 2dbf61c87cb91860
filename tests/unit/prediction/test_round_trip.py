"""Prediction reads a table as training did, and guessed descriptions are accepted."""

import json

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from automata.config.data import Preparation
from automata.config.files import DEFAULTS, read_experiments
from automata.datasets.own.guess import guess
from automata.datasets.own.tables import read_own
from automata.datasets.own.tabular import read_rows
from automata.datasets.prepare import prepare

ROWS = 40
COLUMNS = {
    "truth": st.sampled_from(["true", "false", "TRUE", "", "unknown"]),
    "number": st.sampled_from(["1", "2.5", "-3e2", "NA", "", "1700000001", "1700000002"]),
    "money": st.sampled_from(["$1,000", "$2", "-$3.50", ""]),
    "day": st.sampled_from(["2020-01-31", "2021-12-01 06:00", ""]),
    "local": st.sampled_from(["31/12/2020", "1/2/2021", "13/1/2019"]),
    "town": st.sampled_from(["Ulm", "Åbo", "", "none", "a,b", 'say "x"']),
    "code": st.sampled_from(["007", "010", "7"]),
    "mixed": st.sampled_from(["1", "2", "x", "y"]),
}


@st.composite
def tables(draw):
    """Return some of the columns with random cells, and two classes."""
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True))
    cells = {name: draw(st.lists(COLUMNS[name], min_size=ROWS, max_size=ROWS)) for name in names}
    return pd.DataFrame({**cells, "kept": [1, 2, 3, 4] * 10, "y": ["a", "b"] * 20})


FORMS = [{}, {"sep": ";"}, {"sep": "\t", "encoding": "utf-16"}]


@given(tables(), st.sampled_from(FORMS), st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_guessed_is_accepted_and_prediction_reads_rows_as_training_did(
    tmp_path_factory, frame, form, parquet
):
    folder = tmp_path_factory.mktemp("t")

    def write(rows, name):
        path = folder / f"{name}.{'parquet' if parquet else 'csv'}"
        rows.to_parquet(path) if parquet else rows.to_csv(path, index=False, **form)
        return path

    own = guess(write(frame, "train"), "y", None).own
    read_experiments([DEFAULTS], {"datasets": ["t"], "own_datasets": {"t": own}})
    preparation = Preparation.model_validate({"own": own})
    data = prepare("t", preparation, folder)
    assert np.isfinite(data.train.inputs.numpy()).all()
    rows = read_own(preparation.own).parts["test"].rows
    new = write(frame.iloc[rows].drop(columns="y"), "new")
    encoding = json.loads(json.dumps(data.encoding))
    inputs, names, _ = read_rows(new, preparation.own, encoding)
    assert np.array_equal(inputs, data.test.inputs)
    assert names == [str(number) for number in range(1, len(rows) + 1)]
