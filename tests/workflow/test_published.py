"""From runs to what is published of them, and from that to the same tables and figures again."""

import re
import shutil

import pandas as pd
import pytest

from .conftest import Workflow

PUBLISHED = "results/reference/smoke"
AGAIN = {"experiment": "again", "archives": [f"{PUBLISHED}/records.tar.xz"]}


def test_publishing_copies_what_the_page_links_to(copy, tmp_path):
    assert copy.run("publish") == {"publish": 1}
    folder = tmp_path / "elsewhere" / PUBLISHED
    shutil.copytree(copy.folder / PUBLISHED, folder)
    page = (folder / "index.html").read_text()
    links = re.findall(r'href="(?!#|https?:|data:)([^"]+)"', page)
    assert "tables/runs.csv" in links
    assert [link for link in links if not (folder / link).stat().st_size] == []
    assert not (folder / "tables/ratios.csv").exists(), "the records make it again"
    again = Workflow(tmp_path / "elsewhere", AGAIN)
    assert again.plan("paper_figures") == {"unpack": 1, "paper_figures": 1}


@pytest.mark.slow
def test_paper_figures_are_of_the_records_that_exist(finished, tmp_path):
    shutil.copytree(finished.folder / "results/runs", tmp_path / "results/runs")
    workflow = Workflow(tmp_path, {"seeds": [0, 1]})  # the second seed was not run
    assert workflow.run("paper_figures") == {"paper_figures": 1}
    folder = tmp_path / "results/smoke/paper"
    assert set(pd.read_csv(folder / "tables/runs.csv")["seed"]) == {0}
    assert (folder / "main.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (folder / "main.pdf").read_bytes()[:5] == b"%PDF-"
    assert (folder / "framework.png").exists()
