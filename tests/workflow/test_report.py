"""Snakemake's own report: complete, with captions, and in one file."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from automata.views import FIGURES, figures

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report(finished):
    """The text of the finished experiment's report."""
    path = finished.folder / "report.html"
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "workflow/Snakefile"]
    command += ["--directory", finished.folder, "--configfile", ROOT / "config/smoke.yaml"]
    command += ["--report", path]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    text = path.read_text()
    path.unlink()
    return text


CAPTIONS = {view.name: view.caption for view in FIGURES.values()}
CAPTIONS["page"] = (ROOT / "workflow/report/page.rst").read_text()
DRAWN = figures({("dna", "random", "hyperband"): ["full", "gradmatch"]})


@pytest.mark.parametrize("name", [*DRAWN, "page"])
def test_every_result_has_its_caption(report, name):
    words = " ".join(CAPTIONS[name.partition("/")[0]].split())
    shown = " ".join(re.sub(r"\\n|\\u2019", " ", report).replace("\\u0027", "'").split())
    start = words[:40].replace("'", "&#x27;")
    assert words[:40] in shown or start in shown


@pytest.mark.parametrize(
    "category", ["The paper's figures", "Beyond the paper", "Data sets", "Page"]
)
def test_results_are_in_categories(report, category):
    assert category in report
