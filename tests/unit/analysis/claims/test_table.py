"""The table of claims about small studies."""

from pathlib import Path

from automata.analysis.claims import claims_table, parse_claims, presented
from automata.config.reading import read
from support.synthetic import synthetic_runs
from support.tabulated import write_tables

from .conftest import HYPERBAND, claim, runs

FILE = Path(__file__).parents[4] / "config/claims.yaml"
SHIPPED = parse_claims(read(FILE), FILE)


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
    paths = [f"{name}/{seed}" for name in ("full-1", "gradmatch-0.1") for seed in (0, 1)]
    assert table.loc[0].to_dict() == {
        "id": "slow",
        "claim": "as they say",
        "location": "Section 1",
        "verdict": "reproduced",
        "ours": "5x at +1 pp, fraction 10 %",
        "panels": "1 of 1 panels",
        "firm": "too few seeds",
        "differences": "epochs 40 (paper: 200), warm_start 0.5 (paper: 0.35)",
        "rule": "in all panels the speedup of one fraction is at least 4x at a loss of at most 1 "
        "percentage points",
        "reading": "so",
        "records": " ".join(f"satimage/tpe-hyperband/{path}" for path in paths),
    }
    assert "Of 3 claims: 1 reproduced, 1 not reproduced, 1 not run." in presented(table)


def test_claims_are_not_run_where_nothing_was_or_nothing_compares(study, tmp_path):
    subsets = ("gradmatch", "random")
    table = synthetic_runs(datasets=("dna",), selectors=subsets, fractions=(0.1,), repeats=1)
    for made in (study([]), write_tables(table, tmp_path / "other")):
        found = claims_table(SHIPPED, made).set_index("id")
        assert found["verdict"].pop("footprint") == "reproduced"
        assert set(found.drop("footprint")["verdict"]) == {"not run"}
        assert (found["ours"] != "").all()
