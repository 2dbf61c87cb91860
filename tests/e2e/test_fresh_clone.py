"""README's commands in an empty folder, as a new user types them, in a clone and by the wheel."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from support.readme import block_of

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone in which `make reproduce` has run."""
    folder = tmp_path_factory.mktemp("fresh") / "automata"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    call(folder, "make reproduce")
    return folder


def call(folder, commands):
    """Run commands of a shell in the virtual environment of `folder`; return what they print."""
    outside = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    parts = [p for p in outside["PATH"].split(os.pathsep) if not p.startswith(str(ROOT / ".venv"))]
    outside["PATH"] = os.pathsep.join([f"{folder}/.venv/bin", *parts])
    shown = subprocess.run(
        ["bash", "-e", "-c", commands], cwd=folder, env=outside, capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stdout[-2000:] + shown.stderr[-2000:]
    return shown.stdout + shown.stderr


def test_it_runs_every_combination_once_and_ends_with_a_page_and_figures(clone):
    assert (clone / "results/default/index.html").exists()
    assert (clone / "results/default/figures/tradeoff/satimage.pdf").exists()
    runs = pd.read_csv(clone / "results/default/tables/runs.csv")
    assert len(runs) == 34
    assert (runs["test_accuracy"] > 0.5).all()  # the largest class has 461 of 2000 rows


def test_ratios_of_cpu_seconds_are_plausible(clone):
    """Those of wall seconds depend on what else the machine does."""
    table = pd.read_csv(clone / "results/default/tables/tradeoff.csv")
    table = table[table["selector"] != "full-again"]  # which is the timing noise itself
    highest = table[["ceiling", "final_ceiling"]].max(axis=1)
    assert not (table["cpu_ratio"] > 1.25 * highest).any()
    rows = table[(table["selector"] == "gradmatch") & (table["fraction"] == 0.05)]
    assert (rows["cpu_ratio"] > 1).all()


def test_the_wheel_runs_readmes_commands_for_own_data_outside_a_checkout(tmp_path):
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", tmp_path, ROOT], check=True)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / ".venv"], check=True)
    call(tmp_path, f"pip install --quiet *.whl --constraint {ROOT}/requirements.lock")
    table, new, _, predict = block_of("automata new")
    told = call(tmp_path, f"{table}\n{new}")
    (snakemake,) = re.findall("snakemake --cores all .*", told)  # names the wheel's Snakefile
    assert "results/flowers/best.yaml" in call(tmp_path, f"{snakemake}\n{predict}")
    flowers = pd.read_csv(tmp_path / "flowers.csv")
    predicted = pd.read_csv(tmp_path / "predictions.csv")["prediction"]
    assert (predicted == flowers["species"]).mean() > 0.9
