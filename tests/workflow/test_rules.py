"""What the rules write, and each alone, of its inputs and nothing else."""

import re
import shutil

import pandas as pd
import pytest

from automata.analysis.views import TABLES

from .conftest import RECORD, ROOT, snakemake

RECORDS = {name: RECORD.format(name) for name in ("full-1", "gradmatch-0.1")}
DATA = "results/data/dna.safetensors"
COLLECTED = [f"results/smoke/tables/{name}" for name, table in TABLES.items() if not table.make]
TABULATED = [f"results/smoke/tables/{name}" for name, table in TABLES.items() if table.make]


def borrow(workflow, finished, *paths):
    """Copy finished files into the folder of `workflow`, as inputs of the rule under test."""
    for path in paths:
        (workflow.folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(finished.folder / path, workflow.folder / path)


def table(workflow, name):
    return pd.read_csv(workflow.folder / f"results/smoke/tables/{name}.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "target", "inputs"),
    [
        ("tune", RECORDS["full-1"], [DATA, f"{DATA}.sha256"]),
        ("collect", "results/smoke/tables/runs.csv", RECORDS.values()),
        ("tabulate", "results/smoke/best.yaml", COLLECTED),
        ("plot", "results/smoke/figures/tabular.png", [*COLLECTED, *TABULATED]),
    ],
)
def test_rule_needs_its_inputs_alone(workflow, finished, rule, target, inputs):
    borrow(workflow, finished, *inputs)
    (workflow.folder / target).unlink(missing_ok=True)
    assert workflow.run(target) == {rule: 1}


@pytest.mark.slow
def test_measured_jobs_take_turns_also_where_each_has_a_part_of_the_machine(tmp_path):
    options = ["--set-threads", "tune=1", "--configfile", ROOT / "config/smoke.yaml"]
    shown = snakemake(tmp_path, *options, "--", "results/smoke/tables/runs.csv")
    at_once = re.findall(r"^Execute (\d+) jobs", shown, re.MULTILINE)
    assert at_once == ["1", "1", "1", "1"]  # prepare, the two runs, collect


@pytest.mark.slow
def test_content_of_the_projects_files_repeats_the_tables_and_their_dates_do_not(
    workflow, finished, project
):
    borrow(workflow, finished, *COLLECTED)
    workflow.snakefile = project / "workflow/Snakefile"
    workflow.run("tables")
    file = project / "config/claims.yaml"
    file.touch()
    assert not workflow.plan("tables")
    file.write_text(file.read_text() + "\n# changed\n")
    assert workflow.plan("tables") == {"tabulate": 1, "tables": 1}


COMMAND = "a b; touch owned; $(touch owned) 'c"


@pytest.mark.slow
def test_path_and_setting_that_are_commands_run_none(workflow, finished, project, tmp_path):
    borrow(workflow, finished, *COLLECTED)
    workflow.snakefile = project.rename(tmp_path / COMMAND) / "workflow/Snakefile"
    stated = {"grams_per_kwh": 100, "region": COMMAND, "source": 'a "list"', "tdp_watts": 50}
    workflow.config = {"carbon": stated}
    assert workflow.run("results/smoke/tables/energy.csv") == {"tabulate": 1}
    energy = table(workflow, "energy")
    assert energy["co2_time_grams"].tolist() == pytest.approx(energy["total_seconds"] / 720)
    totals = (workflow.folder / "results/smoke/tables/energy.md").read_text()
    assert f'Intensity: 100 g CO2e/kWh ({COMMAND}, 2023; a "list").' in totals
    assert not list(tmp_path.rglob("owned"))


SHELLS = [*(f"rules/{it}.smk" for it in ("data", "tune", "tables", "figures", "publish"))]


@pytest.mark.parametrize("file", [*SHELLS, "studies/curves/Snakefile"])
def test_shell_lines_quote_what_they_insert(file):
    text = (ROOT / file).read_text()
    shells = re.findall(r'shell:\s+("""|")(.*?)\1', text, re.DOTALL)
    inserted = [found for _, shell in shells for found in re.findall(r"\{[^}]*\}", shell)]
    assert inserted
    number = "{threads}"
    assert [found for found in inserted if not found.endswith(":q}") and found != number] == []
