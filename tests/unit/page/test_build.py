import base64
import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from automata.analysis import wording
from automata.analysis.tables import read_csv
from automata.cli import main
from automata.page.build import page
from automata.views import FIGURES

from .conftest import EVIL, write_tables


@pytest.fixture(scope="module")
def html(experiment):
    return page(experiment)


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
    assert page(experiment) == html


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


def test_figure_has_a_text_and_a_link_to_its_records(tags, html):
    (image,) = [attrs for tag, attrs in tags if tag == "img"]
    view = FIGURES["selector-comparison"]
    assert image["alt"] == view.caption
    assert f'Numbers and records: <a href="tables/{view.table}">' in html


def test_figure_is_in_the_page(html, experiment):
    text = re.search(r"data:image/png;base64,([^\"]+)", html)[1]
    assert base64.b64decode(text) == (experiment / "figures/selector-comparison.png").read_bytes()


def made(runs, folder, baselines=None, **changes):
    """Return the page of some runs."""
    write_tables(runs.assign(**changes), folder / "tables", baselines)
    return page(folder)


@pytest.mark.parametrize("missing", ["random", "full"])
def test_figure_that_shows_nothing_of_the_runs_is_left_out(experiment, runs, tmp_path, missing):
    shutil.copytree(experiment / "figures", tmp_path / "figures")
    assert "<figure>" not in made(runs[runs["selector"] != missing], tmp_path)


def test_what_was_found_comes_first_and_the_claims_late(html):
    order = re.findall(r'<section id="([a-z-]+)" aria', html)
    assert order == ["best", "tradeoff", "selector-comparison", "caveats", "claims", "tables"]


def test_page_says_what_its_choice_is_worth(html, runs, tmp_path):
    full = runs["selector"] == "full"
    scores = {"test_accuracy": full.astype(float), "best_score": (~full).astype(float)}
    words = " ".join(made(runs, tmp_path, **scores).split())
    better = "lower than FULL's, with the same search and scheduler, on DNA, TREC6"
    assert better in words
    glister = runs.replace({"selector": {"random": "glister"}})
    assert "GLISTER is never marked best" in made(glister, tmp_path)
    assert "GLISTER" not in html


def test_page_of_own_data_has_an_answer_and_nothing_that_does_not_concern_it(runs, tmp_path):
    own = runs[(runs["dataset"] == "dna") & (runs["selector"] == "full")]
    scores = dict.fromkeys(("accuracy", "balanced_accuracy", "macro_f1"), 0.99) | {"log_loss": 0.1}
    baselines = {"flowers": {"linear": scores, "majority": {**scores, "accuracy": 0.4}}}
    html = made(own, tmp_path, baselines, dataset="flowers")
    assert re.findall(r'<section id="([a-z-]+)" aria', html) == ["best", "caveats", "tables"]
    assert re.findall("<dt>(.*?)</dt>", html)[:4] == [
        "Take",
        "How good",
        "How sure",
        "What tuning was worth",
    ]
    assert "The model does not beat a linear model (99 %), but beats the most" in html
    cells = re.findall("<th scope=.row.>(.*?)</th><td>(.*?)</td><td>(.*?)</td></tr>", html)
    assert cells[1:] == [
        ("A linear model", "99 %", "0.100"),
        ("The most frequent class", "40 %", "0.100"),
    ]
    assert "paper" not in html
    for absent in ("claims", "differences", "untuned", "selector-comparison"):
        assert f"tables/{absent}" not in html
    assert "<script" not in html
    assert "tuned on all training data." in html


def test_every_mark_of_a_chart_leads_to_a_row_with_records_and_command(html, tags):
    text = re.search(r'<script type="application/json" id="charts">(.*?)</script>', html)[1]
    marks = {
        row["row"]
        for chart in json.loads(text).values()
        for rows in chart["datasets"].values()
        for row in rows
        if row
    }
    rows = {attrs["id"] for tag, attrs in tags if tag == "tr" and "id" in attrs}
    assert len(marks) == 17 + 2  # points, and lines of `untuned` that are near them
    assert marks <= rows
    assert "snakemake --cores all --force results/runs/dna/tpe-hyperband/full-1/seed-0/rec" in html


def test_anchors_lead_somewhere(tags):
    names = [attrs["id"] for _, attrs in tags if "id" in attrs]
    targets = {attrs["href"][1:] for _, attrs in tags if attrs.get("href", "").startswith("#")}
    assert targets <= set(names)
    assert len(names) == len(set(names))


def test_tables_are_linked_as_seen_from_the_page(tags):
    links = [attrs["href"] for tag, attrs in tags if tag == "a"]
    assert "tables/untuned.csv" in links
    assert "tables/ratios.csv" not in links  # it is not published with the page
    assert "tables/overview.md" not in links  # was not written


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
    html = made(runs, tmp_path, energy_method="estimated", energy_source=source)
    assert "The CPU's part of the energy is estimated, not measured" in html
    assert "Energy is estimated, not measured" not in html


def test_panel_without_comparable_runs_has_no_chart(runs, tmp_path):
    html = made(runs[runs["selector"] == "gradmatch"].iloc[:3], tmp_path)
    assert "<script" not in html
    assert "no FULL run to compare with" in html


def test_command_writes_the_page(experiment, tmp_path):
    shutil.copytree(experiment, tmp_path / "x")
    main(["page", str(tmp_path / "x")])
    html = (tmp_path / "x/index.html").read_text(encoding="utf-8")
    assert "<title>AUTOMATA: x</title>" in html
