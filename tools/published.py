"""Tables and figures of the published results in pages of docs/.

`<!-- table: protocol worth -->` becomes the table `worth`, made from protocol/tables/.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from automata import names
from automata.analysis.answer import METHODS
from automata.analysis.overview import for_readers, gains, ran, worth
from automata.analysis.ratios import ratios_to_full
from automata.analysis.study import Study, compared
from automata.analysis.tables import markdown, read_texts
from automata.config.files import DEFAULTS, read
from automata.config.sections import Carbon
from studies.curves.readers import certainty, losses

_FIGURE = re.compile(r"\]\(figures/([\w-]+)/([\w./-]+)\)")

CLAIMS = (
    *("abstract-3x-30x", "figure-1-hyperband", "figure-1-asha", "appendix-best"),
    *("better-than-random", "larger-data-sets", "asha-more-efficient"),
    "large-subsets-without-loss",
)
"""The claims of docs/results.md."""


def with_tables(text: str, published: Path) -> str:
    """Return `text` with its tables filled; `published` has the folders of the experiments."""

    def table(words: str) -> pd.DataFrame:
        experiment, name = words.split()
        return TABLES[name](Study(published / experiment / "tables"))

    return filled(text, "table", table)


def filled(text: str, kind: str, table: Callable[[str], pd.DataFrame]) -> str:
    """Return `text` with `table(WORDS)` between `<!-- KIND: WORDS -->` and `<!-- end -->`."""
    pattern = re.compile(rf"(<!-- {kind}: ([^\n]+?) -->\n).*?(<!-- end -->)", re.DOTALL)
    return pattern.sub(lambda it: f"{it[1]}\n{markdown(table(it[2]))}\n{it[3]}", text)


def figures(text: str) -> dict[Path, Path]:
    """Return the path of each figure in `text` -> its path among the published results."""
    return {
        Path("figures", experiment, name): Path(experiment, "figures", name)
        for experiment, name in _FIGURE.findall(text)
    }


def _answer(study: Study) -> pd.DataFrame:
    """Return speedup and error of AUTOMATA and RS2 on 10 %, and the error of FULL's repeat."""
    lines = []
    carbon = Carbon.model_validate(read(DEFAULTS)["carbon"])
    runs = compared(ratios_to_full(study.runs, carbon))
    for (dataset, scheduler), rows in runs.groupby(["dataset", "scheduler"]):
        of = {name: gains(part) for name, part in rows.groupby(["selector", "fraction"])}
        line = {"dataset": dataset, "scheduler": scheduler}
        for method in METHODS:
            texts = zip(("speedup", "ceiling", "error"), of[method, 0.1], strict=True)
            line |= {f"{names.selector(method)} {name}": text for name, text in texts}
        if repeat := of.get(("full-again", 1.0)):
            line[f"{names.REPEAT} error"] = repeat[2]
        lines.append(line)
    return for_readers(pd.DataFrame(lines))


def _claims(tables: Path) -> pd.DataFrame:
    return read_texts(tables / "claims.csv").set_index("id")


def _main_claims(study: Study) -> pd.DataFrame:
    claims = _claims(study.folder).loc[list(CLAIMS), ["claim", "verdict", "ours"]]
    return claims.assign(ours=claims["ours"].str.partition(";")[0])


TABLES: dict[str, Callable[[Study], pd.DataFrame]] = {
    "runs": lambda study: for_readers(ran(study)).loc[:, :"measured hours"],
    "answer": _answer,
    "worth": lambda study: for_readers(worth(study)),
    "claims": _main_claims,
    "losses": losses,
    "certainty": certainty,
}
"""The tables that `with_tables` knows, by name."""
