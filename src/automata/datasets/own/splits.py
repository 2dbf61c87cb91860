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
"""Key of the configuration by split whose file it names."""

DRAWN = {"test": 0.2, "validation": 0.1}
"""Share of all rows that a split without a file gets, as in the paper, in order of drawing."""

Ints = NDArray[np.int64]

Draw = Callable[[Ints, Ints, float], Ints]
"""Draws a share of all rows: labels (n,) of all, numbers of those available; ascending, seeded."""


class FileLabels(NamedTuple):
    """The class of each row of a file; messages begin with `where`."""

    where: str
    names: Sequence[str]


class Part(NamedTuple):
    """Rows of one split: which file, their numbers in it (n,), and their labels (n,)."""

    file: str
    rows: Ints
    labels: Ints


def given_paths(own: OwnDataset) -> dict[str, Path]:
    """Return the paths that `own` gives, by split; raises UserError for a test on training rows."""
    paths = {split: Path(path) for split, key in KEYS.items() if (path := getattr(own, key))}
    if "test" in paths and paths["test"].resolve() == paths["train"].resolve():
        raise UserError("test: names the training file; leave it out, or name another")
    return paths


def draw(labels: Ints, available: Ints, share: float) -> Ints:
    """Draw `share` of the rows of each class, at least one."""
    # scikit-learn refuses to draw fewer rows than classes: rare classes get one row each below.
    common = np.bincount(labels) * share >= 1
    pool = available[common[labels[available]]]
    drawn, kinds = pool[:0], labels[pool]
    if len(pool):
        size = round(share * int(common[labels].sum()))
        _, drawn = train_test_split(pool, test_size=size, stratify=kinds, random_state=SPLIT_SEED)
    order = np.random.default_rng(SPLIT_SEED).permutation(available)
    absent = np.setdiff1d(labels, labels[drawn])
    return np.sort(np.concatenate([drawn, *(order[labels[order] == it][:1] for it in absent)]))


def draw_groups(groups: NDArray[Any], labels: Ints, available: Ints, share: float) -> Ints:
    """Draw whole groups, about `share` of all rows, and up to twice that if a class is lacking."""
    wanted, kinds, names = share * np.bincount(labels), labels[available], groups[available]
    counts = np.bincount(kinds, minlength=len(wanted))

    def faults(rows: Ints) -> tuple[int, int, float]:
        """Return how many classes have no row left, how many are not drawn, and the distance."""
        found = np.bincount(kinds[rows], minlength=len(wanted))
        distance = (np.abs(found - wanted) / wanted).sum()
        return (found == counts).sum(), (found == 0).sum(), distance

    # scikit-learn makes no more parts than there are groups, or rows of the largest class.
    most = min(round(len(kinds) / wanted.sum()), len({*names}), counts.max())
    best = np.arange(len(kinds))
    for parts in range(most, max(1, most // 2 - 1), -1):
        folds = StratifiedGroupKFold(parts, shuffle=True, random_state=SPLIT_SEED)
        with warnings.catch_warnings(action="ignore"):  # of rare classes
            draws = [rows for _, rows in folds.split(kinds, kinds, names)]
        best = min(best, *draws, key=faults)
        if not faults(best)[1]:
            break
    return available[best]


def draw_last(values: NDArray[Any], labels: Ints, available: Ints, share: float) -> Ints:
    """Draw about `share` of all rows, the last ones by `values` (n,); equal ones stay together."""
    order = available[np.argsort(values[available], kind="stable")]
    begins = np.flatnonzero(np.diff(values[order])) + 1
    if not len(begins):
        return available
    wanted = len(order) - round(share * len(labels))
    return np.sort(order[begins[np.abs(begins - wanted).argmin()] :])


def assign(files: Mapping[str, FileLabels], how: Draw = draw) -> tuple[list[str], dict[str, Part]]:
    """Return the classes of the training file, and the rows of each split, by a file or a draw."""
    train = files["train"]
    found = {*train.names}
    whole = all(re.fullmatch(r"-?[0-9]{1,300}(\.0+)?", name) for name in found)  # 2 is before 10
    classes = sorted(found, key=lambda name: (int(name.partition(".")[0]) if whole else 0, name))
    for file in files.values():
        if not len(file.names):
            raise UserError(f"{file.where}: there are no rows")
        if unknown := {*file.names} - {*classes}:
            said = f"classes that {train.where} lacks: {listed(sorted(unknown))}"
            raise UserError(f"{file.where}: {said}; it has {listed(classes)}")
    if len(classes) < 2:
        raise UserError(f"{train.where}: '{classes[0]}' is the only class, at least 2 are needed")
    numbers = {name: number for number, name in enumerate(classes)}
    labels = {split: np.array([numbers[it] for it in file.names]) for split, file in files.items()}
    rows = {split: np.arange(len(file.names)) for split, file in files.items()}
    for split in [it for it in DRAWN if it not in files]:
        rows[split] = how(labels["train"], rows["train"], DRAWN[split])
        rows["train"] = np.setdiff1d(rows["train"], rows[split])
    left = {*labels["train"][rows["train"]]}
    if absent := [name for name in classes if numbers[name] not in left]:
        raise UserError(
            f"{train.where}: classes of which none is left for training: {listed(absent)}: add "
            "rows, name a file for each split, or skip_rows: true (automata new --skip-rows)"
        )
    source = {split: split if split in files else "train" for split in SPLITS}
    parts = {it: Part(file, rows[it], labels[file][rows[it]]) for it, file in source.items()}
    return classes, parts


def raw_splits(
    own: OwnDataset,
    classes: list[str],
    parts: Mapping[str, Part],
    inputs: Callable[[Part], T],
    read: list[str],
    **encoding: Any,
) -> RawSplits[T]:
    """Return the splits of the files of `own`, with the `inputs` of each part."""
    paths, by_class = given_paths(own), {}
    for split, part in parts.items():
        counts = np.bincount(part.labels, minlength=len(classes)).tolist()
        by_class[split] = dict(zip(classes, counts, strict=True))
        if lacking := [name for name, rows in by_class[split].items() if not rows]:
            read.append(f"{split}: no row of the classes {listed(lacking)}")
    return RawSplits(
        **{split: Rows(inputs(part), part.labels) for split, part in parts.items()},
        classes=classes,
        source=f"own file {paths['train'].name or paths['train']}",
        files={str(path): content_of(path) for path in paths.values()},
        facts={**({"read": read} if read else {}), "rows_by_class": by_class},
        encoding=encoding,
    )
