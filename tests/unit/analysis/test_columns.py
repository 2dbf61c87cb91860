"""The columns of the table of runs: each is defined once, with its type and its getter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from automata.analysis.ratios import FACTS, PAIR, SAME, SAME_ENERGY
from automata.analysis.runs import TYPES, RunRow, row, table
from automata.analysis.study import RUN
from automata.config.sections import Comparison
from automata.records import Record

MakeRecord = Callable[..., Record]


@pytest.mark.parametrize("energy", [900.0, None])
def test_values_are_of_the_types_of_their_columns(
    make_record: MakeRecord, energy: float | None
) -> None:
    made = row(make_record(tuning_joules=energy), Path("r.json"), Comparison())
    wrong = {
        column: value
        for column, value in made.items()
        if type(value) not in (get_args(TYPES[column]) or (TYPES[column],))
    }
    assert wrong == {}


@pytest.mark.parametrize("columns", [RUN, PAIR, SAME, SAME_ENERGY, FACTS])
def test_columns_that_ratios_read_are_columns_of_runs(columns: list[str]) -> None:
    assert set(columns) <= set(TYPES)


def test_numbers_that_no_row_has_are_a_column_of_numbers(make_record: MakeRecord) -> None:
    made = row(make_record(tuning_joules=None), Path("r.json"), Comparison())
    assert table([made])["energy_joules"].dtype == "float64"


def test_a_row_has_its_values_as_attributes(make_record: MakeRecord) -> None:
    made = RunRow(row(make_record(), Path("r.json"), Comparison()))
    assert (made.total_seconds, made.selector) == (60.0, "gradmatch")
