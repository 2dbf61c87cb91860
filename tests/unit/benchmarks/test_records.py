"""Made-up records are records, and say what the made-up tables say."""

import pandas as pd
import pytest

from automata.analysis.collect import collect, record_files
from automata.config.sections import Comparison
from benchmarks.grids import GRIDS, paper
from benchmarks.records import made_up_record, settings_of_run, write_records
from benchmarks.synthetic import synthetic_runs

RUN = ["dataset", "search", "scheduler", "selector", "fraction", "seed"]
SAME = [*RUN, "tuning_seconds", "total_seconds", "test_accuracy", "epochs", "energy_joules"]


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """The tables of the records of one seed, of every data set of the paper."""
    folder = tmp_path_factory.mktemp("records")
    assert write_records(folder, GRIDS[572]) == 572
    return collect(record_files([folder]), Comparison())


def test_they_are_the_runs_of_the_synthetic_table(collected):
    runs = synthetic_runs(repeats=1).sort_values(RUN, ignore_index=True)
    pd.testing.assert_frame_equal(collected.runs[SAME], runs[SAME], check_dtype=False)


def test_epochs_are_those_of_hyperband(collected):
    trials = collected.trials.query("dataset == 'dna' and scheduler == 'hyperband'")
    epochs = trials.groupby(["record", "index"])["epoch"].max().groupby("record").sum()
    assert set(epochs) == {2982}  # README: 27 configurations at T = 200


def test_they_say_that_they_are_made_up():
    row = synthetic_runs(datasets=("dna",), repeats=1).to_dict("records")[0]
    record = made_up_record(row, settings_of_run(paper(), row))
    assert "made up" in record.data.source
    assert record.provenance["host"] == "made-up"
