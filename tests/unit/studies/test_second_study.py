"""The statistics of the second study by hand, and its tests in their order."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from studies.hedge import verdict
from studies.hedge.verdict import SETS

LOST = np.linspace(-0.5, 0.5, len(SETS))
"""Points that a way loses against A, by data set; zero on average."""


def made_runs(gains):
    """Return runs in which way D has `gains` (sets) over A; B is as good as A."""
    rows = [
        {"set": name, "way": way, "seed": seed, "accuracy": 80.0 + seed + (way == "D") * gain}
        for name, gain in zip(SETS, gains, strict=True)
        for way in "ABCDEF"
        for seed in range(3)
    ]
    others = {"balanced accuracy": 80.0, "log loss": 0.5, "cpu seconds": 9.0}
    return pd.DataFrame(rows).assign(**others)


WALL = """set,way,slots,seconds
run-sex,A,2,8\nrun-sex,B,2,2\nrun-sex,D,2,8\nrun-sex,E,2,8
images,A,2,32\nimages,B,2,32\nimages,D,2,8\nimages,E,2,16
"""


@pytest.fixture
def printed(monkeypatch, tmp_path, capsys):
    """Return what the command prints of made-up runs."""
    monkeypatch.setattr(verdict, "PUBLISHED", tmp_path)
    monkeypatch.setattr(verdict, "FIGURE", tmp_path / "figure.png")

    def print_verdict(runs):
        by_boosting = runs["way"] == "F"
        monkeypatch.setattr(verdict, "published", lambda: runs[~by_boosting].to_dict("records"))
        runs[by_boosting].to_csv(tmp_path / "boosting.csv", index=False)
        (tmp_path / "wall.csv").write_text(WALL)
        verdict.main()
        return capsys.readouterr().out

    return print_verdict


def test_the_t_test_is_that_of_the_formula():
    x = pd.Series([0.1, -0.2, 0.4, 0.3])
    found = verdict.test(x, -0.3, "greater")
    error = math.sqrt(sum((x - 0.15) ** 2) / 3) / 2
    assert found["p"] == pytest.approx(stats.t.sf((0.15 + 0.3) / error, 3))
    assert stats.t.sf((0.15 - found["bound"]) / error, 3) == pytest.approx(0.05)
    assert (found["beyond"], found["sign p"]) == (4, 1 / 16)


@pytest.mark.parametrize(("value", "p"), [(0.1, 0.0), (0.0, 1.0)])
def test_equal_differences_pass_beyond_the_bound(value, p):
    assert verdict.test(pd.Series([value] * 3), 0.0, "greater")["p"] == p


@pytest.mark.parametrize(
    ("gain", "results"),
    [
        (1.0, ["passes", "passes", "passes"]),
        (0.0, ["passes", "does not pass", "is not tested"]),
        (-0.3, ["does not pass", "is not tested", "is not tested"]),
    ],
)
def test_a_test_counts_only_if_all_before_it_pass(printed, gain, results):
    lines = [line for line in printed(made_runs(LOST + gain)).splitlines() if line[:2] == "**"]
    assert [line.split("** ")[1].split(":")[0] for line in lines] == results


def test_written_scores_give_the_same_differences(printed, tmp_path):
    printed(made_runs(LOST))
    scores = pd.read_csv(tmp_path / "runs.csv").groupby(["set", "way"])["accuracy"].mean().unstack()
    assert [*(scores["D"] - scores["A"])[[*SETS]]] == pytest.approx(LOST)


def test_ratios_of_wall_seconds_have_geometric_means(printed):
    last = printed(made_runs(LOST)).rstrip().splitlines()[-1]
    assert last == "| 2 | geometric mean | 16 | 8 | 8 | 11.3 | 2 | 2 | 1.41 |"


def test_nobody_looks_before_all_runs_are_there(printed, tmp_path):
    with pytest.raises(SystemExit, match="1 of 204 runs are missing"):
        printed(made_runs(LOST).drop(index=0))
    assert not (tmp_path / "runs.csv").exists()
