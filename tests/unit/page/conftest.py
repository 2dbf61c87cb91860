"""A small experiment with everything that a page can show, and a browser to look at it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from automata.analysis.best import text
from automata.analysis.ratios import ratios_to_full
from automata.analysis.tables import write
from automata.analysis.tradeoff import tradeoff, untuned
from support.synthetic import synthetic_runs, synthetic_trials

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
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
    table = table[(table["dataset"] != "trec6") | (table["search"] != "tpe")]
    table = table[
        (table["dataset"] != "trec6") | (table["selector"] != "random") | (table["fraction"] > 0.05)
    ].reset_index(drop=True)
    odd = (table["dataset"] == "dna") & (table["selector"] == "random") & (table["seed"] == 2)
    table.loc[odd & (table["search"] == "tpe") & (table["fraction"] == 0.1), "machine"] = "other"
    # Seeds differ in how they were measured: energies that do not compare, times that do.
    mine = (table["dataset"] == "trec6") & (table["selector"] == "random")
    table.loc[mine, ["energy_method", "energy_source"]] = ["measured", "pyJoules RAPL"]
    table["best_configuration"] = [f"lr={0.001 * i:.3f} {EVIL}" for i in range(len(table))]
    return table


def write_tables(runs: pd.DataFrame, folder: Path, baselines: dict[str, Any] | None = None) -> None:
    """Write the tables that the page reads, and best.yaml."""
    ratios, trials = ratios_to_full(runs), synthetic_trials(runs)
    best = text(runs, tradeoff(ratios), trials, baselines or {})
    write(best, folder.with_name("best.yaml"))
    write(runs, folder / "runs.parquet")
    write(trials, folder / "trials.parquet")
    write(ratios, folder / "ratios.csv")
    write(tradeoff(ratios), folder / "tradeoff.csv")
    write(untuned(runs), folder / "untuned.csv")
    write(claims_table(runs), folder / "claims.csv")
    write({}, folder / "protocols.json")
    panels = runs[["dataset", "search", "scheduler"]].drop_duplicates()
    device = panels.assign(key="device", here="cpu", paper="V100")
    epochs = panels[panels["dataset"] == "dna"].assign(key="epochs", here="20", paper="200")
    write(pd.concat([device, epochs]), folder / "differences.csv")


@pytest.fixture(scope="session")
def experiment(runs: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of an experiment: tables, figures, captions."""
    folder = tmp_path_factory.mktemp("experiment")
    write_tables(runs, folder / "tables")
    (folder / "figures").mkdir()
    figure = Image.effect_mandelbrot((40, 20), (-2, -1, 2, 1), 50)
    figure.save(folder / "figures/selector-comparison.png")
    return folder


def claims_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a claim per verdict."""
    texts = {"ours": "9.8x", "panels": "3 of 4 panels", "rule": "at least 3x", "location": "p. 1"}
    texts |= {"firm": "", "reading": "", "differences": ""}
    rows = [
        {"id": "fast", "claim": "it is fast", "verdict": "reproduced", "firm": "interval"},
        {"id": "good", "claim": "it is good", "verdict": "not reproduced", "firm": "too few seeds"},
        {"id": "evil", "claim": EVIL, "verdict": "not run"},
    ]
    return pd.DataFrame([{**texts, **row, "records": " ".join(runs["record"][:2])} for row in rows])


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Give a Chromium that is already on the machine; nothing is downloaded.

    For one module: an event loop runs as long, and Snakemake's tests need one of their own.
    """
    if CHROMIUM is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on the PATH")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()
