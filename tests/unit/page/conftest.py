"""A small experiment with everything that a page can show."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import vl_convert
from PIL import Image

from automata.analysis.best import text
from automata.analysis.tables import write
from support import tabulated
from support.synthetic import synthetic_runs

# The bundle is the same for all pages, and takes seconds to make.
vl_convert.javascript_bundle = cache(vl_convert.javascript_bundle)

EVIL = "</script><script>document.title='broken'</script>"


@pytest.fixture(scope="session")
def runs() -> pd.DataFrame:
    """3 seeds of two data sets; one panel is missing, and one run comes from another host."""
    table = synthetic_runs(
        datasets=("dna", "trec6"),
        selectors=("full", "full-again", "random", "gradmatch", "untuned"),
        fractions=(0.05, 0.1),
        schedulers=("hyperband",),
        repeats=3,
    )
    table = table.query("dataset != 'trec6' or search != 'tpe'")
    table = table.query("dataset != 'trec6' or selector != 'random' or fraction > 0.05")
    table = table.reset_index(drop=True)
    odd = "dataset == 'dna' and selector == 'random' and seed == 2 and search == 'tpe'"
    table.loc[table.query(f"{odd} and fraction == 0.1").index, "machine"] = "other"
    # Seeds differ in how they were measured: energies that do not compare, times that do.
    mine = (table["dataset"] == "trec6") & (table["selector"] == "random")
    table.loc[mine, ["energy_method", "energy_source"]] = ["measured", "pyJoules RAPL"]
    table["best_configuration"] = [f"lr={0.001 * i:.3f} {EVIL}" for i in range(len(table))]
    return table


def write_tables(runs: pd.DataFrame, folder: Path, baselines: dict[str, Any] | None = None) -> None:
    """Write the tables that the page reads, and best.yaml."""
    panels = runs[["dataset", "search", "scheduler"]].drop_duplicates()
    device = panels.assign(key="device", here="cpu", paper="V100")
    study = tabulated.write_tables(runs, folder, device.to_numpy().tolist())
    best = text(runs, study.tradeoff, study.trials, baselines or {})
    write(best, folder.with_name("best.yaml"))
    texts = {"ours": "9.8x", "panels": "3 of 4 panels", "location": "p. 1"}
    claims = [
        {"id": "fast", "claim": "it is fast", "verdict": "reproduced"},
        {"id": "evil", "claim": EVIL, "verdict": "not run"},
    ]
    write(pd.DataFrame([{**texts, **claim} for claim in claims]), folder / "claims.csv")


@pytest.fixture(scope="session")
def experiment(runs: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an experiment: tables, a figure, best.yaml."""
    folder = tmp_path_factory.mktemp("experiment")
    write_tables(runs, folder / "tables")
    (folder / "figures").mkdir()
    figure = Image.effect_mandelbrot((40, 20), (-2, -1, 2, 1), 50)
    figure.save(folder / "figures/selector-comparison.png")
    return folder
