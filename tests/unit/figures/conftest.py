"""Tables of made-up experiments, on disk as the commands write them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.figure import Figure

from automata.analysis.ratios import ratios_to_full
from automata.analysis.study import Study
from automata.analysis.tables import write_csv, write_parquet
from automata.analysis.tradeoff import tradeoff, untuned
from automata.config import Carbon
from automata.selection import SELECTORS
from automata.views import draw
from benchmarks.synthetic import synthetic_runs

mpl.use("Agg")

MakeTables = Callable[..., Study]
DrawOnce = Callable[[str, Study], Figure]

CARBON = Carbon(
    grams_per_kwh=360.0, region="here", year=2023, source="us", tdp_watts=250.0, tdp_source="us"
)
DIFFERENCES = ["dataset", "search", "scheduler", "key", "here", "paper"]


@pytest.fixture(scope="session")
def make_tables(tmp_path_factory: pytest.TempPathFactory) -> MakeTables:
    """Give a function that writes the tables of a table of runs."""

    def make(
        runs: pd.DataFrame, differing: list[list[Any]] | None = None, **tradeoffs: Any
    ) -> Study:
        folder = tmp_path_factory.mktemp("tables")
        ratios = ratios_to_full(runs, CARBON)
        write_parquet(runs, folder / "runs.parquet")
        write_csv(ratios, folder / "ratios.csv")
        write_csv(tradeoff(ratios).assign(**tradeoffs), folder / "tradeoff.csv")
        write_csv(untuned(runs), folder / "untuned.csv")
        write_csv(pd.DataFrame(differing or [], columns=DIFFERENCES), folder / "differences.csv")
        return Study(folder)

    return make


@pytest.fixture(scope="session")
def draw_once() -> DrawOnce:
    """Give `draw` with a memory, for tests that only look at a figure."""
    return cache(draw)


@pytest.fixture(scope="session")
def whole(make_tables: MakeTables) -> Study:
    """The paper's grid with every selector that there is, two seeds."""
    return make_tables(synthetic_runs(selectors=tuple(SELECTORS), repeats=2))


@pytest.fixture(scope="session")
def some_runs() -> pd.DataFrame:
    """Two data sets, four columns, the paper's selectors and the controls, three seeds."""
    selectors = ("full", "full-again", "untuned", "random", "rs2", "craig", "gradmatch")
    return synthetic_runs(datasets=("sst5", "cifar100"), selectors=selectors, repeats=3)


@pytest.fixture(scope="session")
def some(make_tables: MakeTables, some_runs: pd.DataFrame) -> Study:
    """Their tables."""
    return make_tables(some_runs)


@pytest.fixture(scope="session")
def one_seed(make_tables: MakeTables) -> Study:
    """SST5 with TPE, one seed."""
    return make_tables(synthetic_runs(datasets=("sst5",), searches=("tpe",), repeats=1))
