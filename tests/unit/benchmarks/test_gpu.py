"""The benchmark for GPU machines needs few packages and computes what our jobs compute."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from automata.errors import UserError
from benchmarks.gpu import proof
from benchmarks.gpu.checks import CHECKS, Finding
from benchmarks.gpu.variants import VARIANTS, training_run
from benchmarks.workloads import images
from pretence import pretended_cuda

ROOT = Path(__file__).parents[3]
WITH_FEW_PACKAGES = """
import runpy, sys

MISSING = ("ray", "hyperopt", "snakemake", "pyJoules", "codecarbon", "pynvml", "psutil", "pandas",
           "matplotlib", "seaborn", "sklearn", "nltk", "PIL", "pooch", "requests", "filelock",
           "threadpoolctl", "apricot", "numba")
sys.modules.update(dict.fromkeys(MISSING))  # importing them fails now
runpy.run_module("benchmarks.gpu", run_name="__main__", alter_sys=True)
"""


@pytest.mark.slow
def test_runs_with_few_packages(tmp_path):
    arguments = ["--quick", "--device", "cpu", "--results", str(tmp_path)]
    subprocess.run([sys.executable, "-c", WITH_FEW_PACKAGES, *arguments], cwd=ROOT, check=True)
    (table,) = tmp_path.glob("*.csv")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    eager = [name for name, variant in VARIANTS.items() if not variant.compute.compiled]
    assert [row["variant"] for row in rows] == [*eager, "plain eager loop"]
    assert all(float(row["full epoch s"]) > 0 for row in rows)


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_train_the_same_model(name):
    workload, device = images(20, size=8), torch.device("cpu")
    inputs = torch.randn(4, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    plain = training_run(workload, VARIANTS["plain"], device, 10).model.eval()
    other = training_run(workload, VARIANTS[name], device, 10).model.eval()
    torch.testing.assert_close(other(inputs), plain(inputs), rtol=1e-4, atol=1e-5)


# make gpu


@pytest.fixture
def checks(monkeypatch):
    """Checks of which one fails until it is mended, and the names of those that were made."""
    made, mended = [], []

    def good(place):
        made.append("good")
        return Finding(True, "fine")

    def bad(place):
        made.append("bad")
        if not mended:
            raise UserError("no such thing")
        return Finding(True, "mended", [{"ms": 1.5}])

    two = {"good": (good, False), "bad": (bad, False), "hard": (good, True)}
    monkeypatch.setattr(proof, "CHECKS", two)
    return made, mended


def proven(folder, *arguments):
    """Return the exit status of `make gpu` on the pretence, and its report."""
    with pretended_cuda(), pytest.raises(SystemExit) as end:
        proof.main(["--pretended", "--results", str(folder), *arguments])
    return end.value.code, (folder / "nvidia-pretended/report.md").read_text()


def test_a_call_goes_on_with_what_was_not_as_it_should_be(checks, tmp_path):
    made, mended = checks
    status, report = proven(tmp_path)
    assert status
    assert "| bad | not as it should be | no such thing |" in report
    assert "| hard | not run | this takes a GPU of hardware | - |" in report
    mended.append(True)
    status, report = proven(tmp_path)
    assert not status
    assert made == ["good", "bad", "bad"]
    assert "## Bad\n\n| ms |\n| --- |\n| 1.5 |" in report


def test_nothing_is_begun_when_the_time_is_over(checks, tmp_path):
    status, report = proven(tmp_path, "--minutes", "0")
    assert (status, checks[0]) == (False, [])
    assert "| good | not run | no time was left: call again | - |" in report


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_one_line_says_so(tmp_path):
    with pytest.raises(SystemExit, match=r"^make gpu: compute\.device: cuda: torch sees no GPU"):
        proof.main(["--results", str(tmp_path)])


@pytest.mark.slow
def test_all_of_it_runs_to_its_end_on_the_pretended_gpu(tmp_path):
    tests = ROOT / "tests"
    path = {"PYTHONPATH": os.pathsep.join([str(tests / "pretended"), str(tests)])}
    command = [sys.executable, "-m", "benchmarks.gpu.proof", "--quick", "--pretended"]
    subprocess.run(
        [*command, "--results", str(tmp_path)], cwd=ROOT, env={**os.environ, **path}, check=True
    )
    report = (tmp_path / "nvidia-pretended/report.md").read_text()
    assert report.count("| as it should be |") == len(CHECKS) - 2
