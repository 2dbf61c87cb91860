"""What the rules write, not how, and each alone, of its inputs and nothing else."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from automata.views import TABLES

ROOT = Path(__file__).parents[2]

RUN = "results/runs/dna/random-hyperband-4af660c7/{selector}/seed-0/record.json"
RECORDS = {name: RUN.format(selector=name) for name in ("full-1", "gradmatch-0.1")}

COLLECTED = [f"results/smoke/tables/{name}" for name, table in TABLES.items() if not table.make]
TABULATED = [f"results/smoke/tables/{name}" for name, table in TABLES.items() if table.make]


def wall(phase):
    """The seconds of a phase, as its record has them."""
    (segment,) = phase["segments"]
    return segment["measurement"]["wall_seconds"]


def borrow(workflow, finished, *paths):
    """Copy finished files into the folder of `workflow`, as inputs of the rule under test."""
    for path in paths:
        (workflow.folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(finished.folder / path, workflow.folder / path)


def test_prepare_writes_all_splits(workflow):
    from automata.datasets.prepared import read_dataset

    jobs = workflow.run("results/data/dna.safetensors")
    dataset = read_dataset(workflow.folder / "results/data/dna.safetensors")
    assert jobs == {"prepare": 1}
    assert [len(s) for s in (dataset.train, dataset.validation, dataset.test)] == [1400, 600, 1186]


def test_tune_writes_a_record_of_its_run(finished):
    from automata.records import read_record

    record = read_record(finished.folder / RECORDS["gradmatch-0.1"])
    assert record.job.run.selector == "gradmatch"
    assert len(record.tuning.trials) == 4


def test_tune_leaves_no_unfinished_work(finished):
    assert not list((finished.folder / "results/work").rglob("*.pt"))


def test_collect_has_a_row_for_each_record(finished):
    table = pd.read_csv(finished.folder / "results/smoke/tables/runs.csv")
    assert sorted(table["selector"]) == ["full", "gradmatch"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "target", "inputs"),
    [
        ("tune", RECORDS["full-1"], ["results/data/dna.safetensors"]),
        ("collect", "results/smoke/tables/runs.csv", RECORDS.values()),
        ("tabulate", "results/smoke/tables/claims.csv", COLLECTED),
        ("tabulate", "results/smoke/best.yaml", COLLECTED),
        ("plot", "results/smoke/figures/ceiling.png", [*COLLECTED, *TABULATED]),
    ],
)
def test_rule_needs_its_inputs_alone(workflow, finished, rule, target, inputs):
    borrow(workflow, finished, *inputs)
    (workflow.folder / target).unlink(missing_ok=True)
    assert workflow.run(target) == {rule: 1}


def test_collect_refuses_a_truncated_record_by_name(workflow, finished, capfd):
    borrow(workflow, finished, *RECORDS.values())
    record = workflow.folder / RECORDS["full-1"]
    record.write_text(record.read_text()[:1000])
    with pytest.raises(Exception, match="At least one job did not complete"):
        workflow.run("results/smoke/tables/runs.csv")
    assert (
        f"{RECORDS['full-1']}: its content does not match its digest: cut off, "
        in (workflow.folder / "logs/smoke/collect.log").read_text()
    )


def test_tradeoff_speedup_is_the_ratio_of_the_records_seconds(finished):
    table = pd.read_csv(finished.folder / "results/smoke/tables/tradeoff.csv")
    full, run = (json.loads((finished.folder / RECORDS[name]).read_text()) for name in RECORDS)
    seconds = wall(run["tuning"])
    seconds += wall(run["final"])
    expected = wall(full["tuning"]) / seconds
    speedup = table.set_index("selector")["speedup"]
    assert speedup["gradmatch"] == pytest.approx(expected, rel=1e-12)
    assert speedup["full"] == 1


def test_tradeoff_error_is_the_difference_of_the_records_accuracies(finished):
    table = pd.read_csv(finished.folder / "results/smoke/tables/tradeoff.csv")
    full, run = (json.loads((finished.folder / RECORDS[name]).read_text()) for name in RECORDS)
    expected = 100 * (full["test"]["accuracy"] - run["test"]["accuracy"])
    error = table.set_index("selector")["relative_test_error"]
    assert error["gradmatch"] == pytest.approx(expected, abs=1e-9)


def test_energy_table_has_each_run_and_what_its_co2_rests_on(workflow, finished):
    borrow(workflow, finished, *COLLECTED)
    stated = {"grams_per_kwh": 100, "region": "the sea's", "source": 'a "list"', "tdp_watts": 50}
    workflow.config = {"carbon": stated}
    jobs = workflow.run("results/smoke/tables/energy.csv")
    table = pd.read_csv(workflow.folder / "results/smoke/tables/energy.csv")
    totals = (workflow.folder / "results/smoke/tables/energy.md").read_text()
    assert jobs == {"tabulate": 1}
    assert sorted(table["selector"]) == ["full", "gradmatch"]
    assert table["co2_time_grams"].tolist() == pytest.approx(table["total_seconds"] / 720)
    assert """Intensity: 100 g CO2e/kWh (the sea's, 2023; a "list").""" in totals


def test_plot_writes_a_vector_and_a_pixel_figure(workflow, finished):
    borrow(workflow, finished, *COLLECTED, *TABULATED)
    assert workflow.run("figures") == {"plot": 1, "figures": 1}
    for name in ("tabular", "energy/dna"):
        figure = workflow.folder / f"results/smoke/figures/{name}.png"
        assert figure.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert figure.with_suffix(".pdf").read_bytes()[:5] == b"%PDF-"


def test_differences_are_those_from_the_papers_own_configuration(finished):
    table = pd.read_csv(finished.folder / "results/smoke/tables/differences.csv", dtype=str)
    (epochs,) = table[table["key"] == "epochs"].to_dict("records")
    assert (epochs["dataset"], epochs["here"], epochs["paper"]) == ("dna", "3", "200")


def test_claims_on_data_sets_that_were_not_run_say_so(finished):
    table = pd.read_csv(finished.folder / "results/smoke/tables/claims.csv").set_index("id")
    assert table.loc["sst5-tpe-hyperband-fast", "verdict"] == "not run"
    assert table.loc["footprint", "verdict"] == "reproduced"
    named = table.loc["smaller-is-faster", "records"]
    assert all(
        (finished.folder / record).exists() for record in str(named).split() if named == named
    )


def test_best_hyper_parameters_are_those_of_the_record_with_the_highest_score(finished):
    records = [json.loads((finished.folder / path).read_text()) for path in RECORDS.values()]
    trials = [record["tuning"]["trials"][record["tuning"]["best"]] for record in records]
    scores = [trial["progress"]["evaluations"][-1]["accuracy"] for trial in trials]
    best = max(range(2), key=scores.__getitem__)
    found = yaml.safe_load((finished.folder / "results/smoke/best.yaml").read_text())
    told = found["best"]["dna"]
    assert told["configuration"] == trials[best]["configuration"]
    assert told["validation_score"] == scores[best]
    assert told["test_accuracy"] == records[best]["test"]["accuracy"]
    assert told["over_seeds"]["seeds"] == 1


def test_page_shows_the_numbers_of_the_tables(finished):
    from automata.analysis.wording import three_digits

    page = (finished.folder / "results/smoke/index.html").read_text()
    table = pd.read_csv(finished.folder / "results/smoke/tables/tradeoff.csv")
    speedup = table.set_index("selector")["speedup"]["gradmatch"]
    assert three_digits(speedup) in page
    assert RUN.format(selector="gradmatch-0.1") in page


@pytest.mark.slow
def test_measured_jobs_take_turns_also_where_each_has_a_part_of_the_machine(tmp_path):
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--set-threads", "tune=1"]
    command += ["--snakefile", ROOT / "workflow/Snakefile", "--directory", tmp_path]
    command += ["--configfile", ROOT / "config/smoke.yaml"]
    command += ["--", "results/smoke/tables/runs.csv"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    at_once = re.findall(r"^Execute (\d+) jobs", shown.stdout + shown.stderr, re.MULTILINE)
    assert at_once == ["1", "1", "1", "1"]  # prepare, the two runs, collect


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of what the workflow is made of, to be changed."""
    folder = tmp_path_factory.mktemp("project")
    for part in ("config", "envs", "workflow", "rules", "src"):
        shutil.copytree(ROOT / part, folder / part)
    return folder


@pytest.mark.parametrize("file", ["config/claims.yaml", "config/tabular.yaml"])
def test_content_of_the_projects_files_repeats_the_tables_and_their_dates_do_not(
    workflow, finished, project, file
):
    borrow(workflow, finished, *COLLECTED)
    workflow.snakefile = project / "workflow/Snakefile"
    workflow.run("tables")
    (project / file).touch()
    assert not workflow.plan("tables")
    (project / file).write_text((project / file).read_text() + "\n# changed\n")
    assert workflow.plan("tables") == {"tabulate": 1, "tables": 1}


def test_checkout_whose_path_is_a_command_runs_none(workflow, finished, project, tmp_path):
    borrow(workflow, finished, *COLLECTED)
    hostile = tmp_path / "a b; touch owned; $(touch owned) 'c"
    shutil.copytree(project, hostile)
    workflow.snakefile = hostile / "workflow/Snakefile"
    workflow.run("results/smoke/tables/claims.csv")
    assert (workflow.folder / "results/smoke/tables/claims.csv").exists()
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.parametrize("stage", ["data", "tune", "tables", "figures", "curves", "publish"])
def test_shell_lines_quote_what_they_insert(stage):
    text = (ROOT / f"rules/{stage}.smk").read_text()
    shells = re.findall(r'shell:\s+"""(.*?)"""', text, re.DOTALL)
    inserted = [found for shell in shells for found in re.findall(r"\{[^}]*\}", shell)]
    assert inserted
    number = "{threads}"
    assert [found for found in inserted if not found.endswith(":q}") and found != number] == []
