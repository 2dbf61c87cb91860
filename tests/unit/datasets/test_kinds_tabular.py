"""Tables as models take them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import StandardScaler

from automata.datasets.kinds import standardisation, tabular
from automata.datasets.prepared import SPLITS
from automata.datasets.raw import Numbers, RawSplits, Rows

FEATURES = 4


def rows(inputs: Numbers) -> Rows[Numbers]:
    return Rows(inputs, np.arange(len(inputs)) % 2)


def raw_splits(train: Numbers, validation: Numbers, test: Numbers) -> RawSplits[Numbers]:
    return RawSplits(rows(train), rows(validation), rows(test), ["no", "yes"], "synthetic")


@pytest.fixture
def raw() -> RawSplits[Numbers]:
    generator = np.random.default_rng(3)
    scale, mean = np.array([1, 100, 1e-3, 5]), np.array([0, 1e4, 2, -7])
    table = generator.normal(mean, scale, size=(90, FEATURES)).astype(np.float32)
    return raw_splits(table[:50], table[50:70], table[70:])


tables = hnp.arrays(
    np.int16, st.tuples(st.integers(1, 6), st.just(FEATURES)), elements=st.integers(-900, 900)
).map(lambda table: table.astype(np.float32) / 8)


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_is_scaled_as_scikit_learn_does_with_the_training_split(
    raw: RawSplits[Numbers], split: str
) -> None:
    scaler = StandardScaler().fit(raw.train.inputs.astype(np.float64))
    expected = scaler.transform(getattr(raw, split).inputs.astype(np.float64))
    np.testing.assert_allclose(tabular(raw).splits[split].inputs, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e4])
def test_constant_column_becomes_zero(raw: RawSplits[Numbers], value: float) -> None:
    raw.train.inputs[:, 1] = value
    assert tabular(raw).splits["train"].inputs[:, 1].tolist() == [0.0] * 50


def test_constant_column_has_scale_one() -> None:
    _, scale = standardisation(np.full((7, 2), 0.1, dtype=np.float32))
    assert scale.tolist() == [1.0, 1.0]


@given(train=tables, one=tables, other=tables)
def test_other_splits_do_not_change_training(train: Numbers, one: Numbers, other: Numbers) -> None:
    first = tabular(raw_splits(train, one, other)).splits["train"]
    second = tabular(raw_splits(train, other, one)).splits["train"]
    assert torch.equal(first.inputs, second.inputs)


@given(train=tables, validation=tables, test=tables)
def test_every_number_is_finite(train: Numbers, validation: Numbers, test: Numbers) -> None:
    splits = tabular(raw_splits(train, validation, test)).splits
    assert all(torch.isfinite(split.inputs).all() for split in splits.values())


@pytest.mark.parametrize("split", SPLITS)
def test_labels_are_kept(raw: RawSplits[Numbers], split: str) -> None:
    assert tabular(raw).splits[split].labels.tolist() == getattr(raw, split).labels.tolist()


def test_raw_rows_are_left_alone(raw: RawSplits[Numbers]) -> None:
    before = raw.train.inputs.copy()
    tabular(raw).splits["train"].inputs.zero_()
    np.testing.assert_array_equal(raw.train.inputs, before)


def test_inputs_are_float32(raw: RawSplits[Numbers]) -> None:
    assert tabular(raw).splits["train"].inputs.dtype == torch.float32


def test_labels_are_int64(raw: RawSplits[Numbers]) -> None:
    assert tabular(raw).splits["train"].labels.dtype == torch.int64


def test_facts_say_which_split_scales(raw: RawSplits[Numbers]) -> None:
    assert "training split" in tabular(raw).facts["standardised"]
