import json
import re
from html.parser import HTMLParser

import pytest

from automata.analysis import wording
from automata.analysis.tables import read_csv
from automata.cli import main
from automata.page.build import page, write_page

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
    assert sum(tag == "script" for tag, _ in tags) == 3  # data, library, ours


def test_data_survives_its_escaping(html, runs):
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1]
    panels = json.loads(text)["panels"]
    seeds = [s[0] for panel in panels.values() for p in panel["points"] for s in p["seeds"]]
    assert set(seeds) < set(runs["best_configuration"])


def test_page_loads_nothing(tags):
    sources = [attrs.get("src", "data:") for _, attrs in tags]
    links = [attrs["href"] for tag, attrs in tags if tag == "link"]
    assert {source.split(":")[0] for source in [*sources, *links]} == {"data"}


def test_images_have_texts(tags):
    images = [attrs for tag, attrs in tags if tag == "img"]
    assert [attrs["alt"] for attrs in images][1:] == [
        "DNA: Best configuration found over time",
    ]
    assert images[0]["alt"].startswith("All panels: speedup")


def test_anchors_lead_somewhere(tags):
    names = [attrs["id"] for _, attrs in tags if "id" in attrs]
    targets = {attrs["href"][1:] for _, attrs in tags if attrs.get("href", "").startswith("#")}
    assert targets <= set(names)
    assert len(names) == len(set(names))


def test_tables_are_linked_as_seen_from_the_page(tags):
    links = [attrs["href"] for tag, attrs in tags if tag == "a"]
    assert "tables/tradeoff.csv" in links
    assert "tables/energy.csv" not in links  # was not written


def test_every_row_of_the_tradeoff_table_is_there(html, experiment):
    table = read_csv(experiment / "tables/tradeoff.csv")
    cells = re.findall(r"<td>(.*?)</td>", html.replace("\n", ""))
    for speedup in table["speedup"]:
        assert any(cell.startswith(wording.number(speedup)) for cell in cells)
    assert "results/runs/dna/tpe-hyperband/{full-1,gradmatch-0.05}/seed-{0,1,2}/record.json" in html


def test_estimated_energy_is_said_loudly(html):
    assert "<strong>Energy is estimated, not measured</strong>" in html


def test_energy_that_was_estimated_in_part_is_said_to_be(runs, tmp_path):
    source = "NVML energy + codecarbon CPU load"
    write_tables(runs.assign(energy_method="estimated", energy_source=source), tmp_path)
    shown = page(tmp_path, tmp_path, tmp_path, "in part", tmp_path)
    assert "The CPU's part of the energy is estimated, not measured" in shown
    assert "Energy is estimated, not measured" not in shown


def test_page_of_the_bare_tables(runs, tmp_path):
    write_tables(runs, tmp_path / "tables")
    html = page(tmp_path / "tables", tmp_path / "none", tmp_path / "none", "bare", tmp_path)
    assert "claims-heading" not in html
    assert "figures-heading" not in html
    assert "untuned: median" not in html
    assert "Not compared." in html


def test_experiment_of_one_full_run(runs, tmp_path):
    write_tables(runs[runs["selector"] == "full"].iloc[:1], tmp_path)
    html = page(tmp_path, tmp_path, tmp_path, "one", tmp_path)
    assert "1 run on vm" in html
    assert "Subset sizes" in html


def test_panel_without_comparable_runs_says_so(runs, tmp_path):
    write_tables(runs[runs["selector"] == "gradmatch"].iloc[:3], tmp_path)
    html = page(tmp_path, tmp_path, tmp_path, "no FULL", tmp_path)
    assert "No run that can be compared with FULL." in html
    assert "no FULL run to compare with" in html


def test_command_writes_the_page(experiment, tmp_path):
    folders = [f"--{name}={experiment / name}" for name in ("figures",)]
    output = tmp_path / "a" / "index.html"
    main(["page", str(experiment / "tables"), *folders, "--title=x", f"--output={output}"])
    assert "<title>AUTOMATA: x</title>" in output.read_text(encoding="utf-8")


def test_write_page_gives_the_page(experiment, html, tmp_path):
    output = experiment / "index.html"
    folders = (experiment / "tables", experiment / "figures")
    write_page(*folders, EVIL, output)
    assert output.read_text(encoding="utf-8") == html
