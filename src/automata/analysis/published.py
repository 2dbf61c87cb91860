"""The tables of a text such as docs/results.md, from the published tables of an experiment.

`<!-- table: protocol sizes dataset=dna -->` is the table `sizes` of protocol/tables/, for dna.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import pandas as pd

from automata import names
from automata.analysis.overview import by_size, contrasts, for_readers, gain, ran, worth
from automata.analysis.statistics import bounds, of_units
from automata.analysis.study import Study, compared
from automata.analysis.tables import markdown, read_csv
from automata.analysis.tradeoff import time_split
from automata.analysis.wording import cell, three_digits
from automata.simulation.readers import TABLES as SIMULATED

_TABLE = re.compile(r"(<!-- table: (\S+) (\S+)(?: (\w+)=(\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
_FIGURE = re.compile(r"\]\(figures/([\w-]+)/([\w./-]+)\)")


class Published(Study):
    """The tables of an experiment as they are published: CSV files alone."""

    @cached_property
    def runs(self) -> pd.DataFrame:
        """One row per record."""
        return read_csv(self.folder / "runs.csv")


def with_tables(text: str, published: Path) -> str:
    """Return `text` with its tables filled; `published` has the folders of the experiments."""

    def filled(found: re.Match[str]) -> str:
        opening, experiment, name, column, value, closing = found.groups()
        study = Published(published / experiment / "tables")
        if column:
            study.__dict__["ratios"] = study.ratios[study.ratios[column] == value]
        return f"{opening}\n{markdown(for_readers(TABLES[name](study)))}\n{closing}"

    return _TABLE.sub(filled, text)


def figures(text: str) -> dict[Path, Path]:
    """Return the figures that `text` shows, and where they lie among the published ones."""
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
            for what, value in zip(("speedup", "ideal", "error"), gain(own).split(), strict=True):
                row[f"{names.selector(selector)} {what}"] = value.strip("(),")
        rows.append(row)
    return pd.DataFrame(rows).drop(columns=["FULL (repeat) speedup", "FULL (repeat) ideal"])


def _sizes(study: Study) -> pd.DataFrame:
    ratios = compared(study.ratios)
    return by_size(ratios[ratios["selector"] != "full"], ["scheduler", "selector"], gain)


def _intervals(study: Study) -> pd.DataFrame:
    own = study.ratios[study.ratios["selector"].isin([names.AUTOMATA, "full-again"])]
    return by_size(compared(own), ["scheduler", "selector"], _bounded)


def _bounded(rows: pd.DataFrame) -> str:
    seeds = [of_units(rows, column) for column in ("speedup", "relative_test_error")]
    return "; ".join(cell(values.mean(), *bounds(values), len(values)) for values in seeds)


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
    "runs": ran,
    "contrasts": contrasts,
    "worth": worth,
    "answer": _answer,
    "sizes": _sizes,
}
TABLES |= {"intervals": _intervals, "claims": _claims, "time": _time}
TABLES |= SIMULATED
"""What `with_tables` can fill in, by name."""
