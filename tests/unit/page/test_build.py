"""The page as HTML: what it shows, and that it needs and runs nothing else."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from automata.analysis.wording import MISSING
from automata.cli import main
from automata.files import write_text
from automata.page.build import page
from automata.records.paths import MODEL
from support.stored import check_stored, digest

from .conftest import EVIL, write_tables

TAG = re.compile("<[^>]+>")
CALL = "snakemake --cores all"
CHARTS = r'<script type="application/json" id="charts">(.*?)</script>'


@pytest.fixture(scope="module")
def html(experiment):
    return page(experiment, CALL)


@pytest.fixture(scope="module")
def tags(html):
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))
    parser.feed(html)
    return found


def made(runs, folder, baselines=None, **changes):
    """Return the page of some runs, with plain spaces."""
    write_tables(runs.assign(**changes), folder / "tables", baselines)
    return page(folder, CALL).replace("\N{NO-BREAK SPACE}", " ")


def test_the_command_writes_a_page_that_is_the_same_each_time(experiment, tmp_path):
    shutil.copytree(experiment, tmp_path / "x")
    main(["page", str(tmp_path / "x")])
    html = (tmp_path / "x/index.html").read_text(encoding="utf-8")
    assert "<title>AUTOMATA: x</title>" in html
    assert html == page(tmp_path / "x", CALL)


def test_the_page_shows_what_is_stored_and_the_text_of_tables_is_escaped(html, tags):
    assert EVIL not in html
    assert sum(tag == "script" for tag, _ in tags) == 3  # charts, library, the call of it
    charts = json.loads(re.search(CHARTS, html)[1])
    assert set(charts) == {"dataset-dna", "dataset-trec6"}
    assert EVIL in str(charts)
    bare = re.sub(r"data:[a-z]+/[^\"')]+|<(script|style).*?</\1>", "", html, flags=re.DOTALL)
    words = [" ".join(line.split()) for line in TAG.sub("\n", bare).split("\n")]
    drawn = {f"{name}, {part}": it for name, chart in charts.items() for part, it in chart.items()}
    marks = [f"{name}: {digest(it)}" for name, it in drawn.items()]
    check_stored("page", [*filter(None, words), "", *marks, f"tags: {digest(TAG.findall(bare))}"])


def test_the_page_loads_nothing_and_its_links_lead_somewhere(tags):
    sources = [attributes.get("src", "data:") for _, attributes in tags]
    links = [attributes["href"] for tag, attributes in tags if tag == "link"]
    assert {source.split(":")[0] for source in [*sources, *links]} == {"data"}
    names = [attributes["id"] for _, attributes in tags if "id" in attributes]
    references = {attributes.get("href", "") for _, attributes in tags}
    assert {name[1:] for name in references if name.startswith("#")} <= set(names)
    assert len(names) == len(set(names))
    assert sum(tag == "img" for tag, _ in tags) == 1
    assert "tables/untuned.csv" in references
    assert "tables/ratios.csv" not in references  # it is not published with the page
    assert "tables/overview.md" not in references  # was not written


@pytest.mark.parametrize("missing", ["random", "full"])
def test_a_figure_that_shows_nothing_of_the_runs_is_left_out(experiment, runs, tmp_path, missing):
    shutil.copytree(experiment / "figures", tmp_path / "figures")
    html = made(runs[runs["selector"] != missing], tmp_path)
    assert "<figure>" not in html
    if missing == "full":
        assert "<script" not in html  # no chart
        assert "no FULL run to compare with" in html
        assert "tuning on all of it (FULL)" not in html


@pytest.mark.slow
def test_beside_other_work_the_page_compares_the_work_and_says_so_first(runs, tmp_path):
    html = made(runs, tmp_path, other_cpu_share=0.3)
    alert = html.index("other work took up to 30 % of its CPU time during 60 of 60 runs, so their")
    assert alert < html.index("<nav") < html.index("Time, energy and CO2 against accuracy")
    charts = json.loads(re.search(CHARTS, html)[1])
    points = [row for rows in charts["dataset-dna"]["datasets"].values() for row in rows]
    assert {row["Speedup"] for row in points if row.get("name") == "gradmatch"} == {MISSING}
    saved = {row["Work saved"] for row in points if row.get("name") == "gradmatch"}
    assert len(saved) == 4
    assert MISSING not in saved
    chosen = {it["name"]: it.get("value") for it in charts["dataset-dna"]["params"]}
    assert chosen["ratio"] == "Work saved"


def test_draws_without_a_search_have_no_best_hyper_parameters(runs, tmp_path):
    html = made(runs.query("selector == 'untuned'"), tmp_path)
    assert "No search has a trained model" in html
    assert "Use the highlighted" not in html


@pytest.mark.slow
def test_the_page_says_what_its_choice_is_worth(runs, tmp_path):
    full = runs["selector"] == "full"
    scores = {"test_accuracy": full.astype(float), "best_score": (~full).astype(float)}
    words = " ".join(made(runs, tmp_path, **scores).split())
    assert "lower than FULL's, with the same search and scheduler, on DNA, TREC6" in words


def test_the_page_of_own_data_has_an_answer_and_nothing_about_the_paper(runs, tmp_path):
    for record in runs["record"]:
        write_text(tmp_path / Path(record).with_name(MODEL), "")
    own = runs[(runs["dataset"] == "dna") & (runs["selector"] == "full")]
    scores = dict.fromkeys(("accuracy", "balanced_accuracy", "macro_f1"), 0.99) | {"log_loss": 0.1}
    baselines = {"flowers": {"linear": scores, "majority": {**scores, "accuracy": 0.4}}}
    changes = {"test_accuracy": 0.3 + 0.3 * (own["seed"] == 0), "best_score": own["seed"] == 0}
    html = made(
        own, tmp_path / "results/mine", baselines, dataset="flowers", test_loss=0.2, **changes
    )
    assert re.findall(r'<section id="([a-z-]+)" aria', html) == ["best", "caveats", "tables"]
    assert (
        '<p class="alert">Use a linear model (99 %): it is better than the tuned model (40 %) and'
        in html
    )
    assert "<strong>40 % accuracy</strong> on" in html  # the mean
    assert "mean of 3 seeds; these hyper-parameters, of seed" in html
    assert re.search("automata predict results/runs/.*/seed-[0-2] NEWROWS", html)
    assert '<p class="alert">Do not trust its probabilities: its log loss (0.200) is' in html
    cells = re.findall("<th scope=.row.>(.*?)</th>" + "<td>(.*?)</td>" * 3, html)
    assert cells[1:] == [
        ("A linear model", "99 %", "99 %", "0.100"),
        ("The most frequent class", "40 %", "99 %", "0.100"),
    ]
    hedge = made(own.assign(selector="rs2", fraction=0.01), tmp_path / "x", dataset="flowers")
    assert "FULL" not in hedge
    for absent in ("paper", "<script", "tables/claims", "tables/differences", "tables/untuned"):
        assert absent not in html


def test_the_page_says_where_a_method_is_slower_than_full(runs, tmp_path):
    mine = runs[(runs["dataset"] == "dna") & runs["selector"].isin(["full", "gradmatch"])]
    full = mine["selector"] == "full"
    costs = dict.fromkeys(("total_seconds", "cpu_seconds"), 20.0 - 10 * full)
    changes = {**costs, "test_accuracy": 0.9, "best_score": (~full).astype(float)}
    slower = "Slower than FULL: speedup 0.5 \N{MULTIPLICATION SIGN}, work saved 0.5"
    html = made(mine, tmp_path / "paper", **changes)
    assert f'<span class="quiet">{slower}' in html
    assert html.count("</strong>, slower than FULL, with <a") == 2  # AUTOMATA is the only selector
    assert f'<p class="alert">{slower}' in made(mine, tmp_path, dataset="flowers", **changes)


def test_every_mark_of_a_chart_leads_to_a_row_with_records_and_command(html, tags):
    marks = {
        row["row"]
        for chart in json.loads(re.search(CHARTS, html)[1]).values()
        for rows in chart["datasets"].values()
        for row in rows
        if row
    }
    assert len(marks) == 17 + 3  # points, and lines of `untuned` that are near them
    assert marks <= {attributes.get("id") for tag, attributes in tags if tag == "tr"}
    assert "snakemake --cores all --force results/runs/dna/tpe-hyperband/full-1/seed-0/rec" in html


@pytest.mark.slow
def test_estimated_energy_is_said_loudly(html, runs, tmp_path):
    assert "<strong>Energy is estimated, not measured</strong>" in html
    source = "NVML energy + codecarbon CPU load"
    partly = made(runs, tmp_path, energy_method="estimated", energy_source=source)
    assert "The CPU's part of the energy is estimated, not measured" in partly
    assert "Energy is estimated, not measured" not in partly
