"""From runs to what is published of them, and from that to the same tables and figures again."""

import json
import re
import shutil

import pandas as pd
import pytest

PUBLISHED = "results/reference/smoke"
ARCHIVE = f"{PUBLISHED}/records.tar.xz"
AGAIN = {"experiment": "again", "archives": [ARCHIVE]}
FIGURES = ("tabular", "pareto", "tradeoff/dna")
REDRAWN = [f"results/again/figures/{name}.png" for name in FIGURES]


@pytest.fixture(scope="module")
def published(finished, tmp_path_factory, make_workflow):
    """The finished experiment, published."""
    folder = tmp_path_factory.mktemp("published")
    shutil.copytree(finished.folder, folder, dirs_exist_ok=True)
    workflow = make_workflow(folder)
    workflow.jobs = workflow.run("publish")
    return workflow


@pytest.fixture(scope="module")
def redrawn(published, tmp_path_factory, make_workflow):
    """Tables and three figures, made in another folder from what was published alone."""
    folder = tmp_path_factory.mktemp("redrawn")
    shutil.copytree(published.folder / PUBLISHED, folder / PUBLISHED)
    workflow = make_workflow(folder, config=AGAIN)
    workflow.jobs = workflow.run("tables", *REDRAWN)
    return workflow


def test_publishing_runs_and_draws_nothing_that_is_there(published):
    assert published.jobs == {"publish": 1}


@pytest.mark.parametrize(
    "name",
    [
        *("best.yaml", "index.html", "records.tar.xz", "tables/runs.csv", "tables/claims.md"),
        *("tables/overview.md", "tables/provenance.md"),
        *("figures/tabular.png", "figures/tradeoff/dna.png"),
    ],
)
def test_all_of_it_is_published(published, name):
    assert (published.folder / PUBLISHED / name).stat().st_size > 0


def test_what_the_records_make_again_in_another_form_is_not_published(published):
    forms = {path.suffix for path in (published.folder / PUBLISHED).rglob("*.*")}
    assert forms == {".html", ".yaml", ".xz", ".csv", ".md", ".json", ".png"}
    assert not (published.folder / PUBLISHED / "tables/ratios.csv").exists()


def test_links_of_the_published_page_lead_somewhere(published):
    page = published.folder / PUBLISHED / "index.html"
    links = re.findall(r'href="(?!#|https?:|data:)([^"]+)"', page.read_text())
    assert "tables/runs.csv" in links
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.slow
def test_no_run_is_started_for_published_records(redrawn):
    assert redrawn.jobs["unpack"] == 1
    assert {"prepare", "tune"} & set(redrawn.jobs) == set()
    assert {"prepare", "tune", "collect", "unpack"} & set(redrawn.plan()) == set()
    assert not redrawn.plan("tables", *REDRAWN)


@pytest.mark.slow
def test_tables_are_those_of_the_experiment(published, redrawn):
    tables = sorted((published.folder / "results/smoke/tables").glob("*.csv"))
    assert len(tables) > 10
    for path in tables:
        expected = pd.read_csv(path)
        found = pd.read_csv(redrawn.folder / "results/again/tables" / path.name)
        lineage = [name for name in expected if "record" in name]
        pd.testing.assert_frame_equal(
            found.drop(columns=lineage), expected.drop(columns=lineage), obj=path.name
        )


@pytest.mark.slow
def test_figures_are_the_published_ones(published, redrawn):
    for name in FIGURES:
        path = f"figures/{name}.png"
        again = redrawn.folder / "results/again" / path
        assert again.read_bytes() == (published.folder / PUBLISHED / path).read_bytes(), name


@pytest.mark.slow
def test_records_of_the_tables_are_files(redrawn):
    runs = pd.read_csv(redrawn.folder / "results/again/tables/runs.csv")
    for path in runs["record"]:
        assert json.loads((redrawn.folder / path).read_text())["job"]["run"]["dataset"] == "dna"


def test_paper_figures_are_of_published_records(published, tmp_path, make_workflow):
    shutil.copytree(published.folder / PUBLISHED, tmp_path / PUBLISHED)
    plan = make_workflow(tmp_path, config=AGAIN).plan("paper_figures")
    assert plan == {"unpack": 1, "paper_figures": 1}


def test_published_records_of_own_data_need_no_data(published, tmp_path, make_workflow):
    shutil.copytree(published.folder / PUBLISHED, tmp_path / PUBLISHED)
    flowers = {"flowers": {"kind": "tabular", "path": "flowers.csv", "target": "species"}}
    config = AGAIN | {"datasets": ["flowers"], "own_datasets": flowers}
    plan = make_workflow(tmp_path, config=config).plan("tables")
    assert (plan["collect"], plan["prepare"]) == (1, 0)
