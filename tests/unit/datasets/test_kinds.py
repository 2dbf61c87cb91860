"""Tables, images and texts as models take them; only the training split decides."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import StandardScaler

from automata.datasets import kinds
from automata.datasets.kinds import image, moments, standardisation, tabular
from automata.datasets.prepared import PADDING, SPLITS, UNKNOWN
from automata.datasets.raw import RawSplits, Rows

DIMENSION = 3
ORIGIN = {"source": "synthetic", "sha256": "0123", "dimension": DIMENSION}
WORDS = "abcdefgh"


def raw_splits(train, validation=(), test=()):
    """Return splits with these inputs and labels 0, 1, 2, 0, ..."""
    parts = [Rows(inputs, np.arange(len(inputs)) % 3) for inputs in (train, validation, test)]
    return RawSplits(*parts, ["a", "b", "c"], "synthetic")


@pytest.fixture
def table():
    generator = np.random.default_rng(3)
    scale, mean = np.array([1, 100, 1e-3, 5]), np.array([0, 1e4, 2, -7])
    rows = generator.normal(mean, scale, size=(90, 4)).astype(np.float32)
    return raw_splits(rows[:50], rows[50:70], rows[70:])


@pytest.fixture
def images():
    highest = np.array([256, 100, 20])[:, None, None]
    pixels = np.random.default_rng(5).integers(0, highest, size=(40, 3, 4, 5), dtype=np.uint8)
    return raw_splits(pixels[:25], pixels[25:30], pixels[30:])


@pytest.mark.parametrize("split", SPLITS)
def test_tables_are_scaled_as_scikit_learn_does_with_the_training_split(table, split):
    rows, before = getattr(table, split), table.train.inputs.copy()
    found = tabular(table).splits[split]
    scaler = StandardScaler().fit(table.train.inputs.astype(np.float64))
    expected = scaler.transform(rows.inputs.astype(np.float64))
    np.testing.assert_allclose(found.inputs, expected, rtol=1e-5, atol=1e-6)
    assert (found.inputs.dtype, found.labels.dtype) == (torch.float32, torch.int64)
    assert found.labels.tolist() == rows.labels.tolist()
    np.testing.assert_array_equal(table.train.inputs, before)


def test_constant_column_has_scale_one_and_becomes_zero(table):
    table.train.inputs[:, 1] = 0.1  # a number whose sum is not exact
    assert standardisation(table.train.inputs)[1][1] == 1
    assert tabular(table).splits["train"].inputs[:, 1].tolist() == [0] * 50


def moments_of_array(images):
    values = images.astype(np.float64) / 255
    return values.mean(axis=(0, 2, 3)), values.std(axis=(0, 2, 3))


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 4), *map(st.just, (2, 3, 2)))))
def test_moments_are_those_of_the_whole_array(images):
    constant = (images == images[:1, :, :1, :1]).all(axis=(0, 2, 3))
    mean, scale = moments(torch.tensor(images))
    expected_mean, expected_scale = moments_of_array(images)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(scale, np.where(constant, 1, expected_scale), rtol=1e-12)


@pytest.mark.parametrize("split", SPLITS)
def test_images_stay_bytes_and_models_see_them_by_the_moments_of_training(images, split):
    rows, found = getattr(images, split), image(images, True)
    prepared = found.splits[split]
    np.testing.assert_array_equal(prepared.inputs.numpy(), rows.inputs, strict=True)
    assert prepared.labels.tolist() == rows.labels.tolist()
    mean, scale = (of[:, None, None] for of in moments_of_array(images.train.inputs))
    seen = prepared.ready(prepared.inputs)
    np.testing.assert_allclose(seen, (rows.inputs / 255 - mean) / scale, rtol=1e-4, atol=1e-5)
    assert {extra.dtype for extra in found.extras.values()} == {torch.float32}


def pretrained(words):
    """Return vectors of these words: of each, its place in the alphabet and its square."""
    return {w: np.array([ord(w) - 96, (ord(w) - 96) ** 2, 1], dtype=np.float32) for w in words}


def tensors(raw, vectors):
    """Return what becomes of texts with those of the `vectors` whose words are in them."""
    words = {word for name in SPLITS for row in getattr(raw, name).inputs for word in row}
    return kinds.text(raw, {w: vector for w, vector in vectors.items() if w in words}, ORIGIN)


def looked_up(split, extras):
    """Return per text the vectors of its words, padding left out."""
    table = extras["vectors"].numpy()
    return [table[row[row != PADDING]] for row in split.inputs.numpy()]


texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=5), max_size=5)
raws = st.builds(raw_splits, texts.filter(len), texts, texts)
vectors_of_some = st.sets(st.sampled_from(WORDS)).map(lambda words: pretrained("".join(words)))


@given(raw=raws, other=raws, vectors=vectors_of_some)
def test_other_texts_change_neither_training_rows_nor_their_vectors(raw, other, vectors):
    changed = RawSplits(raw.train, other.validation, other.test, raw.classes, raw.source)
    first, extras, *_ = tensors(raw, vectors)
    second, changed_extras, *_ = tensors(changed, vectors)
    rows = len({word for text in raw.train.inputs for word in text}) + UNKNOWN + 1
    assert torch.equal(first["train"].inputs, second["train"].inputs)
    assert torch.equal(extras["vectors"][:rows], changed_extras["vectors"][:rows])


@given(raw=raws, vectors=vectors_of_some)
def test_texts_are_padded_at_their_ends_and_each_word_has_its_vector(raw, vectors):
    splits, extras, *_ = tensors(raw, vectors)
    for name in SPLITS:
        lengths = [max(len(text), 1) for text in getattr(raw, name).inputs]
        width = max(lengths, default=1)
        assert (splits[name].inputs != PADDING).tolist() == [
            [True] * length + [False] * (width - length) for length in lengths
        ]
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


def test_words_are_known_from_training_or_by_their_vectors():
    raw = raw_splits([["a", "b"], []], [["x", "c"]])
    splits, extras, *_ = tensors(raw, pretrained("bc"))
    assert splits["train"].inputs.tolist() == [[2, 3], [UNKNOWN, PADDING]]
    assert splits["validation"].inputs.tolist() == [[UNKNOWN, 4]]
    assert (splits["train"].inputs.dtype, extras["vectors"].dtype) == (torch.int32, torch.float32)
    assert extras["vectors"][PADDING].tolist() == [0] * DIMENSION
    assert (extras["vectors"][UNKNOWN] != 0).all()


@pytest.mark.parametrize("vectors", [{}, pretrained("ab")])
def test_new_training_texts_do_not_move_random_vectors(vectors):
    few = raw_splits([["a", "b", "c"], ["d", "c"]])
    many = raw_splits([["e", "f"], *few.train.inputs])
    splits, extras, *_ = tensors(few, vectors)
    more_splits, more_extras, *_ = tensors(many, vectors)
    before, after = looked_up(splits["train"], extras), looked_up(more_splits["train"], more_extras)
    np.testing.assert_array_equal(np.concatenate(after[1:]), np.concatenate(before))
    everything = more_extras["vectors"]
    assert len(everything.unique(dim=0)) == len(everything)


@pytest.mark.parametrize("count", [0, 1, 2000])
def test_random_vectors_have_the_moments_of_two_pretrained_ones_or_more(count):
    mean, scale = (np.array([5, 0, -1]), np.array([2, 0.5, 0.01])) if count > 1 else (0, 0.1)
    drawn = np.random.default_rng(2).normal(mean, scale, size=(count, 3)).astype(np.float32)
    known = {f"k{number}": vector for number, vector in enumerate(drawn)}
    splits, extras, *_ = tensors(raw_splits([[f"r{n}" for n in range(2000)], list(known)]), known)
    found = looked_up(splits["train"], extras)[0]
    np.testing.assert_allclose(found.mean(axis=0), mean, atol=0.2 * np.max(scale))
    np.testing.assert_allclose(found.std(axis=0), scale, rtol=0.1)


def test_record_counts_the_words_and_a_users_also_in_words():
    raw = raw_splits([["a", "b"], ["b", "c"]], [["c", "d", "x", "y"]], [[]])
    facts = tensors(raw, pretrained("abd")).facts
    assert facts == {
        "words": 4,
        "training_words_without_vector": 1,
        "known_tokens": {"train": 1.0, "validation": 0.5, "test": None},
        "pretrained_tokens": {"train": 0.75, "validation": 0.25, "test": None},
        "vectors": ORIGIN,
    }
    own = tensors(replace(raw, facts={"read": ["first"]}), {}).facts
    assert own["read"] == ["first", "tokens that the model knows: validation 25 %"]
