"""Texts as models take them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from automata.datasets import kinds
from automata.datasets.prepared import PADDING, SPLITS, UNKNOWN, Split
from automata.datasets.raw import RawSplits, Rows, Tokens
from automata.datasets.vectors import Vectors

DIMENSION = 3
ORIGIN = {"source": "synthetic", "sha256": "0123", "dimension": DIMENSION}
WORDS = "abcdefgh"


def rows(inputs: Tokens) -> Rows[Tokens]:
    return Rows(inputs, np.arange(len(inputs)) % 2)


def raw_splits(train: Tokens, validation: Tokens = [], test: Tokens = []) -> RawSplits[Tokens]:  # noqa: B006
    return RawSplits(rows(train), rows(validation), rows(test), ["bad", "good"], "synthetic")


def pretrained(words: str) -> Vectors:
    """Return vectors of these words: of each, its place in the alphabet and its square."""
    return {w: np.array([ord(w) - 96, (ord(w) - 96) ** 2, 1], dtype=np.float32) for w in words}


def tensors(raw: RawSplits[Tokens], vectors: Vectors) -> kinds.Tensors:
    """Return what becomes of texts with those of the `vectors` whose words are in them."""
    words = {word for name in SPLITS for row in getattr(raw, name).inputs for word in row}
    return kinds.text(raw, {w: vector for w, vector in vectors.items() if w in words}, ORIGIN)


def looked_up(split: Split, extras: dict[str, torch.Tensor]) -> list[np.ndarray]:
    """Return per text the vectors of its words, padding left out."""
    table = extras["vectors"].numpy()
    return [table[row[row != PADDING]] for row in split.inputs.numpy()]


texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=5)
raws = st.builds(raw_splits, texts.filter(len), texts, texts)
vectors_of_some = st.sets(st.sampled_from(WORDS)).map(lambda words: pretrained("".join(words)))


@given(raw=raws, other=raws, vectors=vectors_of_some)
def test_other_splits_change_neither_training_rows_nor_their_vectors(
    raw: RawSplits[Tokens], other: RawSplits[Tokens], vectors: Vectors
) -> None:
    changed = RawSplits(raw.train, other.validation, other.test, raw.classes, raw.source)
    first, extras, *_ = tensors(raw, vectors)
    second, changed_extras, *_ = tensors(changed, vectors)
    rows = len({word for text in raw.train.inputs for word in text}) + UNKNOWN + 1
    assert torch.equal(first["train"].inputs, second["train"].inputs)
    assert torch.equal(extras["vectors"][:rows], changed_extras["vectors"][:rows])


@given(raw=raws, vectors=vectors_of_some)
def test_table_gives_every_word_the_vector_of_a_table_of_all_words(
    raw: RawSplits[Tokens], vectors: Vectors
) -> None:
    splits, extras, *_ = tensors(raw, vectors)
    # Random vectors are read off the training split; a word there always has the same.
    full = {"": extras["vectors"][UNKNOWN].numpy()}
    for text, found in zip(raw.train.inputs, looked_up(splits["train"], extras), strict=True):
        full |= dict(zip(text, found, strict=False))
    full |= vectors
    expected = [
        full.get(word, full[""])
        for name in SPLITS
        for text in getattr(raw, name).inputs
        for word in text or [""]
    ]
    found = np.concatenate([f for name in SPLITS for f in looked_up(splits[name], extras)])
    np.testing.assert_array_equal(found, np.stack(expected))


@given(raw=raws, vectors=vectors_of_some)
def test_training_words_come_back_from_their_numbers(
    raw: RawSplits[Tokens], vectors: Vectors
) -> None:
    splits, *_ = tensors(raw, vectors)
    words = list(dict.fromkeys(word for text in raw.train.inputs for word in text))
    decoded = [
        [words[number - 2] for number in row if number > UNKNOWN]
        for row in splits["train"].inputs.tolist()
    ]
    assert decoded == raw.train.inputs


@given(raw=raws, vectors=vectors_of_some, split=st.sampled_from(SPLITS))
def test_padding_is_only_after_the_last_word(
    raw: RawSplits[Tokens], vectors: Vectors, split: str
) -> None:
    inputs = tensors(raw, vectors).splits[split].inputs
    lengths = [max(len(text), 1) for text in getattr(raw, split).inputs]
    expected = [[place < length for place in range(inputs.shape[1])] for length in lengths]
    assert (inputs != PADDING).tolist() == expected


@given(raw=raws, vectors=vectors_of_some, split=st.sampled_from(SPLITS))
def test_a_split_is_as_wide_as_its_longest_text(
    raw: RawSplits[Tokens], vectors: Vectors, split: str
) -> None:
    longest = max([1, *map(len, getattr(raw, split).inputs)])
    assert tensors(raw, vectors).splits[split].inputs.shape[1] == longest


@given(raw=raws, vectors=vectors_of_some)
def test_every_row_of_the_table_is_read(raw: RawSplits[Tokens], vectors: Vectors) -> None:
    splits, extras, *_ = tensors(raw, vectors)
    read = {number for split in splits.values() for number in split.inputs.flatten().tolist()}
    assert read | {PADDING, UNKNOWN} == set(range(len(extras["vectors"])))


@given(raw=raws, vectors=vectors_of_some)
def test_the_same_rows_give_the_same_table(raw: RawSplits[Tokens], vectors: Vectors) -> None:
    first, second = (tensors(raw, vectors)[1]["vectors"] for _ in range(2))
    assert torch.equal(first, second)


def test_text_without_words_is_one_unknown_word() -> None:
    splits, *_ = tensors(raw_splits([["a", "b"], []]), pretrained("ab"))
    assert splits["train"].inputs.tolist() == [[2, 3], [UNKNOWN, PADDING]]


def test_later_word_with_a_pretrained_vector_is_known() -> None:
    splits, extras, *_ = tensors(raw_splits([["a"]], test=[["b"]]), pretrained("ab"))
    np.testing.assert_array_equal(looked_up(splits["test"], extras)[0], [[2, 4, 1]])


def test_later_word_without_a_pretrained_vector_is_unknown() -> None:
    splits, *_ = tensors(raw_splits([["a"]], [["b"]], [["c"]]), pretrained("ac"))
    assert splits["validation"].inputs.tolist() == [[UNKNOWN]]


def test_padding_row_is_zero() -> None:
    _, extras, *_ = tensors(raw_splits([["a"]]), pretrained("a"))
    assert extras["vectors"][PADDING].tolist() == [0.0] * DIMENSION


def test_unknown_row_is_not_zero() -> None:
    _, extras, *_ = tensors(raw_splits([["a"]]), pretrained("a"))
    assert (extras["vectors"][UNKNOWN] != 0).all()


@pytest.mark.parametrize("vectors", [{}, pretrained("ab")])
def test_new_training_texts_do_not_move_random_vectors(vectors: Vectors) -> None:
    few = raw_splits([["a", "b", "c"], ["d", "c"]])
    many = raw_splits([["e", "f"], *few.train.inputs])
    splits, extras, *_ = tensors(few, vectors)
    more_splits, more_extras, *_ = tensors(many, vectors)
    before, after = looked_up(splits["train"], extras), looked_up(more_splits["train"], more_extras)
    np.testing.assert_array_equal(np.concatenate(after[1:]), np.concatenate(before))


def test_random_vectors_differ_between_words() -> None:
    words = [f"w{number}" for number in range(500)]
    _, extras, *_ = tensors(raw_splits([words]), {})
    assert len(extras["vectors"].unique(dim=0)) == len(words) + 2


def test_random_vectors_have_the_moments_of_the_pretrained_ones() -> None:
    generator = np.random.default_rng(2)
    mean, scale = np.array([5, 0, -1]), np.array([2, 0.5, 0.01])
    known = {
        f"k{n}": (mean + scale * generator.normal(size=3)).astype(np.float32) for n in range(2000)
    }
    texts = [[f"r{number}" for number in range(2000)], list(known)]
    splits, extras, *_ = tensors(raw_splits(texts), known)
    drawn = looked_up(splits["train"], extras)[0]
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.2 * scale.max())
    np.testing.assert_allclose(drawn.std(axis=0), scale, rtol=0.1)


@pytest.mark.parametrize("vectors", [{}, pretrained("a")])
def test_random_vectors_have_scale_one_tenth_without_pretrained_ones(vectors: Vectors) -> None:
    texts = [["a"], [f"r{number}" for number in range(2000)]]
    splits, extras, *_ = tensors(raw_splits(texts), vectors)
    np.testing.assert_allclose(looked_up(splits["train"], extras)[1].std(axis=0), 0.1, rtol=0.1)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        ("words", 4),
        ("training_words_without_vector", 1),
        ("known_tokens", {"train": 1.0, "validation": 0.5, "test": None}),
        ("pretrained_tokens", {"train": 0.75, "validation": 0.25, "test": None}),
        ("vectors", ORIGIN),
    ],
)
def test_facts_for_the_record(fact: str, expected: object) -> None:
    raw = raw_splits([["a", "b"], ["b", "c"]], [["c", "d", "x", "y"]], [[]])
    assert tensors(raw, pretrained("abd"))[2][fact] == expected


def test_inputs_are_int32() -> None:
    assert tensors(raw_splits([["a"]]), pretrained("a"))[0]["train"].inputs.dtype == torch.int32


def test_table_is_float32() -> None:
    assert tensors(raw_splits([["a"]]), pretrained("a"))[1]["vectors"].dtype == torch.float32


def test_labels_are_kept() -> None:
    splits, *_ = tensors(raw_splits([["a"], ["b"], []]), pretrained("a"))
    assert splits["train"].labels.tolist() == [0, 1, 0]


def test_known_tokens_of_a_users_texts_are_among_what_was_read() -> None:
    raw = raw_splits([["a", "b"]], [["a"]], [["a", "x", "y", "z"], []])
    line = "tokens that the model knows: validation 100 %, test 25 %"
    facts = tensors(replace(raw, facts={"read": ["first"]}), pretrained("ab"))[2]
    assert facts["read"] == ["first", line]


def test_official_texts_have_no_such_facts() -> None:
    assert "read" not in tensors(raw_splits([["a"]]), pretrained("a"))[2]
