"""Snakemake's own report: complete, with captions, and in one file."""

import re

from automata.views import FIGURES, figures

from .conftest import ROOT, snakemake

CAPTIONS = {view.name: view.caption for view in FIGURES.values()}
CAPTIONS["page"] = (ROOT / "workflow/report/page.rst").read_text()
DRAWN = figures({("dna", "random", "hyperband"): ["full", "gradmatch"]})
CATEGORIES = ["The paper's figures", "Beyond the paper", "Data sets", "Page"]


def test_report_has_every_result_with_its_caption_in_its_category(finished, tmp_path):
    file = tmp_path / "report.html"
    snakemake(finished.folder, "--configfile", ROOT / "config/smoke.yaml", "--report", file)
    report = file.read_text()
    assert [category for category in CATEGORIES if category not in report] == []
    shown = " ".join(re.sub(r"\\n|\\u2019", " ", report).replace("\\u0027", "'").split())
    for name in [*DRAWN, "page"]:
        start = " ".join(CAPTIONS[name.partition("/")[0]].split())[:40]
        assert start in shown or start.replace("'", "&#x27;") in shown, name
