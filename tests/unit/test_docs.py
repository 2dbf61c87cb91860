"""README and docs: what they link to and what they tell people to type is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from automata.cli import COMMANDS

ROOT = Path(__file__).parents[2]
FOLDERS = ("", "docs/", "config/", "results/", "results/reference/", "benchmarks/")
PAGES = [page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md"))]
MADE = ("flowers.yaml", "cluster.yaml")
"""Configurations that the text tells people to write."""


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", page.read_text())
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    files = [link for link in links if "://" not in link]
    assert [link for link in files if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_configurations_are_there(page: Path) -> None:
    text = "\n".join(re.findall(r"```\n(.*?)```", page.read_text(), re.DOTALL))
    commands = re.findall(r"^(?:\$ )?automata (\S+)", text, re.MULTILINE)
    assert set(commands) <= set(COMMANDS)
    files = re.findall(r"--configfile (\S+\.yaml)", text)
    assert [file for file in files if file not in MADE and not (ROOT / file).exists()] == []
    targets = re.findall(r"^make (\S+)", text, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_page_from_python_shows_its_example() -> None:
    """A formatter of Markdown takes the line for Python, and spoils it."""
    assert '\n--8<-- "examples/wine.py"\n' in (ROOT / "docs/python.md").read_text()
