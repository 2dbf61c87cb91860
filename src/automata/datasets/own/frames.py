"""Write rows in memory, as frames or arrays of any library, to files that the readers take."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FRAME, IMAGES = "data.parquet", "data.npz"
"""Names of the files with a user's frame or images."""


def write_labelled(data: Any, target: str | None, work: Path) -> tuple[Path, str | None]:
    """Write labelled rows to a file in `work`; return the file and the column of the classes."""
    if isinstance(data, tuple):
        inputs, labels = map(converted, data)
        if inputs.ndim < 2 or labels.shape not in [(len(inputs),), (len(inputs), 1)]:
            raise ValueError(f"inputs of shape {inputs.shape}, labels of shape {labels.shape}")
        orders = [[*part.index] for part in data if isinstance(part, (pd.DataFrame, pd.Series))]
        if len(orders) == 2 and orders[0] != orders[1] and {*orders[0]} == {*orders[1]}:
            raise ValueError("one index in two orders: take labels.loc[inputs.index]")
        if inputs.ndim > 2:
            np.savez(work / IMAGES, images=inputs, labels=[*np.ravel(labels)], allow_pickle=False)
            return work / IMAGES, None
        name = pd.DataFrame(labels).columns[0] or "class"  # pandas calls a nameless column 0
        target = target or str(name)
        column = pd.Series(np.ravel(labels), name=target)
        data = pd.concat([table_of(data[0]).reset_index(drop=True), column], axis=1)
    pd.DataFrame(converted(data)).rename(columns=str).to_parquet(work / FRAME, index=False)
    return work / FRAME, None if target is None else str(target)


def write_rows(rows: Any, kind: str, columns: list[str], work: Path) -> Path:
    """Write new rows to a file in `work`; a table keeps only `columns` if it has them all."""
    if kind == "image":
        images = np.asarray(rows)
        if images.ndim == 3 and images.shape[2] == 3:
            raise ValueError(f"one image, of shape {images.shape}")
        np.savez(work / IMAGES, images=images, allow_pickle=False)
        return work / IMAGES
    if kind == "text":
        # In an array, each text would need the memory of the longest one.
        rows = pd.Series(rows, dtype=object) if isinstance(rows, list) else converted(rows)
        if rows.ndim == 1:
            rows = {columns[0]: np.asarray(rows, dtype=object)}
    frame = table_of(rows)
    if {*columns} <= {*frame}:  # other columns may hold what Parquet cannot store
        frame = frame[columns]
    frame.to_parquet(work / FRAME, index=False)
    return work / FRAME


def table_of(data: Any) -> pd.DataFrame:
    """Return rows as a frame whose column names are texts; those of an array are x0, x1, ...

    A structured array has names of its own.
    """
    inputs = converted(data)
    if isinstance(inputs, np.ndarray):  # it has turned numbers beside texts into texts
        prefix = "" if inputs.dtype.names else "x"
        inputs = pd.DataFrame(data if inputs.dtype.kind == "U" else inputs).add_prefix(prefix)
    return pd.DataFrame(inputs).rename(columns=str)


def converted(data: Any) -> Any:
    """Return frames, series and dicts of columns as pandas objects, other data as an array."""
    if isinstance(data, (pd.DataFrame, pd.Series)):
        return data
    if isinstance(data, Mapping):
        frame = pd.DataFrame(dict(data))
        if len(frame) != min(map(len, data.values())):  # pandas joins series by their indexes
            raise ValueError("columns of different lengths or indexes")
        return frame
    if hasattr(data, "to_pandas"):
        return data.to_pandas()
    if hasattr(data, "columns"):
        raise TypeError(f"convert {type(data).__name__} to pandas")  # an array would lose the names
    return np.asanyarray(data)
