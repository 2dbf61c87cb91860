"""From runs to what is published of them, and from that to the same tables and figures again."""

import re
import shutil

import pandas as pd
import pytest

from .conftest import Workflow

PUBLISHED = "results/reference/smoke"
AGAIN = {"experiment": "again", "archives": [f"{PUBLISHED}/records.tar.xz"]}
FIGURES = ("tabular", "rank-agreement", "tradeoff/dna")
REDRAWN = [f"results/again/figures/{name}.png" for name in FIGURES]


@pytest.fixture(scope="module")
def published(finished, tmp_path_factory):
    """The finished experiment, published."""
    folder = tmp_path_factory.mktemp("published")
    shutil.copytree(finished.folder, folder, dirs_exist_ok=True)
    workflow = Workflow(folder)
    workflow.jobs = workflow.run("publish")
    return workflow


@pytest.fixture
def again(published, tmp_path):
    """A workflow in a folder that has the published files alone."""
    shutil.copytree(published.folder / PUBLISHED, tmp_path / PUBLISHED)
    return Workflow(tmp_path, config=AGAIN)


def test_publishing_copies_what_the_page_links_to(published, again):
    assert published.jobs == {"publish": 1}
    folder = published.folder / PUBLISHED
    page = (folder / "index.html").read_text()
    links = re.findall(r'href="(?!#|https?:|data:)([^"]+)"', page)
    assert "tables/runs.csv" in links
    assert [link for link in links if not (folder / link).stat().st_size] == []
    assert not (folder / "tables/ratios.csv").exists(), "the records make it again"
    assert again.plan("paper_figures") == {"unpack": 1, "paper_figures": 1}


@pytest.mark.slow
def test_published_records_make_the_same_figures_without_a_run(published, again):
    assert again.run(*REDRAWN) == {"unpack": 1, "collect": 1, "tabulate": 1, "plot": 1}
    assert not again.plan(*REDRAWN)
    for name in FIGURES:
        drawn = again.folder / f"results/again/figures/{name}.png"
        copied = published.folder / f"{PUBLISHED}/figures/{name}.png"
        assert drawn.read_bytes() == copied.read_bytes(), name


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
