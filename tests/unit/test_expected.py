"""Hours, energy and disk that an experiment is expected to take."""

import re
from pathlib import Path

import pandas as pd

from automata.config.files import DEFAULTS, read_experiments
from automata.grid import Grid
from automata.outputs import expected

ROOT = Path(__file__).parents[2]


def numbers(name):
    """Return hours, kWh and GB of a shipped configuration."""
    lines = expected(Grid(read_experiments([DEFAULTS, ROOT / "config" / name]), []))
    return [float(re.search(r"about ([\d.]+)", line)[1]) for line in lines]


def test_published_runs_took_what_is_expected_of_them(monkeypatch):
    monkeypatch.chdir(ROOT)
    runs = pd.read_csv("results/reference/protocol/tables/runs.csv")
    hours, kwh, disk = numbers("reference/protocol.yaml")
    took = (runs["total_seconds"] + runs["setup_seconds"]).sum() / 3600
    assert took / 1.3 < hours < took * 1.3
    used = runs["energy_joules"].sum() / 3.6e6
    assert used / 1.6 < kwh < used * 1.6
    assert 0.9 < disk < 1.3


def test_images_are_on_a_gpu():
    hours, kwh, _ = numbers("image.yaml")
    assert 0.2 < kwh / hours < 0.3


def test_nothing_is_told_of_own_data_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x,y\n1,a\n")
    own = {"mine": {"kind": "tabular", "path": "t.csv", "target": "y"}}
    parts = read_experiments([DEFAULTS], {"datasets": ["mine"], "own_datasets": own})
    assert expected(Grid(parts, [])) == []
