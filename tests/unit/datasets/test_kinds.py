"""Tables, images and texts as models take them; only the training split decides."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler

from automata.datasets import kinds
from automata.datasets.kinds import image, tabular
from automata.datasets.prepared import PADDING, SPLITS, UNKNOWN
from automata.datasets.raw import RawSplits, Rows

DIMENSION = 3
ORIGIN = {"source": "synthetic", "sha256": "0123", "dimension": DIMENSION}


def raw_splits(train, validation=(), test=()):
    """Return splits with these inputs and labels 0, 1, 2, 0, ..."""
    parts = [Rows(inputs, np.arange(len(inputs)) % 3) for inputs in (train, validation, test)]
    return RawSplits(*parts, ["a", "b", "c"], "synthetic")


@pytest.mark.parametrize("split", SPLITS)
def test_tables_are_scaled_as_scikit_learn_does_with_the_training_split(split):
    # The last column is constant: its scale is 1.
    scale, mean = np.array([1, 100, 1e-3, 0]), np.array([0, 1e4, 2, 0.07])
    table = np.random.default_rng(3).normal(mean, scale, size=(90, 4))
    raw = raw_splits(table[:50], table[50:70], table[70:])
    rows, found = getattr(raw, split), tabular(raw).splits[split]
    scaler = StandardScaler().fit(table[:50].astype(np.float64))
    expected = scaler.transform(rows.inputs.astype(np.float64))
    np.testing.assert_allclose(found.inputs, expected, rtol=1e-5, atol=1e-6)
    assert (found.inputs.dtype, found.labels.dtype) == (torch.float32, torch.int64)
    assert found.labels.tolist() == rows.labels.tolist()


@pytest.mark.parametrize("split", SPLITS)
def test_images_stay_bytes_and_models_see_them_by_the_moments_of_training(split):
    highest = np.array([256, 100, 1])[:, None, None]  # of the last channel all are 0
    pixels = np.random.default_rng(5).integers(0, highest, size=(40, 3, 4, 5), dtype=np.uint8)
    raw = raw_splits(pixels[:25], pixels[25:30], pixels[30:])
    rows, found = getattr(raw, split), image(raw, True)
    prepared = found.splits[split]
    np.testing.assert_array_equal(prepared.inputs.numpy(), rows.inputs, strict=True)
    assert prepared.labels.tolist() == rows.labels.tolist()
    training = pixels[:25] / 255
    mean, scale = (of(training, axis=(0, 2, 3), keepdims=True) for of in (np.mean, np.std))
    expected = (rows.inputs / 255 - mean) / np.where(scale > 0, scale, 1)
    seen = prepared.ready(prepared.inputs)
    np.testing.assert_allclose(seen, expected, rtol=1e-4, atol=1e-5)
    assert {extra.dtype for extra in found.extras.values()} == {torch.float32}


def pretrained(words):
    """Return a vector for each of these words."""
    return {word: np.array([ord(word), ord(word) ** 2, 1], np.float32) for word in words}


def tensors(raw, vectors):
    return kinds.text(raw, vectors, ORIGIN)


def test_other_texts_change_neither_training_rows_nor_their_vectors():
    first, extras, *_ = tensors(raw_splits([["a", "b"]], [["c"]], [["d"]]), pretrained("acd"))
    second, changed_extras, *_ = tensors(raw_splits([["a", "b"]]), pretrained("a"))
    assert torch.equal(first["train"].inputs, second["train"].inputs)
    assert torch.equal(extras["vectors"][:4], changed_extras["vectors"])


def test_words_are_known_from_training_or_by_their_vectors():
    raw = raw_splits([["a", "b"], []], [["x", "c"]])
    vectors = pretrained("bc")
    splits, extras, *_ = tensors(raw, vectors)
    assert splits["train"].inputs.tolist() == [[2, 3], [UNKNOWN, PADDING]]
    assert splits["validation"].inputs.tolist() == [[UNKNOWN, 4]]
    assert (splits["train"].inputs.dtype, extras["vectors"].dtype) == (torch.int32, torch.float32)
    padding, unknown, first, second, third = extras["vectors"].numpy()
    assert padding.tolist() == [0] * DIMENSION
    assert (unknown != first).all()
    np.testing.assert_array_equal([second, third], [vectors["b"], vectors["c"]])


def test_new_training_texts_do_not_move_random_vectors():
    few = raw_splits([["a", "b", "c"], ["d", "c"]])
    many = raw_splits([["e", "f"], *few.train.inputs])
    before, after = (tensors(raw, {}).extras["vectors"] for raw in (few, many))
    assert torch.equal(after[UNKNOWN + 3 :], before[UNKNOWN + 1 :])
    assert len(after.unique(dim=0)) == len(after)


@pytest.mark.parametrize("count", [0, 1, 2000])
def test_random_vectors_have_the_moments_of_two_pretrained_ones_or_more(count):
    mean, scale = (np.array([5, 0, -1]), np.array([2, 0.5, 0.01])) if count > 1 else (0, 0.1)
    drawn = np.random.default_rng(2).normal(mean, scale, size=(count, 3)).astype(np.float32)
    known = {f"k{number}": vector for number, vector in enumerate(drawn)}
    raw = raw_splits([[f"r{n}" for n in range(2000)], list(known)])
    found = tensors(raw, known).extras["vectors"][UNKNOWN + 1 :][:2000].numpy()
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
