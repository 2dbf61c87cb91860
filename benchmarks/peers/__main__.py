"""`python -m benchmarks.peers`: whole searches by Optuna and by this project, in turns."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from automata.config.data import Preparation
from automata.config.files import combine
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.records.record import read_record
from benchmarks.report import Row, parser_of, write_table
from benchmarks.timing import python

ROOT = Path(__file__).parents[2]
PACKAGES = ("torch", "optuna", "ray", "snakemake", "numpy")
EPOCHS = {"letter": 50, "dna": 200}
"""Data set -> T, the epochs of a trial that is not stopped; both sets ship with the project."""
COMMON: dict[str, Any] = {
    "experiment": "peers",
    "searches": ["random"],
    "schedulers": ["hyperband"],
    "models": {"keep": "all"},
    "metering": {"exclusive": False},
}
WAYS: dict[str, dict[str, Any]] = {
    "Optuna, all data": {},
    "ours, all data": {"selectors": ["full"]},
    "ours, all data, ASHA": {"selectors": ["full"], "schedulers": ["asha"]},
    "ours, RS2 10 %": {"selectors": ["rs2"], "fractions": [0.1]},
    "ours, hedge": {
        "selectors": ["rs2"],
        "fractions": [0.01],
        "protocol": {
            "tabular": {
                "horizon_exponent": [0, 0.5],
                "screen_metric": "log_loss",
                "finalists": 3,
                "finalist_rungs": {"0.1": 3, "0.3333": 2},
            }
        },
    },
}
"""Way to search -> its keys of the configuration, beside COMMON; Optuna reads none."""
COLUMNS = {"seconds": ".0f", "seconds to the end": ".0f", "epochs": ".0f", "test accuracy": ".1%"}
"""Column of the summary -> its format."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all ways in turns; write the tables after each."""
    parser = parser_of("peers", __doc__)
    parser.add_argument("--datasets", nargs="+", choices=EPOCHS, default=[*EPOCHS])
    parser.add_argument("--seeds", type=int, default=3, help="number of searches by each way")
    parser.add_argument("--slots", nargs="+", type=int, default=[1, 2], help="trials at once")
    options = parser.parse_args(arguments)
    title = "27 configurations by each way, one thread a trial"
    rows: list[Row] = []
    for seed, dataset, way, slots in product(
        range(options.seeds), options.datasets, WAYS, options.slots
    ):
        if slots > 1 and not WAYS[way]:
            continue  # Optuna's trials share one process
        with tempfile.TemporaryDirectory(prefix="automata-peers-") as folder:
            search = _ours if WAYS[way] else _optuna
            found = search(Path(folder), dataset, seed, slots, WAYS[way])
        rows.append({"data": dataset, "way": f"{way}, {slots} at once", "seed": seed, **found})
        write_table(rows, options.results, "searches", title, packages=PACKAGES)
        table = summary(rows)
        text = f"{title}: medians (ranges)"
        write_table(table, options.results, "peers", text, packages=PACKAGES)
        print(rows[-1], flush=True)
    print((options.results / "peers.md").read_text(encoding="utf-8"))


def _optuna(folder: Path, dataset: str, seed: int, slots: int, keys: dict[str, Any]) -> Row:
    """Run the Optuna script on prepared data."""
    data, results = folder / "data.safetensors", folder / "results.json"
    write_dataset(prepare(dataset, Preparation(), folder), data)
    script = Path(__file__).with_name("optuna_script.py")
    seconds = python(folder, script, data, EPOCHS[dataset], seed, results)["wall s"]
    return {"seconds": seconds, "seconds to the end": seconds, **json.loads(results.read_text())}


def _ours(folder: Path, dataset: str, seed: int, slots: int, keys: dict[str, Any]) -> Row:
    """Run `snakemake` in an empty folder: data, search, final training, tables, figures, page."""
    protocol = {"protocol": {"tabular": {"epochs": EPOCHS[dataset]}}}
    grid = {**COMMON, "datasets": [dataset], "seeds": [seed]}
    grid["compute"] = {"concurrent_trials": slots}
    configuration = folder / "peers.yaml"
    configuration.write_text(json.dumps(combine(combine(grid, protocol), keys)))
    snakemake = ["-m", "snakemake", "--snakefile", ROOT / "workflow/Snakefile", "--cores", slots]
    started = time.time()
    seconds = python(folder, *snakemake, "--configfile", configuration)["wall s"]
    (model,) = folder.glob("results/runs/**/model.safetensors")
    record = read_record(model.with_name("record.json"))
    trainings = [trial.progress for trial in record.tuning.trials]
    if record.final is not None:
        trainings += [record.final.progress, *(lost.progress for lost in record.final.lost)]
    return {
        "seconds": model.stat().st_mtime - started,
        "seconds to the end": seconds,
        "epochs": sum(it.samples for it in trainings) / record.data.counts["train"],
        "test accuracy": record.test.accuracy,
    }


def summary(rows: Sequence[Row]) -> list[Row]:
    """Return a row per way: for each data set the median of each column, with its range."""
    numbers = pd.DataFrame(rows).groupby(["way", "data"], sort=False)
    table = {
        f"{data}: {column}": numbers[column].agg(_range, form).unstack()[data]
        for data in dict.fromkeys(row["data"] for row in rows)
        for column, form in COLUMNS.items()
    }
    return pd.DataFrame(table).fillna("").reset_index().to_dict("records")


def _range(values: pd.Series[float], form: str) -> str:
    low, middle, high = (format(value, form) for value in values.quantile([0, 0.5, 1]))
    return f"{middle} ({low} to {high})"


if __name__ == "__main__":
    main()
