"""Data of the user's own that cannot be used: refused by a dry run, or by the job that reads them.

The tests of each reader have the other refusals.
"""

from __future__ import annotations

from typing import Any

from hostile.case import Case, Maker, folder

KEY = "own_datasets.mine"
ROWS = 40
Files = dict[str, str | bytes | Maker]


def table(**columns: list[str]) -> Files:
    """Return a good table with more or other columns."""
    usual = {
        "size": [str(row % 7) for row in range(ROWS)],
        "soil": [("sand", "clay")[row % 2] for row in range(ROWS)],
        "y": [("a", "b")[row // 2 % 2] for row in range(ROWS)],
    }
    every = usual | columns
    lines = [",".join(every), *map(",".join, zip(*every.values(), strict=True))]
    return {"t.csv": "\n".join(lines)}


def config(kind: str, **keys: Any) -> dict[str, Any]:
    """Return a configuration with a data set `mine` of a kind."""
    usual = {"kind": kind, "path": "t.csv", "target": "y"}
    own = {"mine": {**usual, **keys}}
    return {"datasets": ["mine"], "own_datasets": own}


def cells(said: str, files: Files, *, real: bool = False, **keys: Any) -> Case:
    """Return the case of data that the job refuses."""
    line = f"automata prepare: error: {KEY}: {said}"
    return Case("prepare", line, config("tabular", **keys), files, real=real)


CASES = [
    Case("plan", f"{KEY}.path: t.csv: no such file or folder", config("tabular"), real=True),
    Case(
        "plan",
        "data.vectors.source: v.txt: no such file",
        {
            **config("text", text="soil"),
            "data": {"vectors": {"source": "v.txt", "dimension": 3}},
        },
        table(),
    ),
    cells("t.csv: not a readable .csv file: ...Is a directory", {"t.csv": folder}),
    cells("t.csv: no column z, which target names; it has size, soil, y", table(), target="z"),
    cells(
        "t.csv: column 'y': missing classes: 1, the first in row 7: skip_rows: true",
        table(y=[*"bbbbb", "NA", *"b" * 34]),
        real=True,
    ),
    cells(
        "t.csv: column 'x': it names rows: 40 different texts in 40 rows, such as 'name 0'",
        table(x=[f"name {row}" for row in range(ROWS)]),
        real=True,
    ),
]
