"""What is published: records give the tables again, and docs/results.md says what they say."""

import tarfile
from pathlib import Path

import pytest

from automata.analysis.tables import read_csv
from automata.cli import main
from automata.config.files import read_experiments
from support.published import assert_same

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results/reference"


@pytest.mark.parametrize("name", ["default", "confirmation"])
def test_records_make_the_published_tables_again(name, tmp_path):
    """All selectors with one seed; three data sets, one of them an own one, with three seeds."""
    with tarfile.open(PUBLISHED / name / "records.tar.xz") as archive:
        archive.extractall(tmp_path / "runs", filter="data")
    (experiment,) = read_experiments([ROOT / "config/config.yaml"])
    carbon = experiment.carbon.model_dump_json()
    main(["collect", str(tmp_path / "runs"), "--output", str(tmp_path / "tables")])
    main(["tabulate", str(tmp_path / "tables"), "--claims", "--carbon", carbon])
    for path in (PUBLISHED / name / "tables").iterdir():
        assert_same(tmp_path / "tables" / path.name, path)


def test_a_published_speedup_is_the_mean_over_searches():
    """By hand, from the seconds of FULL and of AUTOMATA at 10 % on LETTER's one seed."""
    runs = read_csv(PUBLISHED / "protocol/tables/runs.csv")
    runs = runs[(runs["dataset"] == "letter") & (runs["scheduler"] == "hyperband")]
    seconds = runs.set_index(["selector", "fraction", "search"])["total_seconds"].sort_index()
    assert list(seconds["full", 1.0].round(1)[["random", "tpe"]]) == [413.0, 289.6]
    assert list(seconds["gradmatch", 0.1].round(1)[["random", "tpe"]]) == [99.2, 100.2]
    # (413.0 / 99.2 + 289.6 / 100.2) / 2 = (4.16 + 2.89) / 2 = 3.5
    text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert "| LETTER | Hyperband | 3.5 |" in text
