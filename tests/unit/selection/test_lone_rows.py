"""Mini-batches of a single row join another one."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from automata.selection.problem import Subset, without_lone_rows

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=8)


def subset(sizes, weights=None):
    rows = torch.randperm(sum(sizes), generator=torch.Generator().manual_seed(0))
    given = torch.ones(len(sizes)) if weights is None else torch.tensor(weights)
    return Subset(list(rows.split(list(sizes))), given, 3)


@given(SIZES)
def test_every_row_stays_once(sizes):
    before, after = subset(sizes), without_lone_rows(subset(sizes))
    assert sorted(torch.cat(after.batches).tolist()) == sorted(torch.cat(before.batches).tolist())


@given(SIZES)
def test_no_row_is_alone_unless_it_is_all_there_is(sizes):
    found = [len(batch) for batch in without_lone_rows(subset(sizes)).batches]
    assert min(found) > 1 or sum(sizes) == 1


@given(SIZES)
def test_weights_keep_mean_one(sizes):
    weights = without_lone_rows(subset(sizes, [1.0 + i for i in range(len(sizes))])).weights
    changed = 1 in sizes and len(sizes) > 1
    expected = 1.0 if changed else (1 + len(sizes)) / 2
    assert float(weights.mean()) == pytest.approx(expected)


@given(st.lists(st.integers(2, 4), min_size=1, max_size=5))
def test_other_subsets_are_left_as_they_are(sizes):
    before = subset(sizes)
    assert without_lone_rows(before) is before
