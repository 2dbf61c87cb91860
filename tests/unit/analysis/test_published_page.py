"""The committed page of results says what the published tables say."""

import filecmp
from pathlib import Path

import pytest

from automata.analysis.published import figures, with_tables
from automata.analysis.tables import read_csv

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results/reference"
PAGE = ROOT / "docs/results.md"


@pytest.fixture(scope="module")
def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_tables_are_current(text: str) -> None:
    """After a change: `automata report docs/results.md --published results/reference`."""
    assert with_tables(text, PUBLISHED) == text


def test_figures_are_current(text: str) -> None:
    shown = figures(text)
    assert len(shown) > 5
    stale = [
        path
        for path, source in shown.items()
        if not filecmp.cmp(PAGE.parent / path, PUBLISHED / source, shallow=False)
    ]
    assert stale == []


def test_speedup_is_the_mean_over_searches_and_seeds(text: str) -> None:
    """By hand: LETTER has one seed, so the cell is the mean of its two searches."""
    ratios = read_csv(PUBLISHED / "protocol/tables/ratios.csv")
    cells = ratios[
        (ratios["dataset"] == "letter")
        & (ratios["scheduler"] == "hyperband")
        & (ratios["selector"] == "gradmatch")
        & (ratios["fraction"] == 0.1)
    ]
    by_hand = {"random": 3.9203, "tpe": 3.1388}
    assert dict(zip(cells["search"], cells["speedup"].round(4), strict=True)) == by_hand
    assert round((3.9203 + 3.1388) / 2, 1) == 3.5
    row = "| LETTER | 1 | Hyperband | 3.5 | 5.0 | +0.2 |"
    assert row in text


def test_text_without_tables_stays_as_it_is() -> None:
    assert with_tables("# Title\n\n| a |\n", PUBLISHED) == "# Title\n\n| a |\n"
