"""`python -m benchmarks.reductions`: tables, figures and page from made-up runs of the paper."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from automata.analysis.claims import claims_table, read_claims
from automata.analysis.differences import differences
from automata.analysis.experiment import Tables
from automata.analysis.ratios import ratios_to_full
from automata.analysis.studies import STUDIES
from automata.analysis.tables import write_csv, write_json, write_parquet
from automata.analysis.tradeoff import tradeoff
from automata.analysis.untuned import untuned
from automata.config import Carbon
from automata.experiments.files import ConfigFiles
from automata.figures import catalogue
from automata.figures.style import save
from automata.page.build import write_page
from benchmarks.report import Row, write_table
from benchmarks.synthetic import CONTROLS, PAPER, synthetic_runs, synthetic_trials

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parents[2]
PACKAGES = ("pandas", "scipy", "matplotlib", "vl-convert-python")


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reductions", description=__doc__)
    parser.add_argument("--controls", action="store_true", help="with the controls: 4,508 runs")
    parser.add_argument("--quick", action="store_true", help="two data sets, to see that it works")
    parser.add_argument("--keep", type=Path, help="folder that the experiment is kept in")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the table")
    options = parser.parse_args()
    mpl.use("Agg")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        rows = _timed(folder, options.controls, options.quick)
    title = f"From the table of {rows[0]['count']} made-up runs to tables, figures and page"
    write_table(rows, options.results, "reductions", title=title, packages=PACKAGES)


def _timed(folder: Path, controls: bool, quick: bool) -> list[Row]:
    """Make everything in `folder`; return what each step cost, and all of them."""
    chosen: dict[str, Any] = {"datasets": ("dna", "trec6"), "repeats": 2} if quick else {}
    runs = synthetic_runs(selectors=PAPER + CONTROLS if controls else PAPER, **chosen)
    tables, datasets = Tables(folder / "tables"), list(dict.fromkeys(runs["dataset"]))
    write_parquet(runs, tables.folder / "runs.parquet")
    write_parquet(synthetic_trials(runs), tables.folder / "trials.parquet")
    write_json({}, tables.folder / "protocols.json")
    steps: dict[str, tuple[int, Callable[[], None]]] = {
        "tradeoff": (len(runs), lambda: _tradeoff(tables)),
        "differences": (len(datasets), lambda: _differences(tables)),
        "claims": (1, lambda: _claims(tables)),
        "studies": (len(STUDIES), lambda: _studies(tables)),
        "figures": (
            len(catalogue.PAPER | catalogue.STUDIES),
            lambda: _figures(tables, folder / "figures"),
        ),
        "figures of data sets": (
            len(catalogue.OF_DATASET) * len(datasets),
            lambda: _figures_of(tables, datasets, folder / "figures"),
        ),
        "page": (1, lambda: _page(folder)),
    }
    rows: list[Row] = []
    for name, (count, step) in steps.items():
        wall, processor = time.perf_counter(), time.process_time()
        step()
        rows.append(_row(name, count, time.perf_counter() - wall, time.process_time() - processor))
    total = [sum(float(str(row[key])) for row in rows) for key in ("wall s", "CPU s")]
    return [*rows, _row("all", 1, *total)]


def _row(step: str, count: int, wall: float, processor: float) -> Row:
    return {"step": step, "count": count, "wall s": wall, "CPU s": processor}


def _tradeoff(tables: Tables) -> None:
    stated = {"region": "any", "year": 2023, "source": "any", "tdp_source": "any"}
    carbon = Carbon.model_validate({**stated, "grams_per_kwh": 369.0, "tdp_watts": 250.0})
    ratios = ratios_to_full(tables.runs, carbon)
    write_csv(ratios, tables.folder / "ratios.csv")
    write_csv(tradeoff(ratios), tables.folder / "tradeoff.csv")
    write_csv(untuned(tables.runs), tables.folder / "untuned.csv")


def _differences(tables: Tables) -> None:
    config = ROOT / "config"
    files = ConfigFiles([config / "config.yaml", config / "paper.yaml"], {}, config / "schema.json")
    table = differences(tables.runs, tables.protocols, files.experiments())
    write_csv(table, tables.folder / "differences.csv")


def _claims(tables: Tables) -> None:
    table = claims_table(read_claims(ROOT / "config/claims.yaml"), tables)
    write_csv(table, tables.folder / "claims.csv")


def _studies(tables: Tables) -> None:
    for name, study in STUDIES.items():
        write_csv(study(tables), tables.folder / f"{name}.csv")


def _figures(tables: Tables, folder: Path) -> None:
    for name in catalogue.PAPER | catalogue.STUDIES:
        save(catalogue.draw(name, tables), folder / f"{name}.pdf", folder / f"{name}.png")
        plt.close("all")


def _figures_of(tables: Tables, datasets: list[str], folder: Path) -> None:
    for name in catalogue.OF_DATASET:
        for dataset in datasets:
            path = folder / name / dataset
            figure = catalogue.draw_dataset(name, tables, dataset)
            save(figure, path.with_suffix(".pdf"), path.with_suffix(".png"))
            plt.close("all")


def _page(folder: Path) -> None:
    captions = ROOT / "workflow/report"
    write_page(folder / "tables", folder / "figures", captions, "benchmark", folder / "index.html")


if __name__ == "__main__":
    main()
