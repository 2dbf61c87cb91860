"""The table of claims, and the commands that make it and the differences."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.claims.table import claims_table, summary
from automata.analysis.ratios import ratios_to_full
from automata.analysis.study import Study
from automata.analysis.tables import read_csv, write_csv, write_json, write_parquet
from automata.analysis.tradeoff import tradeoff
from automata.cli import main
from automata.config.sections import Carbon
from automata.errors import UserError
from benchmarks.synthetic import synthetic_runs, synthetic_trials

from .conftest import HYPERBAND, claim, read_claims, runs

CONFIG = Path(__file__).parents[4] / "config"
CARBON = Carbon(
    grams_per_kwh=400.0, region="here", year=2023, source="x", tdp_watts=250.0, tdp_source="x"
)


REACHED = {"loss": 1.0, "reading": "so"}
CLAIMS = {
    "slow": claim("point", low=4.0, **REACHED),
    "fast": claim("point", low=40.0, **REACHED),
    "open": claim("unchecked", needs="more"),
}


def test_a_row_per_claim_says_all_of_it(tables):
    differing = [
        [*HYPERBAND, "epochs", "40", "200"],
        [*HYPERBAND, "warm_start", "0.5", "0.35"],
        ["dna", "tpe", "hyperband", "seeds", "1", "5"],
    ]
    table = claims_table(CLAIMS, tables(runs([4.0, 6.0]), differing))
    expected = {
        "id": "slow",
        "claim": "as they say",
        "location": "Section 1",
        "verdict": "reproduced",
        "ours": "5x (4 to 6) at +1 pp (+1 to +1), fraction 10 %",
        "panels": "1 of 1 panels",
        "firm": "too few seeds",
        "differences": "epochs 40 (paper: 200), warm_start 0.5 (paper: 0.35)",
        "rule": CLAIMS["slow"].rule,
        "reading": "so",
        "records": " ".join(
            f"satimage/tpe/hyperband/{name}/seed-{seed}"
            for name in ("full-1", "gradmatch-0.1")
            for seed in (0, 1)
        ),
    }
    assert list(table.columns) == list(expected)
    assert table.loc[0].to_dict() == expected
    last = table.loc[2]
    assert (last["panels"], last["differences"], last["records"]) == ("", "", "")


def test_the_summary_counts_verdicts(tables):
    text = summary(claims_table(CLAIMS, tables(runs([4.0, 6.0]))))
    assert text.startswith("Of 3 claims: 1 reproduced, 1 not reproduced, 1 not run.")


def test_the_shipped_claims_without_any_run(tables):
    table = claims_table(read_claims(CONFIG / "claims.yaml"), tables([]))
    verdicts = table.set_index("id")["verdict"]
    assert verdicts.pop("footprint") == "reproduced"
    assert set(verdicts) == {"not run"}
    assert (table["ours"] != "").all()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tables of made-up runs of the whole paper, with the settings of none."""
    folder = tmp_path_factory.mktemp("experiment") / "tables"
    runs = synthetic_runs()
    ratios = ratios_to_full(runs)
    write_parquet(runs, folder / "runs.parquet")
    write_csv(ratios, folder / "ratios.csv")
    write_csv(tradeoff(ratios), folder / "tradeoff.csv")
    write_json({}, folder / "protocols.json")
    write_parquet(synthetic_trials(runs), folder / "trials.parquet")
    main(["tabulate", str(folder), "--carbon", CARBON.model_dump_json()])
    return folder


def test_the_command_writes_the_differences_of_every_panel(folder):
    table = Study(folder).differences
    assert table.groupby(["dataset", "search", "scheduler"]).ngroups == 44
    assert {"settings", "device", "energy"} == set(table["key"])


def test_the_command_writes_every_claim(folder):
    table = pd.read_csv(folder / "claims.csv").fillna("")
    assert list(table["id"]) == list(read_claims(CONFIG / "claims.yaml"))
    shown = (folder / "claims.md").read_text()
    assert shown.count("\n| ") == len(table) + 1
    assert "record.json" not in shown
    assert f"Of {len(table)} claims: " in shown


@pytest.mark.parametrize(
    ("name", "verdict", "panels"),
    [
        # What the synthetic times and accuracies were made to be.
        ("figure-3-best", "reproduced", "20 of 20 panels"),
        ("better-than-random", "reproduced", "44 of 44 panels"),
        ("small-subsets-than-craig", "reproduced", "8 of 8 panels"),
        ("smaller-is-faster", "reproduced", "44 of 44 panels"),
        ("asha-more-efficient", "reproduced", "44 of 44 panels"),
        ("figure-1-hyperband", "not reproduced", "10 of 10 panels"),
        ("energy-than-random", "not run", "0 of 4 panels"),
        ("energy-than-full", "not run", "0 of 4 panels"),
        ("smaller-saves-energy", "not run", "0 of 44 panels"),
        ("figure-7-energy-best", "not run", "0 of 4 panels"),
        ("similar-energy", "not run", "0 of 44 panels"),
        ("cifar10-6-hours", "not run", ""),
    ],
)
def test_verdicts_on_the_synthetic_runs(folder, name, verdict, panels):
    row = pd.read_csv(folder / "claims.csv").fillna("").set_index("id").loc[name]
    assert (row["verdict"], row["panels"]) == (verdict, panels)


def test_a_records_path_in_a_verdict_is_a_run(folder):
    known = set(Study(folder).runs["record"])
    table = read_csv(folder / "claims.csv").fillna("")
    named = {path for cell in table["records"] for path in cell.split()}
    assert named == known  # the claims are about every run of the paper
    (row,) = table[table["id"] == "trec6-tpe-asha-fast"].to_dict("records")
    assert {path.split("/")[3] for path in row["records"].split()} == {"tpe-asha"}
    assert len(row["records"].split()) == 5 * (4 + 1)


def test_an_unknown_claim_is_one_line(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(json.dumps({"claims": {"mine": {"kind": "tale"}}}))
    line = re.escape(f'{wrong}: claims.mine.kind: "tale" is not valid; valid: point, ')
    with pytest.raises(UserError, match=f"^{line}"):
        read_claims(wrong)


def test_claims_are_not_run_where_nothing_compares(tmp_path):
    subsets = ("gradmatch", "random")
    table = synthetic_runs(datasets=("dna",), selectors=subsets, fractions=(0.1,), repeats=1)
    ratios = ratios_to_full(table)
    for name, content in (("ratios", ratios), ("tradeoff", tradeoff(ratios))):
        write_csv(content, tmp_path / f"{name}.csv")
    write_parquet(table, tmp_path / "runs.parquet")
    write_csv(pd.DataFrame(columns=["dataset"]), tmp_path / "differences.csv")
    shipped = read_claims(CONFIG / "claims.yaml")

    found = claims_table(shipped, Study(tmp_path)).set_index("id")["verdict"]

    assert set(found.drop("footprint")) == {"not run"}
