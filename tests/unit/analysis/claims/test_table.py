"""The table of claims, and the command that makes it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.claims import claims_table, parse_claims, presented
from automata.analysis.ratios import ratios_to_full
from automata.analysis.study import Study
from automata.analysis.tables import read_csv, write
from automata.analysis.tradeoff import tradeoff
from automata.cli import main
from automata.config.reading import read
from automata.config.sections import Carbon
from support.synthetic import synthetic_runs, synthetic_trials

from .conftest import HYPERBAND, claim, runs

FILE = Path(__file__).parents[4] / "config/claims.yaml"
SHIPPED = parse_claims(read(FILE), FILE)
CARBON = Carbon(
    grams_per_kwh=400.0, region="here", year=2023, source="x", tdp_watts=250.0, tdp_source="x"
)


def test_a_row_per_claim_says_all_of_it(study):
    differing = [
        [*HYPERBAND, "epochs", "40", "200"],
        [*HYPERBAND, "warm_start", "0.5", "0.35"],
        ["dna", "tpe", "hyperband", "seeds", "1", "5"],
    ]
    reached = {"shape": "reaches", "loss": 1, "reading": "so"}
    claims = {
        "slow": claim(**reached, threshold=4),
        "fast": claim(**reached, threshold=40),
        "open": claim(shape="stated", verdict="not run", ours="needs more"),
    }
    table = claims_table(claims, study(runs([4.0, 6.0]), differing))
    assert table.loc[0].to_dict() == {
        "id": "slow",
        "claim": "as they say",
        "location": "Section 1",
        "verdict": "reproduced",
        "ours": "5x at +1 pp, fraction 10 %",
        "panels": "1 of 1 panels",
        "firm": "too few seeds",
        "differences": "epochs 40 (paper: 200), warm_start 0.5 (paper: 0.35)",
        "rule": claims["slow"].rule,
        "reading": "so",
        "records": " ".join(
            f"satimage/tpe/hyperband/{name}/seed-{seed}"
            for name in ("full-1", "gradmatch-0.1")
            for seed in (0, 1)
        ),
    }
    assert "Of 3 claims: 1 reproduced, 1 not reproduced, 1 not run." in presented(table)


def test_a_rule_says_what_is_checked():
    assert SHIPPED["trained-on-1-and-5-percent"].rule == (
        "on average over pairs of runs, the validation accuracy of the best trial of AUTOMATA less "
        "the validation accuracy of the best trial of FULL is below -2 pp"
    )


def test_the_shipped_claims_without_any_run(study):
    table = claims_table(SHIPPED, study([]))
    verdicts = table.set_index("id")["verdict"]
    assert verdicts.pop("footprint") == "reproduced"
    assert set(verdicts) == {"not run"}
    assert (table["ours"] != "").all()


def test_claims_are_not_run_if_nothing_compares(tmp_path):
    subsets = ("gradmatch", "random")
    table = synthetic_runs(datasets=("dna",), selectors=subsets, fractions=(0.1,), repeats=1)
    ratios = ratios_to_full(table)
    write(ratios, tmp_path / "ratios.csv")
    write(tradeoff(ratios), tmp_path / "tradeoff.csv")
    write(table, tmp_path / "runs.parquet")
    found = claims_table(SHIPPED, Study(tmp_path)).set_index("id")["verdict"]
    assert set(found.drop("footprint")) == {"not run"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tables of made-up runs of the whole paper, with the settings of none."""
    folder = tmp_path_factory.mktemp("experiment") / "tables"
    runs = synthetic_runs()
    ratios = ratios_to_full(runs)
    write(runs, folder / "runs.parquet")
    write(ratios, folder / "ratios.csv")
    write(tradeoff(ratios), folder / "tradeoff.csv")
    write({}, folder / "protocols.json")
    write(synthetic_trials(runs), folder / "trials.parquet")
    main(["tabulate", str(folder), "--claims", "--carbon", CARBON.model_dump_json()])
    return folder


def test_the_command_writes_the_differences_of_every_panel(folder):
    table = Study(folder).differences
    assert table.groupby(["dataset", "search", "scheduler"]).ngroups == 44
    assert {"settings", "device", "energy"} == set(table["key"])


def test_the_command_writes_every_claim(folder):
    table = read_csv(folder / "claims.csv").fillna("")
    assert list(table["id"]) == list(SHIPPED)
    shown = (folder / "claims.md").read_text()
    assert shown.count("\n| ") == len(table) + 1
    assert "record.json" not in shown
    named = {path for cell in table["records"] for path in cell.split()}
    assert named == set(Study(folder).runs["record"])  # claims are about every run of the paper


@pytest.mark.parametrize(
    ("name", "verdict", "panels"),
    [
        # How the synthetic times, accuracies and energies were made.
        ("figure-3-best", "reproduced", "20 of 20 panels"),
        ("better-than-random", "reproduced", "44 of 44 panels"),
        ("small-subsets-than-craig", "reproduced", "8 of 8 panels"),
        ("smaller-is-faster", "reproduced", "44 of 44 panels"),
        ("asha-more-efficient", "reproduced", "44 of 44 panels"),
        ("figure-1-hyperband", "not reproduced", "10 of 10 panels"),
        ("energy-than-random", "not run", "0 of 4 panels"),
        ("smaller-saves-energy", "not run", "0 of 44 panels"),
        ("figure-7-energy-best", "not run", "0 of 4 panels"),
        ("similar-energy", "not run", "0 of 44 panels"),
        ("cifar10-6-hours", "not run", ""),
    ],
)
def test_verdicts_on_the_synthetic_runs(folder, name, verdict, panels):
    row = pd.read_csv(folder / "claims.csv").fillna("").set_index("id").loc[name]
    assert (row["verdict"], row["panels"]) == (verdict, panels)
