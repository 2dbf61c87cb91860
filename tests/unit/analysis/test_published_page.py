"""The committed page of results says what the published tables say."""

import filecmp
from pathlib import Path

import pytest

from automata.analysis.published import figures, with_tables
from automata.analysis.tables import read_csv

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results/reference"
PAGES = {name: ROOT / f"docs/{name}.md" for name in ("results", "learning-curves")}


@pytest.mark.parametrize("name", PAGES)
def test_tables_are_current(name: str) -> None:
    """After a change: `python tools/texts.py`."""
    text = PAGES[name].read_text(encoding="utf-8")
    assert with_tables(text, PUBLISHED) == text


@pytest.mark.parametrize("name", PAGES)
def test_figures_are_current(name: str) -> None:
    shown = figures(PAGES[name].read_text(encoding="utf-8"))
    assert shown
    stale = [
        path
        for path, source in shown.items()
        if not filecmp.cmp(ROOT / "docs" / path, PUBLISHED / source, shallow=False)
    ]
    assert stale == []


def test_speedup_is_the_mean_over_searches() -> None:
    """By hand, from the seconds of FULL and of AUTOMATA at 10 % on LETTER's one seed."""
    text = PAGES["results"].read_text(encoding="utf-8")
    runs = read_csv(PUBLISHED / "protocol/tables/runs.csv")
    panel = runs[(runs["dataset"] == "letter") & (runs["scheduler"] == "hyperband")]
    seconds = (
        panel.set_index(["selector", "fraction", "search"])["total_seconds"].sort_index().round(1)
    )
    assert list(seconds["full", 1.0][["random", "tpe"]]) == [413.0, 289.6]
    assert list(seconds["gradmatch", 0.1][["random", "tpe"]]) == [99.2, 100.2]
    # (413.0 / 99.2 + 289.6 / 100.2) / 2 = (4.16 + 2.89) / 2 = 3.5
    assert "| LETTER | Hyperband | 3.5 |" in text


def test_text_without_tables_stays_as_it_is() -> None:
    assert with_tables("# Title\n\n| a |\n", PUBLISHED) == "# Title\n\n| a |\n"
