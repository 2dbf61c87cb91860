"""A user's tables: written in one call, and loaded."""

from pathlib import Path
from shutil import copy, copytree

import numpy as np
import pandas as pd

from automata.config.data import OwnTabular
from automata.datasets.own import load
from automata.datasets.own.columns import Column


def written(table, path):
    """Write a table, or text or bytes as they are; return the path as the configuration has it.

    Columns without a "kind" get classes a, b, a, ...
    """
    if isinstance(table, str | bytes):
        path.write_bytes(table if isinstance(table, bytes) else table.encode())
        return str(path)
    frame = pd.DataFrame(table)
    if "kind" not in frame:
        frame["kind"] = np.resize(["a", "b"], len(frame))
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return str(path)


def copy_of(path, split="test"):
    """Return the path of a copy of a file or folder: no file is two splits."""
    source = Path(path)
    copied = source.with_name(f"{split} of {source.name}")
    copytree(source, copied, dirs_exist_ok=True) if source.is_dir() else copy(source, copied)
    return str(copied)


def loaded(folder, train, suffix=".csv", **keys):
    """Load a table; `validation` and `test` may be tables too."""
    for split in ("validation", "test"):
        if split in keys:
            keys[split] = written(keys[split], folder / f"{split}{suffix}")
    path = written(train, folder / f"train{suffix}")
    own = OwnTabular.model_validate({"kind": "tabular", "path": path, "target": "kind", **keys})
    return load("mine", own)


def whole(folder, train, test=None, **keys):
    """Load a table that is its own validation file, so that no row leaves training."""
    return loaded(folder, train, validation=train, test=train if test is None else test, **keys)


def features(raw):
    """Return the names of the features."""
    return [name for column in raw.encoding["columns"] for name in Column(**column).features]
