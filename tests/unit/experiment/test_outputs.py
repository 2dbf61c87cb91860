"""The expected cost of an experiment."""

import re
from pathlib import Path

import pandas as pd
import pytest

from automata.config.files import DEFAULTS, read_experiments
from automata.experiment.grid import Grid
from automata.experiment.outputs import Outputs, expected, never_stopped
from automata.files import write_text

ROOT = Path(__file__).parents[3]


def test_expectation_is_near_what_published_runs_took(monkeypatch):
    monkeypatch.chdir(ROOT)
    lines = expected(Grid(read_experiments([DEFAULTS, Path("config/reference/protocol.yaml")]), []))
    hours, watt_hours = (float(re.search(r"about ([\d.]+) (h|Wh)\b", line)[1]) for line in lines)
    runs = pd.read_csv("results/reference/protocol/tables/runs.csv")
    measured_hours = (runs["total_seconds"] + runs["setup_seconds"]).sum() / 3600
    measured_watt_hours = runs["energy_joules"].sum() / 3600
    assert measured_hours / 1.3 < hours < measured_hours * 1.3
    assert measured_watt_hours / 1.6 < watt_hours < measured_watt_hours * 1.6


def test_own_data_has_no_expectation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x,y\n1,a\n")
    own = {"mine": {"kind": "tabular", "path": "t.csv", "target": "y"}}
    parts = read_experiments([DEFAULTS], {"datasets": ["mine"], "own_datasets": own})
    assert expected(Grid(parts, [])) == []


@pytest.mark.parametrize(
    ("archive", "files"),
    [
        ("results/reference/protocol/records.tar.xz", "config/reference/protocol.yaml"),
        ("mine/records.tar.xz", "again.yaml"),
    ],
)
def test_published_runs_are_made_again_by_their_own_configuration(
    tmp_path, monkeypatch, archive, files
):
    monkeypatch.chdir(tmp_path)
    write_text(Path(archive), "")
    grid = Grid(read_experiments([DEFAULTS], {"archives": [archive]}), [])
    assert Outputs(grid).configfiles([Path("again.yaml")]) == [files]


NEVER = [("hyperband", 3, 3), ("hyperband", 3, 4), ("sha", 1, 9), ("asha", 9, 1), ("asha", 1, 9)]
"""The last bracket of the second, of one trial, ends before T."""
STOP = [("hyperband", 4, 3), ("asha", 2, 9), ("one-epoch", 3, 9), ("none", 3, 3)]
"""`none` stops no trial, which surprises nobody."""


@pytest.mark.parametrize(("scheduler", "configurations", "epochs"), NEVER + STOP)
def test_scheduler_that_can_stop_no_trial_is_named(scheduler, configurations, epochs):
    size = {"configurations": configurations, "epochs": epochs}
    axes = {"schedulers": [scheduler], "selectors": ["full"], "protocol": {"tabular": size}}
    text = f"satimage: {scheduler} stops no trial of a search of {configurations} configurations"
    found = never_stopped(Grid(read_experiments([DEFAULTS], axes), []))
    expected = [f"{text} and {epochs} epochs"]
    assert found == expected * ((scheduler, configurations, epochs) in NEVER)
