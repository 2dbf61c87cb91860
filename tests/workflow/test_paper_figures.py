"""The paper's figures from whatever records exist: nothing is run for them."""

import shutil

import pandas as pd
import pytest

FOLDER = "results/smoke/paper"


def test_figures_are_of_the_records_that_are_there(finished, tmp_path, make_workflow):
    shutil.copytree(finished.folder / "results/runs", tmp_path / "results/runs")
    workflow = make_workflow(tmp_path, {"seeds": [0, 1]})  # the second seed was not run
    assert workflow.run("paper_figures") == {"paper_figures": 1}
    assert set(pd.read_csv(tmp_path / FOLDER / "tables/runs.csv")["seed"]) == {0}
    assert (tmp_path / FOLDER / "main.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (tmp_path / FOLDER / "framework.png").exists()
    assert (tmp_path / FOLDER / "main.pdf").read_bytes()[:5] == b"%PDF-"


def test_without_records_one_line_says_so(workflow):
    with pytest.raises(Exception, match="At least one job did not complete"):
        workflow.run("paper_figures")
    log = (workflow.folder / "logs/smoke/paper_figures.log").read_text()
    assert "seed-0/record.json: no file, and no folder with" in log.splitlines()[-1]
