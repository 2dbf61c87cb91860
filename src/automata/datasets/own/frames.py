"""Rows in memory: frames of any library and arrays, and the files in which readers take them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FRAME, IMAGES = "data.parquet", "data.npz"
"""Files to which a user's frame and images are written."""


def write_labelled(data: Any, target: str | None, work: Path) -> tuple[Path, str | None]:
    """Write rows to a file in `work`; return the file, and the column of the classes."""
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
        name = pd.DataFrame(labels).columns[0] or "class"  # pandas names 0 what has no name
        target = target or str(name)
        column = pd.Series(np.ravel(labels), name=target)
        data = pd.concat([table_of(data[0]).reset_index(drop=True), column], axis=1)
    pd.DataFrame(converted(data)).rename(columns=str).to_parquet(work / FRAME, index=False)
    return work / FRAME, target


def write_rows(rows: Any, kind: str, columns: list[str], work: Path) -> Path:
    """Write new rows to a file in `work` and return it; a table keeps `columns` if it has them."""
    if kind == "image":
        np.savez(work / IMAGES, images=np.asarray(rows), allow_pickle=False)
        return work / IMAGES
    if kind == "text":
        # In an array each text would take the memory of the longest.
        rows = pd.Series(rows, dtype=object) if isinstance(rows, list) else converted(rows)
        if rows.ndim == 1:
            rows = {columns[0]: np.asarray(rows, dtype=object)}
    frame = table_of(rows)
    if {*columns} <= {*frame}:  # other columns may have cells that no file can hold
        frame = frame[columns]
    frame.to_parquet(work / FRAME, index=False)
    return work / FRAME


def table_of(data: Any) -> pd.DataFrame:
    """Return rows as a frame with texts as names; the columns of an array are x0, x1, and so on."""
    inputs = converted(data)
    if isinstance(inputs, np.ndarray):  # in which numbers beside texts are texts
        inputs = pd.DataFrame(data if inputs.dtype.kind == "U" else inputs).add_prefix("x")
    return pd.DataFrame(inputs).rename(columns=str)


def converted(data: Any) -> Any:
    """Return frames, series and dicts of columns in pandas, and anything else as an array."""
    if isinstance(data, (pd.DataFrame, pd.Series)):
        return data
    if isinstance(data, Mapping):
        frame = pd.DataFrame(dict(data))
        if len(frame) != min(map(len, data.values())):  # pandas joins series by their indexes
            raise ValueError("columns of different lengths or indexes")
        return frame
    if hasattr(data, "to_pandas"):
        return data.to_pandas()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__"):
        return pd.api.interchange.from_dataframe(data)
    if hasattr(data, "columns"):
        raise TypeError(f"convert {type(data).__name__} to pandas")  # an array has no names
    return np.asanyarray(data)
