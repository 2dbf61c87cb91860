"""Tables of made-up experiments, on disk as the commands write them, and their figures."""

from functools import cache

import pytest

from automata.figures.files import draw
from support.synthetic import EVERY, synthetic_runs
from support.tabulated import write_tables


@pytest.fixture(scope="session")
def make_study(tmp_path_factory):
    """Give a function that writes the tables of a table of runs, and of trials if asked for."""

    def make(runs, differing=(), trials=False):
        return write_tables(runs, tmp_path_factory.mktemp("tables"), differing, trials)

    return make


@pytest.fixture(scope="session")
def drawn():
    """Give a figure by name, of one data set as name/data set: each is drawn once."""
    return cache(draw)


@pytest.fixture(scope="session")
def whole(make_study):
    """The paper's grid with all selectors, two seeds."""
    return make_study(synthetic_runs(selectors=EVERY, repeats=2))


@pytest.fixture(scope="session")
def some_runs():
    """Three data sets, four columns, the paper's selectors and the controls, three seeds."""
    selectors = ("full", "full-again", "untuned", "random", "adaptive-random", "rs2", "craig")
    datasets = ("dna", "sst5", "cifar100")
    return synthetic_runs(datasets=datasets, selectors=(*selectors, "gradmatch"), repeats=3)


@pytest.fixture(scope="session")
def some(make_study, some_runs):
    """Their tables."""
    return make_study(some_runs, trials=True)


@pytest.fixture(scope="session")
def small_runs(some_runs):
    """SST5 with TPE and Hyperband: FULL, AUTOMATA and RANDOM, one subset size, three seeds."""
    panel = "dataset == 'sst5' and search == 'tpe' and scheduler == 'hyperband'"
    few = "fraction in (0.1, 1) and selector in ('full', 'random', 'gradmatch')"
    return some_runs.query(f"{panel} and {few}").reset_index(drop=True)


@pytest.fixture(scope="session")
def small(make_study, small_runs):
    """Their tables."""
    return make_study(small_runs, trials=True)
