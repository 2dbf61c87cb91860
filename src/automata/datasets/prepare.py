"""From the source of a data set to its prepared form: read, checked, as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from automata.config.data import Preparation
from automata.config.inputs import content_of, data_files, key_of
from automata.datasets import own
from automata.datasets.acquire import acquire
from automata.datasets.catalog import DATASETS, FILES, DatasetSpec, RemoteFile
from automata.datasets.kinds import image, tabular, text
from automata.datasets.prepared import SPLITS, Dataset
from automata.datasets.raw import RawSplits
from automata.datasets.sources import Source
from automata.datasets.vectors import WordVectors, random_vectors, read_vectors
from automata.errors import UserError
from automata.files import fingerprint
from automata.registry import imported

SCORES = "stanfordSentimentTreebank.zip"


def prepare(
    name: str,
    preparation: Preparation,
    cache: Path,
    mirror: str | None = None,
    files: Mapping[str, str] | None = None,
) -> Dataset:
    """Return the data set `name`, ready for training.

    A data set of the catalog is had from its official files, by way of the folder `cache` and of
    `mirror`; the user's own is described by `preparation.own`. Raises UserError for another name,
    for files that cannot be had or read, when a count is not what the paper's tables give, and
    when a file of the user's own, by role, is not what `files` says is in it.
    """
    dataset = _prepared(name, preparation, cache, mirror)
    paths = data_files(preparation)
    for role, content in (files or {}).items():
        if content_of(Path(paths[role])) != content:
            raise UserError(f"{key_of(role, name)}: {paths[role]}: has changed: call again")
    return dataset


def _prepared(name: str, preparation: Preparation, cache: Path, mirror: str | None) -> Dataset:
    if preparation.own is not None:
        try:
            raw = own.load(name, preparation.own)
            flip = getattr(preparation.own, "flip", True)
            return _dataset(name, preparation.own.kind, flip, raw, preparation, cache, mirror)
        except MemoryError as error:
            said = f"own_datasets.{name}: this machine has too little memory for it: {error}"
            raise UserError(f"{said}; give fewer rows, columns or categories") from error
    if name not in DATASETS:
        raise UserError(f"dataset '{name}' is not one of {', '.join(DATASETS)}")
    spec = DATASETS[name]
    raw = load_official(name, spec, preparation, cache, mirror)
    check_counts(name, raw, spec)
    return _dataset(name, spec.kind, spec.flip, raw, preparation, cache, mirror)


def load_official(
    name: str, spec: DatasetSpec, preparation: Preparation, cache: Path, mirror: str | None
) -> RawSplits[Any]:
    """Return the raw splits of a data set of the catalog."""
    wanted = [*spec.files, *([SCORES] if preparation.sst2_neutral == "scores" else [])]
    files = {file: acquire(name, FILES[file], cache, mirror) for file in wanted}
    source = Source(
        name,
        {file: acquired.path for file, acquired in files.items()},
        {file: acquired.sha256 for file, acquired in files.items()},
        preparation,
    )
    raw: RawSplits[Any] = imported(spec.loader)(source)
    return raw


def check_counts(name: str, raw: RawSplits[Any], spec: DatasetSpec) -> None:
    """Raise UserError when rows, features or classes of `raw` differ from `spec`."""
    found = {split: len(getattr(raw, split)) for split in SPLITS}
    if spec.features is not None:
        found["features"] = raw.train.inputs.shape[1]
    # The classes that the rows have, not only those that the source names.
    found["classes"] = len({label for split in SPLITS for label in getattr(raw, split).labels})
    for key, count in found.items():
        expected = getattr(spec, key)
        if count != expected:
            raise UserError(f"dataset {name}: {key}: expected {expected}, found {count}")


def _dataset(
    name: str,
    kind: str,
    flip: bool,
    raw: RawSplits[Any],
    preparation: Preparation,
    cache: Path,
    mirror: str | None,
) -> Dataset:
    extras: dict[str, Tensor] = {}
    if kind == "tabular":
        splits, facts = tabular.tensors(raw)
        encoding = tabular.encoding(raw)
    elif kind == "image":
        splits, extras, facts = image.tensors(raw)
        encoding = image.encoding(raw)
        facts["flip"] = flip
    else:
        vectors = _vectors(name, raw, preparation, cache, mirror)
        splits, extras, facts = text.tensors(raw, vectors)
        encoding = text.encoding(raw, vectors)
    metadata = {
        "source": raw.source,
        "files": raw.files,
        "class_names": raw.classes,
        "counts": {split: len(rows) for split, rows in splits.items()},
        "preparation": preparation.model_dump(mode="json"),
        **raw.facts,
        **facts,
    }
    return Dataset(
        name,
        kind,
        len(raw.classes),
        metadata=metadata,
        extras=extras,
        encoding=raw.encoding | encoding,
        **splits,
    )


def _vectors(
    name: str, raw: RawSplits[Any], preparation: Preparation, cache: Path, mirror: str | None
) -> WordVectors:
    """Return the configured word vectors of all words of `raw`."""
    settings = preparation.vectors
    if settings is None:
        raise UserError(f"dataset {name}: texts need data.vectors (source and dimension)")
    source, dimension = settings.source, settings.dimension
    if source is None:
        return random_vectors(dimension)
    words = {word for split in SPLITS for row in getattr(raw, split).inputs for word in row}
    if "://" in source:
        known = {file.url: file for file in FILES.values()}
        # Another site's file of the same name is another file.
        place = cache if source in known else cache / fingerprint({"url": source})
        path = acquire(name, known.get(source, RemoteFile(source)), place, mirror).path
    else:
        path = Path(source)
    return read_vectors(path, dimension, words)
