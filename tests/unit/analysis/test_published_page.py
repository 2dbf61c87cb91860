"""The committed page of results says what the published tables say."""

import filecmp
from pathlib import Path

import pytest

from automata.analysis.published import figures, with_tables
from automata.analysis.tables import read_csv

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results/reference"


@pytest.mark.parametrize("name", ["results", "learning-curves"])
def test_tables_and_figures_are_current(name):
    """After a change: `python tools/texts.py`."""
    text = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    assert with_tables(text, PUBLISHED) == text
    shown = {ROOT / "docs" / path: PUBLISHED / source for path, source in figures(text).items()}
    assert shown
    assert [path for path, of in shown.items() if not filecmp.cmp(path, of, shallow=False)] == []


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
