"""Assign rows to splits; draw missing splits at random, stratified by class."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, train_test_split

from automata.config.data import OwnDataset
from automata.datasets.prepared import SPLITS
from automata.datasets.raw import SPLIT_SEED, RawSplits, Rows, T
from automata.errors import UserError, listed
from automata.files import content_of

KEYS = {"train": "path", "validation": "validation", "test": "test"}
"""Configuration key of the file of each split."""

NOTED = {**KEYS, "train": "data"}
"""Start of the notes on the file of each split."""

DRAWN = {"test": 0.2, "validation": 0.1}
"""Share of all rows for each split without a file, as in the paper, in the order of drawing."""

Ints = NDArray[np.int64]

Draw = Callable[[Ints, Ints, float], Ints]
"""Takes the labels (n,) of all rows, the numbers of available rows, and the share of all rows to
draw; returns the numbers of the drawn rows, ascending."""


class FileLabels(NamedTuple):
    """The class of each row of a file; `where` starts messages."""

    where: str
    names: Sequence[str]


class Part(NamedTuple):
    """The rows of one split: their file, their numbers (n,) in it, and their labels (n,)."""

    file: str
    rows: Ints
    labels: Ints


def given_paths(own: OwnDataset) -> dict[str, Path]:
    """Return the configured path of each split; raises UserError if two are the same."""
    paths = {split: Path(path) for split, key in KEYS.items() if (path := getattr(own, key))}
    first: dict[Path, str] = {}
    for split, path in paths.items():
        if (other := first.setdefault(path.resolve(), split)) != split:
            file = "training" if other == "train" else other
            raise UserError(f"{split}: names the {file} file; leave it out, or name another")
    return paths


def draw(labels: Ints, available: Ints, share: float) -> Ints:
    """Draw `share` of the rows of each class, but at least one row."""
    # scikit-learn cannot draw fewer rows than classes: rare classes get their row below.
    common = np.bincount(labels) * share >= 1
    pool = available[common[labels[available]]]
    drawn, classes = pool[:0], labels[pool]
    if len(pool):
        size = round(share * int(common[labels].sum()))
        _, drawn = train_test_split(pool, test_size=size, stratify=classes, random_state=SPLIT_SEED)
    order = np.random.default_rng(SPLIT_SEED).permutation(available)
    absent = np.setdiff1d(labels, labels[drawn])
    rare = [order[labels[order] == label][:1] for label in absent]
    return np.sort(np.concatenate([drawn, *rare]))


def draw_groups(groups: NDArray[Any], labels: Ints, available: Ints, share: float) -> Ints:
    """Draw whole groups with about `share` of all rows, or up to twice that to have all classes."""
    wanted, classes, names = share * np.bincount(labels), labels[available], groups[available]
    counts = np.bincount(classes, minlength=len(wanted))

    def faults(rows: Ints) -> tuple[int, int, float]:
        """Return how many classes have no row left, how many are not drawn, and the distance."""
        drawn = np.bincount(classes[rows], minlength=len(wanted))
        distance = (np.abs(drawn - wanted) / wanted).sum()
        return (drawn == counts).sum(), (drawn == 0).sum(), distance

    # scikit-learn makes at most as many folds as groups, and as rows of the largest class.
    most = min(round(len(classes) / wanted.sum()), len({*names}), counts.max())
    best = np.arange(len(classes))
    for number in range(most, max(1, most // 2 - 1), -1):
        folds = StratifiedGroupKFold(number, shuffle=True, random_state=SPLIT_SEED)
        with warnings.catch_warnings(action="ignore"):  # on rare classes
            draws = [rows for _, rows in folds.split(classes, classes, names)]
        best = min(best, *draws, key=faults)
        if not faults(best)[1]:
            break
    return available[best]


def draw_last(values: NDArray[Any], labels: Ints, available: Ints, share: float) -> Ints:
    """Draw about `share` of all rows, the last by `values` (n,); equal values stay together."""
    order = available[np.argsort(values[available], kind="stable")]
    begins = np.flatnonzero(np.diff(values[order])) + 1
    if not len(begins):
        return available
    wanted = len(order) - round(share * len(labels))
    return np.sort(order[begins[np.abs(begins - wanted).argmin()] :])


def assign(files: Mapping[str, FileLabels], how: Draw = draw) -> tuple[list[str], dict[str, Part]]:
    """Return the classes of the training file, and the rows of each split, from a file or drawn."""
    train = files["train"]
    names = {*train.names}
    is_whole = all(re.fullmatch(r"-?[0-9]{1,300}(\.0+)?", name) for name in names)  # 2 before 10
    classes = sorted(names, key=lambda name: (int(name.partition(".")[0]) if is_whole else 0, name))
    for file in files.values():
        if not len(file.names):
            raise UserError(f"{file.where}: there are no rows")
        if unknown := {*file.names} - names:
            problem = f"classes that {train.where} lacks: {listed(sorted(unknown))}"
            raise UserError(f"{file.where}: {problem}; it has {listed(classes)}")
    if len(classes) < 2:
        raise UserError(f"{train.where}: '{classes[0]}' is the only class, at least 2 are needed")
    code = {name: number for number, name in enumerate(classes)}
    labels = {split: np.array([code[name] for name in file.names]) for split, file in files.items()}
    rows = {split: np.arange(len(file.names)) for split, file in files.items()}
    for split in [split for split in DRAWN if split not in files]:
        rows[split] = how(labels["train"], rows["train"], DRAWN[split])
        rows["train"] = np.setdiff1d(rows["train"], rows[split])
    left = {*labels["train"][rows["train"]]}
    if absent := [name for name in classes if code[name] not in left]:
        raise UserError(
            f"{train.where}: classes of which none is left for training: {listed(absent)}: add "
            "rows, name a file for each split, leave out group or order, or, of a table without "
            "them, skip_rows: true (automata new --skip-rows)"
        )
    sources = {split: split if split in files else "train" for split in SPLITS}
    parts = {s: Part(file, rows[s], labels[file][rows[s]]) for s, file in sources.items()}
    return classes, parts


def raw_splits(
    own: OwnDataset,
    classes: list[str],
    parts: Mapping[str, Part],
    inputs: Callable[[Part], T],
    notes: list[str],
    **encoding: Any,
) -> RawSplits[T]:
    """Return the splits of the files in `own`; `inputs` returns the inputs of a part."""
    paths, by_class = given_paths(own), {}
    for split, part in parts.items():
        counts = np.bincount(part.labels, minlength=len(classes)).tolist()
        by_class[split] = dict(zip(classes, counts, strict=True))
        if lacking := [name for name, rows in by_class[split].items() if not rows]:
            notes.append(f"{split}: no row of the classes {listed(lacking)}")
    return RawSplits(
        **{split: Rows(inputs(part), part.labels) for split, part in parts.items()},
        classes=classes,
        source=f"own file {paths['train'].name or paths['train']}",
        files={str(path): content_of(path) for path in paths.values()},
        facts={**({"read": notes} if notes else {}), "rows_by_class": by_class},
        encoding=encoding,
    )
