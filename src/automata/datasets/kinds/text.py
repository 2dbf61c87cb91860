"""Texts: words, their numbers, and the vectors that models start from."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from automata.datasets.prepared import PADDING, SPLITS, UNKNOWN, Split
from automata.datasets.raw import RawSplits, Tokens
from automata.datasets.vectors import Vector, WordVectors
from automata.seeds import derive

VECTOR_SEED = 42
"""Root seed of the vectors of words that have no pretrained one."""

_RANDOM_SCALE = 0.1


def tensors(
    raw: RawSplits[Tokens], vectors: WordVectors
) -> tuple[dict[str, Split], dict[str, Tensor], dict[str, Any]]:
    """Return the splits of `raw` by name, extras, and facts for the record.

    The model knows the words of the training split and those that have a pretrained vector;
    `vectors` must have been asked for the words of all splits. Inputs are (n, longest of the
    split) int32, 0 after the last word; a text without words is one unknown word. The extra
    `vectors` (rows, dimension) float32 has row 0 for padding, row 1 for unknown words, then the
    words of the training split, and then those of the others that have a pretrained vector: a
    word that is in none of them would have a row that nobody reads.
    """
    trained, later = _known(raw, vectors)
    numbers = numbering([*trained, *later])
    table = _table(trained, later, vectors)
    splits = {
        name: Split(numbered(rows.inputs, numbers), torch.from_numpy(rows.labels.astype(np.int64)))
        for name in SPLITS
        for rows in [getattr(raw, name)]
    }
    known = {n: known_share(getattr(raw, n).inputs, numbers) for n in SPLITS}
    facts: dict[str, Any] = {
        "words": len(numbers),
        "training_words_without_vector": sum(word not in vectors.of for word in trained),
        "known_tokens": known,
        "pretrained_tokens": {n: known_share(getattr(raw, n).inputs, vectors.of) for n in SPLITS},
        "vectors": {
            "source": vectors.source,
            "sha256": vectors.sha256,
            "dimension": vectors.dimension,
        },
    }
    if "read" in raw.facts:  # a user's own texts
        later_known = {name: known[name] for name in ("validation", "test")}
        facts["read"] = [*raw.facts["read"], known_tokens(later_known)]
    return splits, {"vectors": torch.from_numpy(table)}, facts


def encoding(raw: RawSplits[Tokens], vectors: WordVectors) -> dict[str, Any]:
    """Return the words that the model knows, in the order of their numbers."""
    trained, later = _known(raw, vectors)
    return {"words": [*trained, *later]}


def numbering(words: Sequence[str]) -> dict[str, int]:
    """Return the number of each of the `words` that a model knows."""
    return {word: number for number, word in enumerate(words, start=UNKNOWN + 1)}


def _known(raw: RawSplits[Tokens], vectors: WordVectors) -> tuple[dict[str, None], list[str]]:
    """Return the words of the training split, and others that have a pretrained vector."""
    trained = _words(raw.train.inputs)
    met = _words(raw.validation.inputs + raw.test.inputs)
    return trained, [word for word in met if word in vectors.of and word not in trained]


def _words(texts: Tokens) -> dict[str, None]:
    """Return the words of `texts` by first occurrence, as a set that has an order."""
    return dict.fromkeys(itertools.chain.from_iterable(texts))


def _table(trained: Collection[str], later: list[str], vectors: WordVectors) -> NDArray[np.float32]:
    # Only words of the training split decide how random vectors look, so that no other split
    # changes what is trained.
    mean, scale = _moments([vectors.of[word] for word in trained if word in vectors.of])
    unknown = mean + scale * _normal(vectors.dimension, "unknown")
    rows: list[NDArray[np.floating]] = [np.zeros(vectors.dimension), unknown]
    for word in itertools.chain(trained, later):
        if word in vectors.of:
            rows.append(vectors.of[word])
        else:
            rows.append(mean + scale * _normal(vectors.dimension, "word", word))
    return np.stack(rows).astype(np.float32)


def _moments(
    found: list[Vector],
) -> tuple[NDArray[np.float64] | float, NDArray[np.float64] | float]:
    """Return mean and standard deviation per dimension, or fixed ones where there are none."""
    if len(found) < 2:
        return 0.0, _RANDOM_SCALE
    stacked = np.stack(found)
    return stacked.mean(axis=0, dtype=np.float64), stacked.std(axis=0, dtype=np.float64)


def _normal(dimension: int, *names: str) -> NDArray[np.float64]:
    """Return standard normal numbers (dimension,) that depend on the names alone."""
    # A single derived seed has 31 bits: among some 10,000 words two would often share it.
    halves = [derive(VECTOR_SEED, *names, half) for half in ("first", "second")]
    return np.random.default_rng(halves).standard_normal(dimension)


def numbered(texts: Tokens, numbers: Mapping[str, int]) -> Tensor:
    """Return the word numbers (n, longest) int32 of `texts`, PADDING after the last word."""
    rows = [[numbers.get(word, UNKNOWN) for word in text] or [UNKNOWN] for text in texts]
    inputs = np.full((len(rows), max(map(len, rows), default=1)), PADDING, dtype=np.int32)
    for row, text in zip(inputs, rows, strict=True):
        row[: len(text)] = text
    return torch.from_numpy(inputs)


def odd_lengths(texts: Tokens, longest: int | None) -> list[str]:
    """Return a sentence on the texts without words, and one on those that are cut."""
    counts = {
        "texts without words": sum(not text for text in texts),
        f"texts cut at {longest} words": sum(text != text[:longest] for text in texts),
    }
    return [f"{what}: {count:,} of {len(texts):,}" for what, count in counts.items() if count]


def known_tokens(shares: Mapping[str, float | None]) -> str:
    """Return a sentence on the share of known tokens in each split."""
    known = [f"{name} {100 * share:.0f} %" for name, share in shares.items() if share is not None]
    return f"tokens that the model knows: {', '.join(known) or 'there are none'}"


def known_share(texts: Tokens, words: Collection[str]) -> float | None:
    """Return the share of the tokens of `texts` that are among `words`; None without tokens."""
    known = [word in words for word in itertools.chain.from_iterable(texts)]
    return sum(known) / len(known) if known else None
