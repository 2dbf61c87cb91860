"""The one encoder of a user's table: fitted on the training rows, kept as plain data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from automata.config.data import OwnTabular
from automata.datasets.own.columns import Cells, Column, days
from automata.datasets.own.paths import fault

GAP = "(missing)"
"""The category of missing cells, where training rows have some."""

OF_A_KIND = {"number": "numbers", "date": "numbers", "truth": "texts", "category": "texts"}
"""Names in `fill` that stand for all columns of a kind, unless a column is called so."""


def fit(column: Column, training: Cells, own: OwnTabular, known: set[str]) -> Column:
    """Return a column with what its cells in the training rows decide.

    Missing cells become what `own.fill` says, or else: numbers the median, and one more feature
    says which were missing; categories one of their own. A column without gaps is ready for those
    of other files: by the median, or by its most frequent category. `known` are the columns.
    """
    gaps = missing(training)
    value = _wanted(column, own, known)
    fill: float | str
    if column.kind in ("number", "date"):
        fill = _statistic(column, "median" if value is None else value, training, own)
        return replace(column, fill=fill, marked=bool(gaps.any()) and value is None)
    if value is not None:
        fill = _category(column, value, training)
    elif gaps.any() or gaps.all():
        fill = GAP
    else:
        fill = str(SimpleImputer(strategy="most_frequent").fit(training[:, None]).statistics_[0])
    filled = np.where(gaps, fill, training).astype(object)
    encoder = OneHotEncoder(min_frequency=own.rare_below, handle_unknown="ignore").fit(
        filled[:, None]
    )
    rare = getattr(encoder, "infrequent_categories_", [None])[0] if own.rare_below else None
    every = [str(one) for one in encoder.categories_[0]]
    common = [one for one in every if rare is None or one not in set(rare)]
    return replace(column, fill=fill, categories=common, rare=len(common) < len(every))


def transform(column: Column, cells: Cells) -> NDArray[np.float64]:
    """Return the features (n, len(column.features)) float64 of `cells` of any file."""
    gaps = missing(cells)
    filled = np.where(gaps, np.array(column.fill, dtype=object), cells) if gaps.any() else cells
    if column.kind in ("number", "date"):
        values = filled.astype(np.float64)
        return np.column_stack([values, gaps] if column.marked else [values])
    known = pd.Index(column.categories, dtype=object)
    places = known.get_indexer(pd.Index(filled, dtype=object))
    block = np.zeros((len(cells), len(known) + 1))
    block[np.arange(len(cells)), places] = 1  # the last one where there is no such category
    return block[:, : len(column.features)]


def missing(cells: Cells) -> NDArray[np.bool_]:
    """Return which cells (n,) are missing."""
    return np.asarray(pd.isna(cells))


def _wanted(column: Column, own: OwnTabular, known: set[str]) -> float | str | None:
    """Return what `own.fill` gives for a column: for itself, or else for its kind."""
    of_kind = OF_A_KIND[column.kind]
    if column.name in own.fill:
        return own.fill[column.name]
    return own.fill.get(of_kind) if of_kind not in known else None


def _statistic(column: Column, value: float | str, training: Cells, own: OwnTabular) -> float:
    """Return the number that fills a column of numbers or dates."""
    where = f"own_datasets: fill: column '{column.name}'"
    if value in ("mean", "median"):
        if missing(training).all():
            return 0.0  # a column without a cell tells nothing
        return float(SimpleImputer(strategy=str(value)).fit(training[:, None]).statistics_[0])
    if isinstance(value, str):
        day = days(pd.Series([value]), True)[0] if column.kind == "date" else np.nan
        if np.isnan(day):
            raise fault(
                f"{where} holds {column.kind}s, '{value}' is none: valid: one, mean, median"
            )
        return float(day)
    if not abs(value) <= float(np.finfo(np.float32).max):
        raise fault(f"{where}: {value} is not a finite number")
    return float(value)


def _category(column: Column, value: float | str, training: Cells) -> str:
    """Return the category that fills a column."""
    if value in ("mean", "median"):
        raise fault(
            f"own_datasets: fill: column '{column.name}' holds categories, which have no {value}"
        )
    if value in (0.0, 1.0) and {*training} <= {"True", "False", None}:
        return str(bool(value))  # true and false of the configuration come as numbers
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
