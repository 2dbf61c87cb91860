import base64
import json
import re
import shutil
from html.parser import HTMLParser
from io import BytesIO

import pytest
from PIL import Image, ImageChops

from automata.analysis import wording
from automata.analysis.tables import read_csv
from automata.cli import main
from automata.page.build import page
from automata.views import FIGURES

from .conftest import EVIL, write_tables


@pytest.fixture(scope="module")
def html(experiment):
    return page(experiment / "tables", experiment / "figures", EVIL, experiment)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def tags(html):
    parser = _Tags()
    parser.feed(html)
    return parser.found


def test_page_is_the_same_for_the_same_tables(html, experiment):
    folders = (experiment / "tables", experiment / "figures")
    assert page(*folders, EVIL, experiment) == html


def test_text_of_the_tables_is_escaped(html, tags):
    assert EVIL not in html
    assert sum(tag == "script" for tag, _ in tags) == 3  # charts, library, the call of it


def test_charts_survive_their_escaping(html, runs):
    text = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html)[1]
    charts = json.loads(text)
    assert set(charts) == {"dataset-dna", "dataset-trec6"}
    assert EVIL in str(charts)


def test_page_loads_nothing(tags):
    sources = [attrs.get("src", "data:") for _, attrs in tags]
    links = [attrs["href"] for tag, attrs in tags if tag == "link"]
    assert {source.split(":")[0] for source in [*sources, *links]} == {"data"}


def test_the_figure_has_a_text(tags):
    (image,) = [attrs for tag, attrs in tags if tag == "img"]
    assert image["alt"] == FIGURES["selector-comparison"].caption
    assert (image["width"], image["height"]) == ("40", "20")


def test_figure_keeps_every_pixel(html, experiment):
    text = re.search(r"data:image/webp;base64,([^\"]+)", html)[1]
    drawn = Image.open(experiment / "figures/selector-comparison.png").convert("RGB")
    with Image.open(BytesIO(base64.b64decode(text))) as shown:
        assert ImageChops.difference(shown.convert("RGB"), drawn).getbbox() is None


@pytest.mark.parametrize("missing", ["random", "full"])
def test_figure_that_shows_nothing_of_the_runs_is_left_out(experiment, runs, tmp_path, missing):
    write_tables(runs[runs["selector"] != missing], tmp_path)
    shown = page(tmp_path, experiment / "figures", "none", tmp_path)
    assert "<figure>" not in shown


def test_what_was_found_comes_first_and_the_claims_late(html):
    order = re.findall(r'<section id="([a-z-]+)" aria', html)
    assert order == ["best", "tradeoff", "selector-comparison", "doubts", "claims", "tables"]


def test_own_data_are_not_measured_by_the_paper(experiment, runs, tmp_path):
    own = runs[runs["dataset"] == "dna"].assign(dataset="flowers")
    write_tables(own, tmp_path)
    for name in ("claims", "differences"):
        shutil.copy(experiment / f"tables/{name}.csv", tmp_path)
    shown = page(tmp_path, tmp_path, "own", tmp_path)
    assert "claims-heading" not in shown
    assert "the paper's protocol" not in shown


def test_anchors_lead_somewhere(tags):
    names = [attrs["id"] for _, attrs in tags if "id" in attrs]
    targets = {attrs["href"][1:] for _, attrs in tags if attrs.get("href", "").startswith("#")}
    assert targets <= set(names)
    assert len(names) == len(set(names))


def test_tables_are_linked_as_seen_from_the_page(tags):
    links = [attrs["href"] for tag, attrs in tags if tag == "a"]
    assert "tables/untuned.csv" in links
    assert "tables/tradeoff.csv" not in links  # it is not published with the page
    assert "tables/energy.md" not in links  # was not written


def test_every_row_of_the_tradeoff_table_is_there(html, experiment):
    table = read_csv(experiment / "tables/tradeoff.csv")
    cells = re.findall(r"<td>(.*?)</td>", html.replace("\n", ""))
    for speedup in table["speedup"]:
        assert any(cell.startswith(wording.number(speedup)) for cell in cells)
    assert "results/runs/dna/tpe-hyperband/gradmatch-0.05/seed-2/record.json" in html


def test_estimated_energy_is_said_loudly(html):
    assert "<strong>Energy is estimated, not measured</strong>" in html


def test_energy_that_was_estimated_in_part_is_said_to_be(runs, tmp_path):
    source = "NVML energy + codecarbon CPU load"
    write_tables(runs.assign(energy_method="estimated", energy_source=source), tmp_path)
    shown = page(tmp_path, tmp_path, "in part", tmp_path)
    assert "The CPU's part of the energy is estimated, not measured" in shown
    assert "Energy is estimated, not measured" not in shown


def test_page_of_the_bare_tables(runs, tmp_path):
    write_tables(runs, tmp_path / "tables")
    html = page(tmp_path / "tables", tmp_path / "none", "bare", tmp_path)
    assert "claims-heading" not in html
    assert "<figure>" not in html
    assert "untuned:" not in html
    assert "Not compared." in html


def test_experiment_of_one_full_run(runs, tmp_path):
    write_tables(runs[runs["selector"] == "full"].iloc[:1], tmp_path)
    html = page(tmp_path, tmp_path, "one", tmp_path)
    assert "1 run on vm" in html
    assert "largest speedup" not in html
    assert "tuned on all training data (FULL)." in html
    assert "Nothing to compare with FULL." in html
    assert "<script" not in html


def test_panel_without_comparable_runs_says_so(runs, tmp_path):
    write_tables(runs[runs["selector"] == "gradmatch"].iloc[:3], tmp_path)
    html = page(tmp_path, tmp_path, "no FULL", tmp_path)
    assert "Nothing to compare with FULL." in html
    assert "no FULL run to compare with" in html


def test_command_writes_the_page(experiment, tmp_path):
    shutil.copytree(experiment, tmp_path / "x")
    main(["page", str(tmp_path / "x")])
    html = (tmp_path / "x/index.html").read_text(encoding="utf-8")
    assert "<title>AUTOMATA: x</title>" in html
