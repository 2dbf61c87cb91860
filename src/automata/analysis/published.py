"""Tables and figures in texts such as docs/results.md, from the published results.

`<!-- table: protocol sizes dataset=dna -->` stands for the table `sizes` of dna, made of
protocol/tables/.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from automata import names
from automata.analysis import overview, simulated
from automata.analysis.overview import by_size, gain, gains
from automata.analysis.statistics import bounds, of_units
from automata.analysis.study import Study, compared
from automata.analysis.tables import markdown, read_csv
from automata.analysis.tradeoff import time_split
from automata.analysis.wording import cell, three_digits

_TABLE = re.compile(r"(<!-- table: (\S+) (\S+)(?: (\w+)=(\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
_FIGURE = re.compile(r"\]\(figures/([\w-]+)/([\w./-]+)\)")


def with_tables(text: str, published: Path) -> str:
    """Return `text` with its tables filled; `published` has the folders of the experiments."""

    def filled(found: re.Match[str]) -> str:
        opening, experiment, name, column, value, closing = found.groups()
        study = Study(published / experiment / "tables")
        if column:
            study.__dict__["ratios"] = study.ratios[study.ratios[column] == value]
        return f"{opening}\n{markdown(overview.for_readers(TABLES[name](study)))}\n{closing}"

    return _TABLE.sub(filled, text)


def figures(text: str) -> dict[Path, Path]:
    """Return the path of each figure in `text` -> its path among the published results."""
    return {
        Path("figures", experiment, name): Path(experiment, "figures", name)
        for experiment, name in _FIGURE.findall(text)
    }


def _answer(study: Study) -> pd.DataFrame:
    rows = []
    for (dataset, scheduler), panel in compared(study.ratios).groupby(["dataset", "scheduler"]):
        row = {"dataset": dataset, "seeds": panel["seed"].nunique(), "scheduler": scheduler}
        for selector, fraction in ((names.AUTOMATA, 0.1), ("rs2", 0.1), ("full-again", 1)):
            own = panel[(panel["selector"] == selector) & (panel["fraction"] == fraction)]
            heads = (f"{names.selector(selector)} {what}" for what in ("speedup", "ideal", "error"))
            row |= dict(zip(heads, gains(own), strict=True))
        rows.append(row)
    return pd.DataFrame(rows).drop(columns=["FULL (repeat) speedup", "FULL (repeat) ideal"])


def _sizes(study: Study) -> pd.DataFrame:
    ratios = compared(study.ratios)
    return by_size(ratios[ratios["selector"] != "full"], ["scheduler", "selector"], gain)


def _intervals(study: Study) -> pd.DataFrame:
    own = study.ratios[study.ratios["selector"].isin([names.AUTOMATA, "full-again"])]
    return by_size(compared(own), ["scheduler", "selector"], _bounded)


def _bounded(rows: pd.DataFrame) -> str:
    units = [of_units(rows, column) for column in ("speedup", "relative_test_error")]
    return "; ".join(cell(values.mean(), *bounds(values), len(values)) for values in units)


def _claims(study: Study) -> pd.DataFrame:
    claims = read_csv(study.folder / "claims.csv")
    shown = ["id", "location", "verdict", "firm", "ours"]
    return claims.loc[claims["verdict"] != "not run", shown]


def _time(study: Study) -> pd.DataFrame:
    split = time_split(study.runs, study.ratios)
    own = split[split["selector"] == names.AUTOMATA]
    return by_size(own, ["dataset", "scheduler"], _shares)


def _shares(rows: pd.DataFrame) -> str:
    parts = [rows[f"{part}_seconds"].mean() for part in ("training", "selection", "final")]
    total = rows["total_seconds"].mean()
    return f"{three_digits(total)} s: " + " / ".join(f"{100 * part / total:.0f}" for part in parts)


TABLES: dict[str, Callable[[Study], pd.DataFrame]] = {
    "runs": overview.ran,
    "contrasts": overview.contrasts,
    "worth": overview.worth,
    "answer": _answer,
    "sizes": _sizes,
}
TABLES |= {"intervals": _intervals, "claims": _claims, "time": _time}
TABLES |= {
    f"{scheduler}{'-finalists' * finalists}": partial(
        simulated.regrets, scheduler=scheduler, finalists=finalists
    )
    for scheduler in ("hyperband", "asha")
    for finalists in (False, True)
}
TABLES |= {"decision": simulated.decision, "validation": simulated.validation}
TABLES |= {"noise": simulated.noise, "correlations": simulated.correlations}
TABLES |= {"pairs": simulated.contrasts, "simulated-claims": simulated.claims}
TABLES |= {"horizon": simulated.horizon, "real": simulated.real, "chosen": simulated.chosen}
"""What `with_tables` can fill in, by name."""
