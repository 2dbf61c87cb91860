"""Who is in which split: classes, and seeded stratified draws where a user gives no files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from automata.datasets.own.paths import checksums, fault, listed
from automata.datasets.prepared import SPLITS
from automata.datasets.raw import SPLIT_SEED, RawSplits, Rows, T

DRAWN = {"test": 0.2, "validation": 0.1}
"""Share of all rows that a split without a file gets, as the paper has it, in order of drawing."""

Draw = Callable[[NDArray[np.int64], NDArray[np.int64], float], NDArray[np.int64]]
"""Draws a share of the rows: labels (n,) of all rows, numbers of those available, share."""

_WHOLE = re.compile(r"-?[0-9]+")


@dataclass(frozen=True)
class FileLabels:
    """The class names of one file's rows, and how to speak of them."""

    names: Sequence[str]
    where: str
    """The file and what in it holds the classes, for messages."""
    place: Callable[[int], str]
    """Says where in the file a row number (from 0) is."""


@dataclass(frozen=True)
class Part:
    """Rows of one split: which file, their numbers in it (n,), and their labels (n,) int64."""

    file: str
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]


def class_names(names: Sequence[str]) -> list[str]:
    """Return the classes in `names`, sorted; whole numbers by value, 2 before 10."""
    found = set(names)
    if all(_WHOLE.fullmatch(name) for name in found):
        return sorted(found, key=lambda name: (int(name), name))
    return sorted(found)


def assign(
    name: str, files: Mapping[str, FileLabels], how: Draw | None = None
) -> tuple[list[str], dict[str, Part]]:
    """Return the classes of the training file, and the rows of each split.

    `files` has the given ones by split. A split without a file is drawn from the training file:
    10 % of its rows for validation, 20 % for test, by `how`: else stratified, and at least one row
    of a class.

    Raises UserError if there are no rows or fewer than two classes, if a class has too few rows,
    and if a file has a class that the training file lacks.
    """
    for file in files.values():
        if not len(file.names):
            raise fault(f"{file.where}: there are no rows")
    train = files["train"]
    classes = class_names(train.names)
    if len(classes) < 2:
        raise fault(f"{train.where}: '{classes[0]}' is the only class, at least 2 are needed")
    labels = {split: _labels(file, classes, train) for split, file in files.items()}
    missing = [split for split in DRAWN if split not in files]
    _check_counts(name, train, classes, labels["train"], missing)
    rows = {split: np.arange(len(labels[split])) for split in files}
    for split in missing:
        share = DRAWN[split]
        rows[split] = (how or draw)(labels["train"], rows["train"], share)
        rows["train"] = np.setdiff1d(rows["train"], rows[split])
    _require_classes(train, classes, labels["train"][rows["train"]])
    return classes, {split: _part(split, rows[split], labels) for split in SPLITS}


def draw(
    labels: NDArray[np.int64], available: NDArray[np.int64], share: float
) -> NDArray[np.int64]:
    """Draw `share` of the rows of each class, at least one, out of the rows `available`.

    `labels` (n,) are those of all rows, which `share` is of. Returns row numbers in ascending
    order; the same arguments always give the same ones.
    """
    counts = np.bincount(labels)
    # Classes whose share is less than a row would get none, or make the split smaller than the
    # number of classes, which scikit-learn refuses: they come in below, with one row each.
    common = counts * share >= 1
    pool = available[common[labels[available]]]
    drawn = pool[:0]
    if len(pool):
        size = round(share * int(counts[common].sum()))
        _, drawn = train_test_split(
            pool, test_size=size, stratify=labels[pool], random_state=SPLIT_SEED
        )
    order = np.random.default_rng(SPLIT_SEED).permutation(available)
    absent = np.setdiff1d(np.unique(labels), labels[drawn])
    firsts = [order[labels[order] == label][0] for label in absent]
    return np.sort(np.concatenate([drawn, np.array(firsts, dtype=np.int64)]))


def draw_groups(
    groups: NDArray[np.object_],
    labels: NDArray[np.int64],
    available: NDArray[np.int64],
    share: float,
) -> NDArray[np.int64]:
    """Draw whole groups out of the rows `available` until they have `share` of all rows.

    `groups` (n,) name that of each row. Returns row numbers in ascending order.
    """
    names = np.unique(groups[available].astype(str))
    order = np.random.default_rng(SPLIT_SEED).permutation(names)
    sizes = [int((groups[available] == name).sum()) for name in order]
    taken = int(np.searchsorted(np.cumsum(sizes), share * len(labels))) + 1
    return available[np.isin(groups[available].astype(str), order[:taken])]


def draw_last(
    values: NDArray[Any], labels: NDArray[np.int64], available: NDArray[np.int64], share: float
) -> NDArray[np.int64]:
    """Draw `share` of all rows, the last ones `available` in the order of `values` (n,)."""
    order = available[np.argsort(values[available], kind="stable")]
    return np.sort(order[len(order) - round(share * len(labels)) :])


def raw_splits(
    paths: Mapping[str, Path],
    classes: list[str],
    parts: Mapping[str, Part],
    inputs: Callable[[Part], T],
    encoding: dict[str, Any] | None = None,
    **facts: Any,
) -> RawSplits[T]:
    """Return the splits of the files at `paths`, with the `inputs` of each part."""
    counts = {split: np.bincount(p.labels, minlength=len(classes)) for split, p in parts.items()}
    by_class = {
        split: dict(zip(classes, found.tolist(), strict=True)) for split, found in counts.items()
    }
    return RawSplits(
        **{split: Rows(inputs(part), part.labels) for split, part in parts.items()},
        classes=classes,
        source=f"own file {paths['train'].name or paths['train']}",
        files=checksums(paths),
        facts={**facts, "rows_by_class": by_class},
        encoding=encoding or {},
    )


def _require_classes(train: FileLabels, classes: list[str], labels: NDArray[np.int64]) -> None:
    """Raise UserError for a class that groups or an order have left no training row."""
    absent = [name for number, name in enumerate(classes) if number not in labels]
    if absent:
        raise fault(f"{train.where}: no training row is left of class {listed(absent)}")


def _labels(file: FileLabels, classes: list[str], train: FileLabels) -> NDArray[np.int64]:
    numbers = {known: number for number, known in enumerate(classes)}
    for row, found in enumerate(file.names):
        if found not in numbers:
            raise fault(
                f"{file.where}: {file.place(row)}: class '{found}' does not occur in training "
                f"({train.where}: {listed(classes)})"
            )
    return np.array([numbers[found] for found in file.names], dtype=np.int64)


def _check_counts(
    name: str, train: FileLabels, classes: list[str], labels: NDArray[np.int64], missing: list[str]
) -> None:
    needed = 1 + len(missing)
    counts = np.bincount(labels)
    rarest = int(counts.argmin())
    found = int(counts[rarest])
    if found < needed:
        splits = [split for split in SPLITS if split in ["train", *missing]]
        keys = " or ".join(f"own_datasets.{name}.{split}" for split in splits[1:])
        raise fault(
            f"{train.where}: class '{classes[rarest]}' has {found} row{'s' * (found > 1)}, needed "
            f"are {needed}: one each for {listed(splits)}; add rows, give {keys}, or "
            f"leave them out: own_datasets.{name}.skip_rows: true (automata new --skip-rows)"
        )


def _part(split: str, rows: NDArray[np.int64], labels: Mapping[str, NDArray[np.int64]]) -> Part:
    file = split if split in labels else "train"
    return Part(file, rows, labels[file][rows])
