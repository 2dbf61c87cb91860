"""The benchmark for GPU machines needs few packages and computes what our jobs compute."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.gpu.variants import VARIANTS, training_run
from benchmarks.workloads import images

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
