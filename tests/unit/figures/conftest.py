"""Tables of made-up experiments, on disk as the commands write them, and their figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from automata.analysis.differences import COLUMNS as DIFFERENCES
from automata.analysis.ratios import ratios_to_full
from automata.analysis.study import Study
from automata.analysis.tables import write
from automata.analysis.tradeoff import tradeoff, untuned
from automata.figures.files import draw
from automata.names import METHODS
from support.synthetic import synthetic_runs, synthetic_trials

MakeStudy = Callable[..., Study]
Draw = Callable[[str, Study], Figure]

OF_SOME = ("dna", "sst5", "cifar100")


@pytest.fixture(scope="session")
def make_study(tmp_path_factory: pytest.TempPathFactory) -> MakeStudy:
    """Give a function that writes the tables of a table of runs, and of trials if asked for."""

    def make(
        runs: pd.DataFrame, differing: list[list[Any]] | None = None, trials: bool = False
    ) -> Study:
        folder = tmp_path_factory.mktemp("tables")
        ratios = ratios_to_full(runs)
        write(runs, folder / "runs.parquet")
        if trials:
            write(synthetic_trials(runs), folder / "trials.parquet")
        write({}, folder / "protocols.json")
        write(ratios, folder / "ratios.csv")
        write(tradeoff(ratios), folder / "tradeoff.csv")
        write(untuned(runs), folder / "untuned.csv")
        write(pd.DataFrame(differing or [], columns=DIFFERENCES), folder / "differences.csv")
        return Study(folder)

    return make


@pytest.fixture(scope="session")
def drawn() -> Draw:
    """Give a figure by name, of one data set as name/data set: each is drawn once."""

    @cache
    def figure(name: str, study: Study) -> Figure:
        return draw(name, study)

    return figure


@pytest.fixture(scope="session")
def whole(make_study: MakeStudy) -> Study:
    """The paper's grid with every selector that there is, two seeds."""
    return make_study(synthetic_runs(selectors=tuple(METHODS), repeats=2))


@pytest.fixture(scope="session")
def some_runs() -> pd.DataFrame:
    """Three data sets, four columns, the paper's selectors and the controls, three seeds."""
    selectors = ("full", "full-again", "untuned", "random", "adaptive-random", "rs2", "craig")
    return synthetic_runs(datasets=OF_SOME, selectors=(*selectors, "gradmatch"), repeats=3)


@pytest.fixture(scope="session")
def some(make_study: MakeStudy, some_runs: pd.DataFrame) -> Study:
    """Their tables."""
    return make_study(some_runs, trials=True)


@pytest.fixture(scope="session")
def small_runs() -> pd.DataFrame:
    """SST5 with TPE and Hyperband: FULL, AUTOMATA and RANDOM, one subset size, two seeds."""
    return synthetic_runs(
        datasets=("sst5",),
        selectors=("full", "random", "gradmatch"),
        searches=("tpe",),
        schedulers=("hyperband",),
        fractions=(0.1,),
        repeats=2,
    )


@pytest.fixture(scope="session")
def small(make_study: MakeStudy, small_runs: pd.DataFrame) -> Study:
    """Their tables."""
    return make_study(small_runs, trials=True)
