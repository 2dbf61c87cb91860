"""The columns of the table of runs: each is defined once, with its type and what it means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from automata.analysis.ratios import FACTS, PAIR, SAME, SAME_ENERGY
from automata.analysis.runs import RunRow, row
from automata.analysis.study import RUN
from automata.config.sections import Comparison
from automata.records import Record

MakeRecord = Callable[..., Record]

TYPES = get_type_hints(RunRow)


def test_row_has_every_column_in_the_order_of_its_definition(make_record: MakeRecord) -> None:
    assert list(row(make_record(), Path("r.json"), Comparison())) == list(TYPES)


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
def test_columns_that_ratios_rest_on_are_columns_of_runs(columns: list[str]) -> None:
    assert set(columns) <= set(TYPES)
