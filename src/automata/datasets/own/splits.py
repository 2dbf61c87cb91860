"""Assign rows to splits; draw missing splits at random, stratified by class."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from automata.config.data import OwnDataset
from automata.datasets.prepared import SPLITS
from automata.datasets.raw import SPLIT_SEED, RawSplits, Rows, T
from automata.errors import UserError, listed
from automata.files import content_of

KEYS = {"train": "path", "validation": "validation", "test": "test"}
"""Key of the configuration by split whose file it names."""

DRAWN = {"test": 0.2, "validation": 0.1}
"""Share of all rows that a split without a file gets, as in the paper, in order of drawing."""

Draw = Callable[[NDArray[np.int64], NDArray[np.int64], float], NDArray[np.int64]]
"""Draws a share of the rows: labels (n,) of all rows, numbers of those available, share."""

_WHOLE = re.compile(r"(-?[0-9]+)(?:\.0+)?")


@dataclass(frozen=True)
class FileLabels:
    """The class of each row of a file."""

    where: str
    """The file and what in it holds the classes, for messages."""
    names: Sequence[str]


@dataclass(frozen=True)
class Part:
    """Rows of one split: which file, their numbers in it (n,), and their labels (n,) int64."""

    file: str
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]


def given_paths(own: OwnDataset) -> dict[str, Path]:
    """Return the paths that `own` gives, by split; raises UserError for a test on training rows."""
    paths = {split: Path(path) for split, key in KEYS.items() if (path := getattr(own, key))}
    if "test" in paths and paths["test"].resolve() == paths["train"].resolve():
        raise UserError("test: names the training file; leave it out, or name another")
    return paths


def class_names(names: Sequence[str]) -> list[str]:
    """Return the classes in `names`, sorted; whole numbers by value, 2 before 10."""
    found = {name: _WHOLE.fullmatch(name) for name in names}
    numbers = {name: int(whole[1]) for name, whole in found.items() if whole}
    if len(numbers) == len(found):
        return sorted(found, key=lambda name: (numbers[name], name))
    return sorted(found)


def assign(
    files: Mapping[str, FileLabels], how: Draw | None = None
) -> tuple[list[str], dict[str, Part]]:
    """Return the classes of the training file, and the rows of each split.

    `files` has the given ones by split. A split without a file is drawn from the training file:
    10 % of its rows for validation, 20 % for test, by `how`: else stratified, and at least one row
    of a class.

    Raises UserError for fewer than two classes, and a class without a training row.
    """
    train = files["train"]
    classes = class_names(train.names)
    for file in files.values():
        if not len(file.names):
            raise UserError(f"{file.where}: there are no rows")
        if unknown := {*file.names} - {*classes}:
            said = f"classes that {train.where} lacks: {listed(sorted(unknown))}"
            raise UserError(f"{file.where}: {said}; it has {listed(classes)}")
    if len(classes) < 2:
        raise UserError(f"{train.where}: '{classes[0]}' is the only class, at least 2 are needed")
    numbers = {name: number for number, name in enumerate(classes)}
    labels = {split: np.array([numbers[it] for it in files[split].names]) for split in files}
    rows = {split: np.arange(len(labels[split])) for split in files}
    drawn = [split for split in DRAWN if split not in files]
    for split in drawn:
        rows[split] = (how or draw)(labels["train"], rows["train"], DRAWN[split])
        rows["train"] = np.setdiff1d(rows["train"], rows[split])
    if absent := {*range(len(classes))} - {*labels["train"][rows["train"]]}:
        raise UserError(
            f"{train.where}: classes with so few rows that none is left for training: "
            f"{listed(classes[number] for number in sorted(absent))}: add rows, name a file for "
            "each split, or leave them out: skip_rows: true (automata new --skip-rows)"
        )
    source = {split: split if split in files else "train" for split in SPLITS}
    return classes, {
        split: Part(file, rows[split], labels[file][rows[split]]) for split, file in source.items()
    }


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
    return np.sort(np.concatenate([drawn, *(order[labels[order] == it][:1] for it in absent)]))


def draw_groups(
    groups: NDArray[Any], labels: NDArray[np.int64], available: NDArray[np.int64], share: float
) -> NDArray[np.int64]:
    """Draw whole groups out of the rows `available`, with about `share` of all rows.

    `groups` (n,) name that of each row. Of stratified draws the one counts whose classes are most
    like those of all rows. If it lacks a class, up to twice as many rows are drawn. Returns row
    numbers in ascending order.
    """
    wanted, kinds = share * np.bincount(labels), labels[available]
    names, numbers = np.unique(groups[available], return_inverse=True)
    most = max(Counter(kinds.tolist()).values(), default=0)  # scikit-learn takes no more parts
    parts = min(round(len(kinds) / wanted.sum()), len(names), most)
    best, least = np.arange(len(kinds)), (np.inf, np.inf, np.inf)
    counts = np.bincount(kinds, minlength=len(wanted))
    for count in range(parts, max(1, parts // 2 - 1), -1):
        folds = StratifiedGroupKFold(count, shuffle=True, random_state=SPLIT_SEED)
        with warnings.catch_warnings():  # of rare classes
            warnings.simplefilter("ignore")
            draws = [rows for _, rows in folds.split(kinds, kinds, numbers)]
        for rows in draws:
            found = np.bincount(kinds[rows], minlength=len(wanted))
            distance = (np.abs(found - wanted) / wanted).sum()
            lacks = ((found == counts).sum(), (found == 0).sum(), distance)  # left; drawn
            if lacks < least:
                best, least = rows, lacks
        if not least[1]:
            break
    return available[best]


def draw_last(
    values: NDArray[Any], labels: NDArray[np.int64], available: NDArray[np.int64], share: float
) -> NDArray[np.int64]:
    """Draw about `share` of all rows, the last ones `available` in the order of `values` (n,).

    Rows of one value stay together.
    """
    order = available[np.argsort(values[available], kind="stable")]
    begins = np.flatnonzero(np.diff(values[order])) + 1
    if not len(begins):
        return available
    wanted = len(order) - round(share * len(labels))
    return np.sort(order[begins[np.abs(begins - wanted).argmin()] :])


def raw_splits(
    own: OwnDataset,
    classes: list[str],
    parts: Mapping[str, Part],
    inputs: Callable[[Part], T],
    read: list[str],
    **encoding: Any,
) -> RawSplits[T]:
    """Return the splits of the files of `own`, with the `inputs` of each part."""
    paths = given_paths(own)
    counts = {split: np.bincount(p.labels, minlength=len(classes)) for split, p in parts.items()}
    by_class = {
        split: dict(zip(classes, found.tolist(), strict=True)) for split, found in counts.items()
    }
    lacking = {split: [it for it, rows in of.items() if not rows] for split, of in by_class.items()}
    read += [f"{split}: no row of the classes {listed(of)}" for split, of in lacking.items() if of]
    return RawSplits(
        **{split: Rows(inputs(part), part.labels) for split, part in parts.items()},
        classes=classes,
        source=f"own file {paths['train'].name or paths['train']}",
        files={str(path): content_of(path) for path in paths.values()},
        facts={**({"read": read} if read else {}), "rows_by_class": by_class},
        encoding=encoding,
    )
