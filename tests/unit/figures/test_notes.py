"""What a figure says of its own evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.figures.dataset import dataset_figure
from automata.views import draw
from benchmarks.synthetic import synthetic_runs
from drawn import note_of

MakeTables = Callable[..., Study]

OF_ENERGY = ["energy_ratio", "co2_measured_ratio"]


@pytest.fixture(scope="module")
def runs(some_runs: pd.DataFrame) -> pd.DataFrame:
    """SST5 with TPE and ASHA, four selectors, three seeds: 39 runs."""
    keep = (some_runs["dataset"] == "sst5") & (some_runs["search"] == "tpe")
    keep &= some_runs["scheduler"] == "asha"
    return some_runs[keep & some_runs["selector"].isin(["full", "random", "craig", "gradmatch"])]


def note(tables: Study, ratio: str = "speedup") -> str:
    return note_of(dataset_figure(tables, "sst5", ratio))


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (1, "1 seed; numbers"),
        (2, "2 seeds; dots: seeds, bars: range; numbers"),
        (3, "3 seeds; dots: seeds, bars: 95 % bootstrap interval; numbers"),
    ],
)
def test_note_says_how_many_seeds_and_what_bars_are(
    make_tables: MakeTables, runs: pd.DataFrame, seeds: int, said: str
) -> None:
    assert note(make_tables(runs[runs["seed"] < seeds])) == f"{said}: subset size in %; {BEST}"


BEST = "shaded corner: best"


def test_note_of_panels_with_different_repeats_says_from_how_many_to_how_many(
    make_tables: MakeTables,
) -> None:
    repeats = {"sst5": 5, "trec6": 3, "cifar10": 2}
    runs = [
        synthetic_runs(datasets=(name,), searches=("tpe",), fractions=(0.1,), repeats=count)
        for name, count in repeats.items()
    ]
    said = "2 to 5 seeds; dots: seeds, bars: 95 % bootstrap interval (range of 2 seeds);"

    assert said in note_of(draw("main", make_tables(pd.concat(runs))))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exclusive": False}, "runs may have overlapped on the host"),
        ({"other_cpu_share": 0.2}, "host was busy with other work in 39 runs"),
        ({"best_epochs": 7}, "FULL's best trial ended before T (3 of 3)"),
    ],
)
def test_note_names_what_weakens_the_runs(
    make_tables: MakeTables, runs: pd.DataFrame, changes: dict[str, Any], said: str
) -> None:
    assert note(make_tables(runs.assign(**changes))).endswith(f"; {said}")
    assert said not in note(make_tables(runs))


@pytest.mark.parametrize("ratio", OF_ENERGY)
@pytest.mark.parametrize(
    ("method", "source", "said"),
    [
        ("measured", "pyJoules NVML + pyJoules RAPL", "energy: RAPL+NVML counters;"),
        ("estimated", "codecarbon CPU load", "energy: estimated from CPU time;"),
    ],
)
def test_figure_made_of_estimates_says_so(
    make_tables: MakeTables, runs: pd.DataFrame, ratio: str, method: str, source: str, said: str
) -> None:
    tables = make_tables(runs.assign(energy_method=method, energy_source=source))

    assert said in note(tables, ratio)
    assert "energy" not in note(tables)


def test_note_names_all_ways_in_which_energy_was_obtained(
    make_tables: MakeTables, runs: pd.DataFrame
) -> None:
    runs = runs.copy()
    runs.loc[runs["seed"] == 1, "energy_method"] = "measured"
    runs.loc[runs["seed"] == 1, "energy_source"] = "pyJoules RAPL"

    said = "energy: RAPL counters, estimated from CPU time;"
    assert said in note(make_tables(runs), "energy_ratio")


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        ("co2_measured_ratio", "CO2 = energy x PUE x intensity: equals the energy ratio;"),
        ("co2_time_ratio", "CO2 = time x TDP x intensity: equals the speedup;"),
    ],
)
def test_note_says_that_co2_is_its_source_again(
    make_tables: MakeTables, runs: pd.DataFrame, ratio: str, said: str
) -> None:
    assert said in note(make_tables(runs), ratio)


@pytest.mark.parametrize("ratio", OF_ENERGY)
def test_runs_without_energy_are_counted(
    make_tables: MakeTables, runs: pd.DataFrame, ratio: str
) -> None:
    runs = runs.copy()
    runs.loc[runs["selector"] == "craig", ["energy_joules", "energy_method"]] = None

    assert note(make_tables(runs), ratio).startswith("12 of 39 runs without an energy ratio; ")


def test_note_says_what_untuned_is(some: Study) -> None:
    said = "untuned: 3 configurations drawn at random, median (line), best to worst (band)"

    assert said in note(some)


def differing(*rows: tuple[str, Any, Any], dataset: str = "sst5") -> list[list[Any]]:
    """Return rows of the table of differences, of the panel of `runs`."""
    return [[dataset, "tpe", "asha", *row] for row in rows]


def test_note_says_how_the_protocol_differs_from_the_papers(
    make_tables: MakeTables, runs: pd.DataFrame
) -> None:
    rows = differing(("epochs", "5", "20"), ("model", "gru", "lstm"), ("device", "none", "GPU"))

    assert note(make_tables(runs, rows)).endswith(
        "; not the paper's protocol: epochs 5 (20), model gru (lstm), device none (GPU)"
    )


def test_difference_of_several_panels_is_told_once_and_each_value_of_it(
    make_tables: MakeTables, some_runs: pd.DataFrame
) -> None:
    rows = differing(("epochs", 5, 20)) + differing(("epochs", 5, 300), dataset="cifar100")
    rows += [[*row[:2], "hyperband", *row[3:]] for row in rows]

    said = "; not the paper's protocol: epochs 5 (20) on SST5 or 5 (300) on CIFAR100"
    assert note_of(draw("main", make_tables(some_runs, rows))).endswith(said)


def test_what_differs_in_all_data_sets_that_were_run_names_none(
    make_tables: MakeTables, some_runs: pd.DataFrame
) -> None:
    rows = differing(("seeds", 3, 5), ("vectors", 50, 300))
    rows += differing(("seeds", 3, 5), dataset="cifar100")

    said = "; not the paper's protocol: seeds 3 (5), vectors 50 (300) on SST5"
    assert note_of(draw("main", make_tables(some_runs, rows))).endswith(said)


def test_differences_of_panels_not_drawn_are_not_told(
    make_tables: MakeTables, some_runs: pd.DataFrame
) -> None:
    rows = differing(("epochs", 5, 300), dataset="cifar100")

    assert "protocol" not in note(make_tables(some_runs, rows))


def test_many_differences_are_counted(make_tables: MakeTables, runs: pd.DataFrame) -> None:
    rows = differing(*((f"key{i}", 1, 2) for i in range(13)))

    assert note(make_tables(runs, rows)).endswith("key9 1 (2), and 3 more")


def test_long_values_are_cut(make_tables: MakeTables, runs: pd.DataFrame) -> None:
    rows = differing(("search space", "x" * 60, "lstm"))

    assert note(make_tables(runs, rows)).endswith(f"search space {'x' * 21}... (lstm)")
