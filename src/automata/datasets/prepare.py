"""Prepares a data set: reads its source, checks it, and makes tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from automata.catalog import DATASETS, FILES, RemoteFile
from automata.config.data import Preparation
from automata.config.sources import data_files, key_of
from automata.datasets import kinds, own
from automata.datasets.official.acquire import acquire
from automata.datasets.official.vectors import Vectors, read_vectors
from automata.datasets.prepared import SPLITS, Dataset
from automata.datasets.raw import RawSplits, Rows
from automata.errors import UserError
from automata.files import content_of, fingerprint, sha256
from automata.loading import imported

REPEATED = 0.01
"""Share of test rows among the training rows from which a test score flatters."""


def prepare(
    name: str,
    preparation: Preparation,
    cache: Path,
    mirror: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Dataset:
    """Return the data set `name`, ready for training.

    A data set of the catalog comes from official files (see `acquire`), a user's own one from the
    files in `preparation.own`. `files` has the expected `content_of` each file by role. Raises
    UserError if the name is unknown, a file is unreadable or has changed, or a count is wrong.
    """
    if preparation.own is not None:
        kind, flip = preparation.own.kind, getattr(preparation.own, "flip", True)
        try:
            raw = own.load(name, preparation.own)
            raw = replace(raw, facts=raw.facts | _repeated(raw))
        except MemoryError as error:
            problem = f"own_datasets.{name}: this machine has too little memory for it: {error}"
            raise UserError(f"{problem}; give fewer rows, columns, categories or pixels") from error
    elif name in DATASETS:
        kind, flip = DATASETS[name].kind, DATASETS[name].flip
        raw = _official(name, preparation, cache, mirror)
    else:
        raise UserError(f"dataset '{name}' is not one of {', '.join(DATASETS)}")
    if kind == "tabular":
        tensors = kinds.tabular(raw)
    elif kind == "image":
        tensors = kinds.image(raw, flip)
    else:
        tensors = kinds.text(raw, *_vectors(name, raw, preparation, cache, mirror))
    splits, extras, facts, encoding = tensors
    paths = data_files(preparation)
    for role, content in (files or {}).items():
        if content_of(Path(paths[role])) != content:
            key = key_of(role, name)
            raise UserError(f"{key}: {paths[role]}: has changed; run the same command again")
    metadata = {
        "source": raw.source,
        "files": raw.files,
        "class_names": raw.classes,
        "counts": {split: len(rows) for split, rows in splits.items()},
        "preparation": preparation.model_dump(mode="json"),
        **raw.facts,
        **facts,
    }
    encoding = raw.encoding | encoding
    parts = (splits["train"], splits["validation"], splits["test"])
    return Dataset(name, kind, len(raw.classes), *parts, metadata, extras, encoding)


def _repeated(raw: RawSplits[Any]) -> dict[str, Any]:
    """Return the share of test rows with the inputs and the class of a training row, if notable."""

    def digests(rows: Rows[Any]) -> list[int]:
        contents = (it.tobytes() if isinstance(it, np.ndarray) else tuple(it) for it in rows.inputs)
        return [hash(row) for row in zip(contents, rows.labels.tolist(), strict=True)]

    trained = {*digests(raw.train)}
    share = fmean(row in trained for row in digests(raw.test))
    if share < REPEATED:
        return {}
    note = f"{share:.1%} of the test rows are also training rows (tables: drop_duplicates)"
    return {"repeated_test_rows": share, "read": [*raw.facts.get("read", []), note]}


def _official(
    name: str, preparation: Preparation, cache: Path, mirror: str | None
) -> RawSplits[Any]:
    """Return the splits of a catalog data set; raises UserError for a wrong count of rows."""
    spec = DATASETS[name]
    scores = ["stanfordSentimentTreebank.zip"] if preparation.sst2_neutral == "scores" else []
    paths = {f: acquire(name, FILES[f], cache, mirror) for f in [*spec.files, *scores]}
    raw: RawSplits[Any] = imported(f"automata.datasets.official.{spec.loader}")(name, paths)
    for split in SPLITS:
        expected, found = getattr(spec, split), len(getattr(raw, split))
        if found != expected:
            raise UserError(f"dataset {name}: {split}: expected {expected} rows, found {found}")
    return replace(raw, files={file: sha256(path) for file, path in paths.items()})


def _vectors(
    name: str, raw: RawSplits[Any], preparation: Preparation, cache: Path, mirror: str | None
) -> tuple[Vectors, dict[str, Any]]:
    """Return the configured word vectors of all words of `raw`, and facts for the record."""
    if preparation.vectors is None:
        raise UserError(f"dataset {name}: texts need data.vectors (source and dimension)")
    source, dimension = preparation.vectors.source, preparation.vectors.dimension
    if source is None:
        return {}, {"source": "random", "sha256": None, "dimension": dimension}
    path = Path(source)
    if "://" in source:
        known = {file.url: file for file in FILES.values()}
        unknown = RemoteFile(source, megabytes=5_000)
        # Sites may use the same name for different files.
        place = cache if source in known else cache / fingerprint({"url": source})
        path = acquire(name, known.get(source, unknown), place, mirror)
    words = {word for split in SPLITS for row in getattr(raw, split).inputs for word in row}
    vectors = read_vectors(path, dimension, words)
    return vectors, {"source": path.name, "sha256": sha256(path), "dimension": dimension}
