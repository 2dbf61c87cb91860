"""`python -m benchmarks.slots.real DATA...`: the wall times of jobs, predicted and real.

Each DATA is a prepared file. A job has the keys that `automata new` writes, under each method.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path

from automata.config.files import Config
from automata.datasets.prepared import Dataset, read_dataset
from automata.experiment.probe import probed
from automata.experiment.recommended import (
    ASHA,
    HEDGE,
    HYPERBAND,
    base_of,
    job_of,
    keys_of,
    trained_of,
)
from automata.experiment.sizes import EFFICIENCY, Size, expected
from automata.tuning.job import run
from benchmarks.report import Row, parser_of, write_table


def main() -> None:
    """Run the jobs one after the other; write the table after each."""
    parser = parser_of("slots", __doc__)
    parser.add_argument("data", nargs="+", type=Path, metavar="DATA")
    parser.add_argument("--slots", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--methods", nargs="+", default=[HYPERBAND, ASHA, HEDGE])
    parser.add_argument("--size", nargs=2, type=int, default=[27, 81], help="trials and epochs")
    options = parser.parse_args()
    rows: list[Row] = []
    for path in options.data:
        data = read_dataset(path)
        base = data_keys(data)
        space = {"protocol": {data.kind: trained_of(data)}}
        epochs = probed(data, job_of(base, space))
        for slots, method in product(options.slots, options.methods):
            keys = keys_of(method, Size(*options.size, 1), slots, data, trained_of(data))
            job = job_of(base, keys, {"metering": {"exclusive": False}})
            predicted = expected(job, epochs).wall / (EFFICIENCY if slots > 1 else 1)
            with tempfile.TemporaryDirectory(prefix="automata-slots-") as folder:
                record, _ = run(job, path, Path(folder))
            real = sum(phase.wall_seconds for phase in record.phases)
            found = {"data": data.name, "slots": slots, "configurations": options.size[0]}
            found |= {"epochs": options.size[1], "method": method, "predicted s": predicted}
            found |= {"real s": real, "real / predicted": real / predicted}
            rows.append(found | {"test accuracy": record.test.accuracy})
            title = "Wall times of search and final training, predicted and real"
            write_table(rows, options.results, "real", title, packages=("torch", "ray"))
            print(rows[-1], flush=True)


def data_keys(data: Dataset) -> Config:
    """Return the keys of a data set."""
    made = data.metadata["preparation"]
    base = base_of(data.name, made["own"]) if made.get("own") else {}
    vectors = {"data": {"vectors": made["vectors"]}} if made.get("vectors") else {}
    return {"datasets": [data.name]} | base | vectors


if __name__ == "__main__":
    main()
