"""The paper's figures from whatever records exist: nothing is run for them."""

import json
import shutil

import pytest

RECORD = "results/runs/dna/random-hyperband-4af660c7/gradmatch-0.1/seed-0/record.json"
SO_FAR = "results/so-far"
MAIN = f"{SO_FAR}/figures/main.png"


@pytest.fixture
def records(finished, tmp_path, make_workflow):
    """A folder with the records of the finished experiment and nothing else."""
    shutil.copytree(finished.folder / "results/runs", tmp_path / "here/results/runs")
    return make_workflow(tmp_path / "here")


@pytest.fixture(scope="module")
def drawn(finished, tmp_path_factory, make_workflow):
    """One of the paper's figures, drawn from these records."""
    folder = tmp_path_factory.mktemp("drawn")
    shutil.copytree(finished.folder / "results/runs", folder / "results/runs")
    workflow = make_workflow(folder)
    workflow.jobs = workflow.run(MAIN)
    return workflow


def test_no_run_is_started(drawn):
    assert drawn.jobs["collect"] == 1
    assert (drawn.jobs["tune"], drawn.plan("paper_figures")["tune"]) == (0, 0)


def test_figure_is_there_as_a_vector_and_in_pixels(drawn):
    figure = drawn.folder / MAIN
    assert figure.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert figure.with_suffix(".pdf").read_bytes()[:5] == b"%PDF-"


def test_second_call_draws_nothing(drawn):
    assert not drawn.plan(MAIN)


def test_records_of_other_settings_and_data_sets_are_taken_as_they_are(records):
    records.config = {
        "datasets": ["satimage"],
        "seeds": [7],
        "selector": {"gradmatch": {"l2": 0.5}},
    }
    assert records.plan("paper_figures")["tune"] == 0


def test_a_new_record_draws_the_figures_anew(drawn, tmp_path, make_workflow):
    shutil.copytree(drawn.folder, tmp_path / "copy")
    workflow = make_workflow(tmp_path / "copy")
    record = json.loads((workflow.folder / RECORD).read_text())
    other = workflow.folder / RECORD.replace("seed-0", "seed-1")
    other.parent.mkdir()
    other.write_text(json.dumps(record))
    plan = workflow.plan("paper_figures")
    assert (plan["collect"], plan["plot"], plan["tune"]) == (1, 7, 0)


def test_a_page_of_all_records_can_be_asked_for(records):
    plan = records.plan(f"{SO_FAR}/index.html")
    assert (plan["build_page"], plan["collect"], plan["tune"]) == (1, 1, 0)


def test_without_records_one_line_says_so(workflow):
    with pytest.raises(Exception, match="At least one job did not complete"):
        workflow.run("paper_figures")
    log = (workflow.folder / "logs/so-far/collect.log").read_text()
    assert "results/runs: no file, and no folder with" in log.splitlines()[-1]
