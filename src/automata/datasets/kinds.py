"""Converts raw rows to tensors: `tabular`, `image` and `text`, one function for each kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from automata.datasets.official.vectors import Vectors
from automata.datasets.prepared import PADDING, SPLITS, UNKNOWN, Normalisation, Split
from automata.datasets.raw import Images, Numbers, RawSplits, T, Tokens
from automata.seeds import derive

VECTOR_SEED = 42
"""Root seed of the vectors of words that have no pretrained one."""


class Tensors(NamedTuple):
    """The splits, extras and encoding of a `Dataset`, and facts for the record."""

    splits: dict[str, Split]
    extras: dict[str, Tensor]
    facts: dict[str, Any]
    encoding: dict[str, Any]


def tabular(raw: RawSplits[Numbers]) -> Tensors:
    """Return inputs (n, features) float32; the encoding has `mean` and `scale` of `standardised`.

    Every split is scaled by the mean and standard deviation of the training split.
    """
    mean = raw.train.inputs.mean(axis=0, dtype=np.float64)
    deviation = raw.train.inputs.std(axis=0, dtype=np.float64)
    varies = np.ptp(raw.train.inputs, axis=0) > 0  # a rounded mean gives others a deviation, too
    scale = np.where(varies & (deviation > 0), deviation, 1.0)
    splits = _splits(raw, lambda rows: torch.from_numpy(standardised(rows, mean, scale)))
    facts = {"standardised": "by mean and standard deviation of the training split"}
    return Tensors(splits, {}, facts, {"mean": mean.tolist(), "scale": scale.tolist()})


def standardised(
    features: Numbers, mean: NDArray[np.float64], scale: NDArray[np.float64]
) -> Numbers:
    """Return `features` (n, d) less the `mean`, in units of the `scale`, both (d,)."""
    return ((features - mean) / scale).astype(np.float32)


def image(raw: RawSplits[Images], flip: bool) -> Tensors:
    """Return inputs (n, channels, height, width) uint8, with the moments of the training split.

    Extras and encoding have these moments as `mean` and `scale`. The encoding also has the `size`
    [width, height] in pixels. `flip`, for the record: whether a mirrored image keeps its class.
    """
    mean, scale = (values.astype(np.float32) for values in moments(_writable(raw.train.inputs)))
    extras = {"mean": torch.from_numpy(mean), "scale": torch.from_numpy(scale)}
    splits = _splits(raw, _writable, Normalisation(**extras))
    how = "by mean and standard deviation per channel of the training split"
    size = [*reversed(raw.train.inputs.shape[2:])]
    encoding = {"size": size, "mean": mean.tolist(), "scale": scale.tolist()}
    return Tensors(splits, extras, {"normalised": how, "flip": flip}, encoding)


def moments(images: Tensor) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation per channel of `images` / 255, both (channels,).

    A constant channel gets scale 1, so that it becomes 0, not NaN.
    """
    # The counts of the 256 values give exact moments.
    channels = [channel.flatten() for channel in images.unbind(dim=1)]
    counts = np.stack([channel.bincount(minlength=256).numpy() for channel in channels])
    weights = counts / counts.sum(axis=1, keepdims=True)
    values = np.arange(256) / 255
    mean = weights @ values
    scale = np.sqrt((weights * (values - mean[:, None]) ** 2).sum(axis=1))
    return mean, np.where((counts > 0).sum(axis=1) == 1, 1.0, scale)


def _writable(images: Images) -> Tensor:
    # torch needs writable memory.
    return torch.from_numpy(np.require(images, requirements=["C", "W"]))


def text(raw: RawSplits[Tokens], vectors: Vectors, origin: dict[str, Any]) -> Tensors:
    """Return inputs (n, longest of the split) int32: word numbers, PADDING after the last word.

    The model knows the words of the training split, and words of the other splits that have a
    pretrained vector. `vectors` has the vectors of the words of all splits. `origin` has their
    source and `dimension`, for the record. The encoding has the known `words` in the order of their
    numbers. A text without words becomes one unknown word.

    The extra `vectors` (rows, dimension) float32 has row 0 for padding, row 1 for unknown words,
    and then one for each word.
    """
    trained = dict.fromkeys(chain.from_iterable(raw.train.inputs))
    others = dict.fromkeys(chain(*raw.validation.inputs, *raw.test.inputs))
    later = [word for word in others if word in vectors and word not in trained]
    words = [*trained, *later]
    numbers = numbering(words)
    texts = {name: getattr(raw, name).inputs for name in SPLITS}
    known = {name: known_share(some, numbers) for name, some in texts.items()}
    facts = {
        "words": len(words),
        "training_words_without_vector": sum(word not in vectors for word in trained),
        "known_tokens": known,
        "pretrained_tokens": {name: known_share(some, vectors) for name, some in texts.items()},
        "vectors": origin,
    }
    if "read" in raw.facts:  # a user's own texts
        shares = {name: known[name] for name in ("validation", "test")}
        facts["read"] = [*raw.facts["read"], known_note(shares)]
    splits = _splits(raw, lambda some: numbered(some, numbers))
    table = torch.from_numpy(_table(trained, words, vectors, origin["dimension"]))
    return Tensors(splits, {"vectors": table}, facts, {"words": words})


def numbering(words: Sequence[str]) -> dict[str, int]:
    """Return the number of each of the `words` that a model knows."""
    return {word: number for number, word in enumerate(words, start=UNKNOWN + 1)}


def _table(
    trained: Collection[str], words: Collection[str], vectors: Vectors, dimension: int
) -> NDArray[np.float32]:
    """Return the vectors of padding, of unknown words, and of the `words` that the model knows.

    A word without a pretrained vector gets a random one. Its moments are those of the pretrained
    vectors of training words, so that no other split changes the training.
    """
    mean, scale = np.zeros(dimension), np.full(dimension, 0.1)
    found = [vectors[word] for word in trained if word in vectors]
    if len(found) > 1:
        mean = np.mean(found, axis=0, dtype=np.float64)
        scale = np.std(found, axis=0, dtype=np.float64)

    def random(*names: str) -> NDArray[np.float64]:
        # With one seed of 31 bits per word, two of 10,000 words may share it.
        halves = [derive(VECTOR_SEED, *names, half) for half in ("first", "second")]
        return mean + scale * np.random.default_rng(halves).standard_normal(dimension)

    rows = [vectors[word] if word in vectors else random("word", word) for word in words]
    return np.stack([np.zeros(dimension), random("unknown"), *rows]).astype(np.float32)


def numbered(texts: Tokens, numbers: Mapping[str, int]) -> Tensor:
    """Return the word numbers (n, longest) int32 of `texts`, PADDING after the last word."""
    rows = [[numbers.get(word, UNKNOWN) for word in text] or [UNKNOWN] for text in texts]
    inputs = np.full((len(rows), max(map(len, rows), default=1)), PADDING, dtype=np.int32)
    for row, text in zip(inputs, rows, strict=True):
        row[: len(text)] = text
    return torch.from_numpy(inputs)


def length_notes(texts: Tokens, longest: int | None) -> list[str]:
    """Return a note on texts without words, and one on texts that are cut; each only if any are."""
    counts = {
        "texts without words": sum(not text for text in texts),
        f"texts cut at {longest} words": sum(text != text[:longest] for text in texts),
    }
    return [f"{what}: {count:,} of {len(texts):,}" for what, count in counts.items() if count]


def known_note(shares: Mapping[str, float | None]) -> str:
    """Return a note on the share of known tokens in each split."""
    known = [f"{name} {100 * share:.0f} %" for name, share in shares.items() if share is not None]
    return f"tokens that the model knows: {', '.join(known) or 'there are none'}"


def known_share(texts: Tokens, words: Collection[str]) -> float | None:
    """Return the share of the tokens of `texts` that are among `words`; None without tokens."""
    known = [word in words for word in chain.from_iterable(texts)]
    return sum(known) / len(known) if known else None


def _splits(
    raw: RawSplits[T], tensor: Callable[[T], Tensor], normalisation: Normalisation | None = None
) -> dict[str, Split]:
    """Return the splits of `raw` with `tensor(inputs)` as inputs."""
    splits = {}
    for name in SPLITS:
        rows = getattr(raw, name)
        labels = torch.from_numpy(rows.labels.astype(np.int64))
        splits[name] = Split(tensor(rows.inputs), labels, normalisation)
    return splits
