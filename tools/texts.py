"""`python tools/texts.py`: update texts that quote the code or published results.

They are the JSON schema of the configuration (config/schema.json), the tables of its keys
(docs/configuration.md), and the tables and figures of docs/results.md.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # called as a file

# ruff: noqa: E402
from automata.analysis.published import figures, with_tables
from automata.config.reading import read
from tools.keys import json_schema, with_keys


def main() -> None:
    """Write them."""
    schema = json.dumps(json_schema(), indent=2) + "\n"
    (ROOT / "config/schema.json").write_text(schema, encoding="utf-8")
    page = ROOT / "docs/configuration.md"
    text = with_keys(page.read_text(encoding="utf-8"), read(ROOT / "config/config.yaml"))
    page.write_text(text, encoding="utf-8")
    page, published = ROOT / "docs/results.md", ROOT / "results/reference"
    text = page.read_text(encoding="utf-8")
    page.write_text(with_tables(text, published), encoding="utf-8")
    for shown, source in figures(text).items():
        (page.parent / shown).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(published / source, page.parent / shown)


if __name__ == "__main__":
    main()
