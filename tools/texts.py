"""`python tools/texts.py`: write again what texts take from the code and from published results.

The JSON schema of the configuration (config/schema.json), the tables of its keys
(docs/configuration.md), the lists of methods, tables and figures (tools/catalogues.py), and the
tables and figures of docs/results.md and docs/learning-curves.md.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from automata.analysis.published import figures, with_tables
from automata.config.experiment import write_schema
from automata.config.reference import write_tables

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # called as a file

from tools.catalogues import PAGES, with_rows  # noqa: E402


def main() -> None:
    """Write them."""
    write_schema(ROOT / "config/schema.json")
    write_tables(ROOT / "docs/configuration.md", ROOT / "config/config.yaml")
    for name in PAGES:
        page = ROOT / name
        page.write_text(with_rows(page.read_text(encoding="utf-8")), encoding="utf-8")
    published = ROOT / "results/reference"
    for name in ("results", "learning-curves"):
        page = ROOT / f"docs/{name}.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(with_tables(text, published), encoding="utf-8")
        for shown, source in figures(text).items():
            (page.parent / shown).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(published / source, page.parent / shown)


if __name__ == "__main__":
    main()
