"""Lists in the documentation: methods, tables, figures, columns and quantities.

The table between `<!-- rows: NAME -->` and `<!-- end -->` is `CATALOGUES[NAME]`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import pandas as pd

from automata.analysis import runs
from automata.analysis.quantities import QUANTITIES
from automata.analysis.tables import markdown
from automata.registry import METHODS, SCHEDULERS, SEARCHES, Method
from automata.views import DATASETS, FIGURES, TABLES

_ROWS = re.compile(r"(<!-- rows: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

PAGES = ("docs/configuration.md", "docs/quantities.md")
"""The pages with such lists."""

Rows = Iterable[tuple[str, ...]]


def with_rows(text: str) -> str:
    """Return the page `text` with its lists filled."""

    def filled(found: re.Match[str]) -> str:
        head, *rows = CATALOGUES[found[2]]()
        return f"{found[1]}\n{markdown(pd.DataFrame(rows, columns=head))}\n{found[3]}"

    return _ROWS.sub(filled, text)


def _methods(head: str, what: str, registry: Mapping[str, Method]) -> Rows:
    yield head, "in figures and tables", what
    for name, method in registry.items():
        yield f"`{name}`", method.display, method.meaning


def _tables() -> Rows:
    yield "path", "what"
    for table in TABLES.values():
        yield f"`tables/{table.name}`", table.text


def _figures() -> Rows:
    """Yield each figure with the first sentence of its caption."""
    yield "path", "what"
    for view in FIGURES.values():
        dataset = "/{dataset}" if view.group == DATASETS else ""
        yield f"`figures/{view.name}{dataset}`", view.caption.split(". ")[0].removesuffix(".")


def _runs() -> Rows:
    yield "column", "what"
    source = ast.parse(Path(runs.__file__).read_text(encoding="utf-8"))
    classes = {it.name: it for it in source.body if isinstance(it, ast.ClassDef)}
    for column, meaning in pairwise(classes["RunRow"].body):
        if isinstance(column, ast.AnnAssign) and isinstance(meaning, ast.Expr):
            text = str(ast.literal_eval(meaning.value))
            yield f"`{ast.unparse(column.target)}`", " ".join(text.split())


def _quantities() -> Rows:
    yield "column", "what"
    for quantity in QUANTITIES.values():
        yield f"`{quantity.name}`", quantity.definition.removesuffix(".")


CATALOGUES: dict[str, Callable[[], Rows]] = {
    "selectors": lambda: _methods("selector or control", "what trials train on", METHODS),
    "searches": lambda: _methods("search", "what it proposes", SEARCHES),
    "schedulers": lambda: _methods("scheduler", "which trials it stops early", SCHEDULERS),
    "tables": _tables,
    "figures": _figures,
    "runs": _runs,
    "quantities": _quantities,
}
