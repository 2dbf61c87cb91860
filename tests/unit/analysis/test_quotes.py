"""Tables in a text that quote results."""

from pathlib import Path

import pandas as pd
import pytest

from automata.analysis.quotes import quotable, quoted, rows
from automata.analysis.tables import markdown
from automata.cli import main
from automata.errors import UserError

RUNS = pd.DataFrame(
    {"dataset": ["dna", "dna"], "fraction": [0.1, 0.3], "ours": ["", "x | y"], "error": 0.5}
)
CLAIMS = pd.DataFrame(
    {"id": ["best"], "verdict": "reproduced", "said": "always", "firm": "yes", "ours": "2 of 4"}
)
TEXT = """# Results

| dataset | fraction | ours | error |
| --- | --- | --- | --- |
| dna | 0.3 | old | 7 |
| dna | 0.1 |

| what | where |
|---|---|
| dna | 0.1 |

| id | verdict | firm | ours |
| --- | --- | --- | --- |
| best |
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    (tmp_path / "overview.md").write_text(f"# Overview\n\n{markdown(RUNS)}\nText.\n")
    CLAIMS.to_csv(tmp_path / "claims.csv", index=False)
    return tmp_path


def test_rows_are_read_as_they_were_written() -> None:
    assert [row for _, row in rows(markdown(RUNS))] == [
        ("dna", "0.1", "", "0.5"),
        ("dna", "0.3", "x \\| y", "0.5"),
    ]


def test_quoted_rows_say_what_the_results_say(tables: Path) -> None:
    assert list(rows(quoted(TEXT, quotable(tables)))) == [
        (("dataset", "fraction", "ours", "error"), ("dna", "0.3", "x \\| y", "0.5")),
        (("dataset", "fraction", "ours", "error"), ("dna", "0.1", "", "0.5")),
        (("what", "where"), ("dna", "0.1")),
        (("id", "verdict", "firm", "ours"), ("best", "reproduced", "yes", "2 of 4")),
    ]


def test_all_else_stays(tables: Path) -> None:
    found = quoted(TEXT, quotable(tables))
    kept = [line for line in TEXT.splitlines() if not line.startswith(("| dna", "| best"))]
    assert [line for line in found.splitlines() if line in kept] == kept
    assert quoted(found, quotable(tables)) == found


def test_row_that_the_results_do_not_have_is_named(tables: Path) -> None:
    with pytest.raises(UserError, match=r"^line 6: the results have no row of dna, 0\.2$"):
        quoted(TEXT.replace("| dna | 0.1 |\n\n", "| dna | 0.2 |\n\n"), quotable(tables))


def test_command_rewrites_files_and_names_the_one_with_a_mistake(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tables / "README.md"
    page.write_text(TEXT)
    main(["quote", str(page), "--tables", str(tables)])
    assert page.read_text() == quoted(TEXT, quotable(tables))
    page.write_text(TEXT.replace("| best |", "| worst |"))
    with pytest.raises(SystemExit, match=r"README\.md: line 14: .* no row of worst"):
        main(["quote", str(page), "--tables", str(tables)])
