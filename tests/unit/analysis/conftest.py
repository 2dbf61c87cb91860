"""A published record with changes, and rows of tables made by hand."""

import json
import tarfile
from functools import cache, reduce
from operator import getitem
from pathlib import Path

from automata.analysis.ratios import COLUMNS as RATIOS
from automata.analysis.ratios import SAME
from automata.analysis.runs import TYPES
from automata.records.record import Record

ARCHIVE = Path(__file__).parents[3] / "results/reference/default/records.tar.xz"


@cache
def _published():
    with tarfile.open(ARCHIVE) as archive:
        file = archive.extractfile("satimage/tpe-asha-d1688842/gradmatch-0.1/seed-0/record.json")
        content = json.load(file)
    del content["digest"]
    return Record.model_validate(content).model_dump_json()  # without fields of earlier versions


def changed(content, changes):
    """Return JSON content with other values at paths like a/0/b."""
    for path, value in changes.items():
        *parents, last = (int(key) if key.isdigit() else key for key in path.split("/"))
        reduce(getitem, parents, content)[last] = value
    return content


def record(changes=()):
    """Return the record of a run of AUTOMATA under ASHA, with other values at these paths."""
    return Record.model_validate(changed(json.loads(_published()), dict(changes)))


def run(selector="gradmatch", fraction=0.1, seed=0, **changes):
    """Return a row of the tables of runs and of ratios; what no test reads is None."""
    values = {
        **dict.fromkeys([*TYPES, *RATIOS]),
        **dict.fromkeys(SAME, "alike"),
        "dataset": "satimage",
        "search": "tpe",
        "scheduler": "hyperband",
        "selector": selector,
        "fraction": fraction,
        "seed": seed,
        "total_seconds": 60.0,
        "energy_joules": 150.0,
        "energy_method": "measured",
        "energy_source": "pyJoules RAPL",
        "exclusive": True,
        "other_cpu_share": 0.0,
        "flags": "",
        "test_accuracy": 0.88,
        "epochs": 20,
        "concurrent_trials": 1,
        "set_aside": "",
        "speedup": 4.0,
        "relative_test_error": 1.0,
        "energy_ratio": 4.0,
        "kwh": 0.002,
        "co2_energy_grams": 0.8,
        "co2_time_grams": 0.9,
        **changes,
    }
    values |= {"co2_energy_ratio": values["energy_ratio"], "co2_time_ratio": values["speedup"]}
    place = "{dataset}/{search}-{scheduler}".format_map(values)
    values["full_record"] = changes.get("full_record", f"{place}/full-1/{seed}")
    values["record"] = changes.get("record", f"{place}/{selector}-{fraction}/{seed}")
    return values


def of(table, **axes):
    """Return the rows of `table` with these values."""
    for axis, value in axes.items():
        table = table[table[axis] == value]
    return table


def only(table, **axes):
    """Return the one row with these values."""
    (row,) = of(table, **axes).to_dict("records")
    return row
