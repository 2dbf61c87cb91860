"""Readers of official files: each gets the name of a data set and the paths of its files.

Readers check little, because `acquire` has compared the files with their checksums.
"""

from __future__ import annotations

import pickle
import tarfile
import zipfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from sklearn.datasets import load_svmlight_file

from automata.catalog import DATASETS
from automata.datasets.prepared import SPLITS
from automata.datasets.raw import Images, Numbers, RawSplits, Rows, T, Tokens, split_rows
from automata.errors import UserError

Paths = Mapping[str, Path]  # by official file name


def packaged(name: str, _: Paths) -> RawSplits[Numbers]:
    """Return dna, satimage or letter, unscaled, from copies of LIBSVM's files (PROVENANCE.md).

    dna and letter have the rows of LIBSVM's .tr, then those of its .val. satimage has the rows of
    the undivided satimage.scale: this function splits them into parts as large as .tr and .val.
    """
    file = resources.files("automata.datasets").joinpath("packaged", f"{name}.npz")
    with file.open("rb") as opened, np.load(opened, allow_pickle=False) as stored:
        known, test = (
            Rows(stored[f"{part}features"].astype(np.float32), stored[f"{part}labels"].astype(int))
            for part in ("", "test_")
        )
    order = np.arange(len(known))
    if name == "satimage":
        (order,) = split_rows(len(known))
    train, validation = np.split(order, [DATASETS[name].train])
    classes = [str(label) for label in np.unique(known.labels)]
    return RawSplits(known[train], known[validation], test, classes, "packaged")


def connect4(name: str, paths: Paths) -> RawSplits[Numbers]:
    """Return positions, float32 (n, 126), from an undivided file in LIBSVM's text format."""
    sparse, labels = load_svmlight_file(
        str(paths["connect-4"]), n_features=126, zero_based=False, dtype=np.float32
    )
    rows = Rows(sparse.toarray(), labels.astype(np.int64) + 1)
    return _completed(name, {"train": rows}, ["-1", "0", "1"], "LIBSVM, multiclass/connect-4")


def glue(name: str, paths: Paths) -> RawSplits[Tokens]:
    """Return sentences as lower-case words; the validation rows are the development set."""
    # GLUE publishes no labels of its test sentences, so test rows are drawn from train.tsv.
    members = {"train": "SST-2/train.tsv", "validation": "SST-2/dev.tsv"}
    given = {}
    with zipfile.ZipFile(paths["SST-2.zip"]) as archive:
        for split, member in members.items():
            _, *lines = lines_of(archive.read(member).decode())  # below a header
            pairs = [line.rpartition("\t") for line in lines]
            labels = [int(label) for _, _, label in pairs]
            given[split] = as_rows([sentence for sentence, _, _ in pairs], labels)
    source = f"GLUE, {' and '.join(members.values())} of SST-2.zip"
    return _completed(name, given, ["negative", "positive"], source)


def trec(name: str, paths: Paths) -> RawSplits[Tokens]:
    """Return questions as lower-case words, with the six coarse classes."""
    classes = ["ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"]
    given = {}
    for split, file in {"train": "train_5500.label", "test": "TREC_10.label"}.items():
        lines = lines_of(paths[file].read_text(encoding="iso-8859-1"))
        # Drop the fine class, as in "LOC:city Where is it ?", because it reveals the label.
        labels = [classes.index(line.partition(":")[0]) for line in lines]
        given[split] = as_rows([line.partition(" ")[2] for line in lines], labels)
    source = "CogComp question classification, train_5500.label and TREC_10.label"
    return _completed(name, given, classes, source)


def svhn(name: str, paths: Paths) -> RawSplits[Images]:
    """Return cropped digits, uint8 images (n, 3, 32, 32); the labels are the digits."""
    given = {}
    for split in ("train", "test"):
        stored = loadmat(paths[f"{split}_32x32.mat"], variable_names=["X", "y"])
        # X is (32, 32, 3, n) and y is (n, 1). The label of the digit 0 is 10.
        images = np.ascontiguousarray(stored["X"].transpose(3, 2, 0, 1))
        given[split] = Rows(images, stored["y"][:, 0].astype(np.int64) % 10)
    source = "Stanford UFLDL, housenumbers/train_32x32.mat and test_32x32.mat"
    return _completed(name, given, [str(digit) for digit in range(10)], source)


def cifar10(name: str, paths: Paths) -> RawSplits[Images]:
    """Return uint8 images (n, 3, 32, 32) of ten classes."""
    train = [f"data_batch_{number}" for number in range(1, 6)]
    return _cifar(name, paths, train, "test_batch", "batches.meta", "")


def cifar100(name: str, paths: Paths) -> RawSplits[Images]:
    """Return uint8 images (n, 3, 32, 32) with the hundred fine classes."""
    return _cifar(name, paths, ["train"], "test", "meta", "fine_")


def _cifar(
    name: str, paths: Paths, train: list[str], test: str, meta: str, prefix: str
) -> RawSplits[Images]:
    """Return the splits in these members of an archive; keys of labels begin with `prefix`."""
    ((file, path),) = paths.items()
    batches: dict[str, dict[bytes, Any]] = {}
    with tarfile.open(path, "r:gz") as archive:
        for entry in archive:  # in archive order, because it is compressed
            member = entry.name.rpartition("/")[2]
            if member in (*train, test, meta) and (content := archive.extractfile(entry)):
                batches[member] = _ArraysOnly(content, encoding="bytes").load()
    given = {}
    for split, members in {"train": train, "test": [test]}.items():
        images = np.concatenate([batches[member][b"data"] for member in members])
        labels = np.concatenate([batches[member][f"{prefix}labels".encode()] for member in members])
        given[split] = Rows(images.reshape(-1, 3, 32, 32), labels.astype(np.int64))
    classes = [label.decode("ascii") for label in batches[meta][f"{prefix}label_names".encode()]]
    return _completed(name, given, classes, f"A. Krizhevsky, University of Toronto, {file}")


class _ArraysOnly(pickle.Unpickler):
    """Unpickles arrays and plain values; raises UserError for anything else and does not run it."""

    def find_class(self, module: str, name: str) -> Any:
        numpy = {"numpy.core.multiarray": ["_reconstruct"], "numpy": ["ndarray", "dtype"]}
        if name not in numpy.get(module, []):
            raise UserError(f"CIFAR: expected pickles of arrays, found: a call of {module}.{name}")
        return super().find_class(module, name)


def lines_of(text: str) -> list[str]:
    """Return the non-empty lines, stripped of spaces."""
    # `splitlines` would also break lines at characters that are part of a sentence.
    return [line.strip("\r ") for line in text.split("\n") if line.strip()]


def as_rows(texts: list[str], labels: list[int]) -> Rows[Tokens]:
    """Return texts as lower-case words."""
    return Rows([text.lower().split() for text in texts], np.array(labels, dtype=np.int64))


def _completed(
    name: str, given: dict[str, Rows[T]], classes: list[str], source: str
) -> RawSplits[T]:
    """Return all splits; draw those that are not `given` from the training rows."""
    known, spec = given["train"], DATASETS[name]
    missing = [split for split in SPLITS if split not in given]
    counts = [getattr(spec, split) for split in missing]
    share = len(known) / (spec.train + sum(counts))  # 1 for a complete file
    *parts, rest = split_rows(len(known), *(round(share * count) for count in counts))
    drawn = {split: known[part] for split, part in zip(missing, parts, strict=True)}
    splits = {**given, **drawn, "train": known[rest]}
    return RawSplits(splits["train"], splits["validation"], splits["test"], classes, source)
