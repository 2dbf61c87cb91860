"""README and docs: links, commands, files and examples that they name exist."""

import filecmp
import re
from pathlib import Path

from automata.cli import COMMANDS
from automata.config.files import read_experiments
from tools.published import figures, with_tables
from tools.texts import CATALOGUES, with_rows
from tools.texts import PAGES as GENERATED

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results/reference"
FOLDERS = ("", "docs/", "config/", "results/", "results/reference/", "benchmarks/", "studies/")
PAGES = [page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md"))]
MADE = ("flowers.yaml", "cluster.yaml", "mine.yaml")
"""Configurations that the reader writes."""


def headings(page):
    """Return the anchors of a page, as GitHub and MkDocs name them."""
    titles = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_links_lead_to_files_and_headings():
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", page.read_text())
        links = re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)[^)]*\)", text)
        inside = [(page.parent / to if to else page, at) for to, at in links if "://" not in to]
        assert [str(file) for file, _ in inside if not file.exists()] == [], page
        assert [(file, at) for file, at in inside if at and at not in headings(file)] == [], page


def test_links_of_published_pages_lead_to_files():
    for page in PUBLISHED.glob("*/index.html"):
        links = re.findall(r'href="(?!#|data:)([^"]+)"', page.read_text(encoding="utf-8"))
        assert links
        assert [link for link in links if not (page.parent / link).exists()] == [], page


def test_commands_and_configurations_exist():
    text = "\n".join(page.read_text() for page in PAGES)
    blocks = "\n".join(re.findall(r"```\n(.*?)```", text, re.DOTALL))
    commands = re.findall(r"(?:^|\$\(|`)automata\s+([a-z-]+)", blocks + text, re.MULTILINE)
    assert set(commands) <= set(COMMANDS)
    files = re.findall(r"--configfile\s+(\S+\.yaml)", text)
    assert [file for file in files if file not in MADE and not (ROOT / file).exists()] == []
    targets = re.findall(r"(?:^|`)make ([a-z-]+)", blocks + text, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_configurations_in_the_docs_are_valid(tmp_path, monkeypatch):
    """Each block of YAML is read as a file after config.yaml."""
    monkeypatch.chdir(ROOT)
    for page in sorted((ROOT / "docs").glob("*.md")):
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
            file = tmp_path / "shown.yaml"
            file.write_text(block.replace("[config/", f"[{ROOT}/config/"))
            assert read_experiments([ROOT / "config/config.yaml", file]), page


def test_lists_of_methods_tables_and_figures_are_the_generated_ones():
    texts = [(ROOT / page).read_text() for page in GENERATED]
    assert texts == list(map(with_rows, texts)), "run: python -m tools.texts"
    assert set(re.findall("<!-- rows: (.*) -->", "".join(texts))) == set(CATALOGUES)


def test_tables_and_figures_of_results_in_the_docs_are_the_published_ones():
    for name in ("results", "learning-curves"):
        text = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
        assert with_tables(text, PUBLISHED) == text, "run: python -m tools.texts"
        shown = {ROOT / "docs" / path: PUBLISHED / source for path, source in figures(text).items()}
        assert shown
        assert [it for it, of in shown.items() if not filecmp.cmp(it, of, shallow=False)] == []
