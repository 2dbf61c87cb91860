"""What a figure says of its own evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from automata.analysis.study import Study
from automata.figures.files import draw
from drawn import note_of

MakeStudy = Callable[..., Study]

SPEEDUP = (
    "Speedup: Total time of FULL / total time of the run; totals are the search plus the final "
    "training."
)
GROW = "Markers grow with the subset: 10 %."


@pytest.fixture(scope="module")
def runs(some_runs: pd.DataFrame) -> pd.DataFrame:
    """One panel of SST5, three selectors, one subset size, three seeds: 9 runs."""
    keep = "dataset == 'sst5' and search == 'tpe' and scheduler == 'asha' and fraction in (0.1, 1)"
    return some_runs.query(keep).query("selector in ('full', 'random', 'gradmatch')")


def note(study: Study, figure: str = "tradeoff") -> str:
    return note_of(draw(f"{figure}/sst5", study))


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (1, "One seed."),
        (2, "Markers are means over 2 seeds. Bars (AUTOMATA) are the ranges over seeds."),
        (
            3,
            "Markers are means over 3 seeds. Bars (AUTOMATA) are 95 % bootstrap intervals over"
            " seeds.",
        ),
    ],
)
def test_note_says_how_many_seeds_and_what_bars_are(
    make_study: MakeStudy, runs: pd.DataFrame, seeds: int, said: str
) -> None:
    assert note(make_study(runs[runs["seed"] < seeds])) == f"{SPEEDUP} {said} {GROW}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"exclusive": False}, "Runs may have overlapped on the host."),
        ({"other_cpu_share": 0.2}, "The host was busy with other work during 9 runs."),
        ({"best_epochs": 7}, "In 3 of 3 FULL runs the best trial was stopped early."),
    ],
)
def test_note_names_what_weakens_the_runs(
    make_study: MakeStudy, runs: pd.DataFrame, changes: dict[str, Any], said: str
) -> None:
    assert note(make_study(runs.assign(**changes))).endswith(f" {said}")


@pytest.mark.parametrize(
    ("method", "source", "said"),
    [
        ("measured", "pyJoules NVML + pyJoules RAPL", "Energy: RAPL+NVML counters."),
        ("estimated", "codecarbon CPU load", "Energy: estimated from CPU time."),
    ],
)
def test_figure_of_energy_says_how_it_was_obtained(
    make_study: MakeStudy, runs: pd.DataFrame, method: str, source: str, said: str
) -> None:
    study = make_study(runs.assign(energy_method=method, energy_source=source))

    assert f"Energy ratio: Energy of FULL / energy of the run. {said} " in note(study, "energy")
    assert "nergy" not in note(study)


def test_runs_without_energy_are_counted(make_study: MakeStudy, runs: pd.DataFrame) -> None:
    runs = runs.copy()
    runs.loc[runs["selector"] == "random", ["energy_joules", "energy_method"]] = None

    assert note(make_study(runs), "energy").startswith("3 of 9 runs have no energy ratio. ")


def test_note_says_what_untuned_is(some: Study) -> None:
    said = " Untuned: 3 configurations drawn at random, trained on all data."

    assert said in note(some)


# --- how the protocol differs from the paper's --------------------------------------------------

DIFFER = "The protocol differs from the paper's in"


@pytest.mark.parametrize("name", ["tradeoff", "energy", "anytime", "time-split"])
def test_every_figure_of_a_data_set_counts_the_settings_of_its_runs_that_differ(
    make_study: MakeStudy, runs: pd.DataFrame, name: str
) -> None:
    panel, other = ["sst5", "tpe", "asha"], ["dna", "tpe", "asha"]
    rows = [[*panel, "seeds", "3", "5"], [*other, "epochs", "3", "5"], [*other, "seeds", "3", "5"]]
    twice = [*rows, [*panel, "device", "cpu", "V100"]]

    for differing, said in ((rows, f" {DIFFER} 1 setting"), (twice, f" {DIFFER} 2 settings")):
        shown = note(make_study(runs, differing, trials=True), name)
        assert shown.endswith(f"{said} (differences.csv).")


def test_own_data_are_not_compared_with_the_paper(
    make_study: MakeStudy, runs: pd.DataFrame
) -> None:
    rows = [["sst5", "tpe", "asha", "data set", "mine", "not in the paper"]]

    assert DIFFER not in note(make_study(runs, rows))
