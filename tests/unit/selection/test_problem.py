"""The candidates of a selection, the size of its subset, and mini-batches of a single row."""

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from automata.selection.problem import SelectionProblem, Subset, subset_size, without_lone_rows


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 20))
def test_the_partition_holds_every_row_once(rows, budget, batch_size):
    problem = SelectionProblem(rows, min(rows, budget), batch_size, 0, 0, None, None, 0.1)
    candidates = problem.partition()
    assert sorted(torch.cat(candidates).tolist()) == list(range(rows))
    assert {len(batch) for batch in candidates[:-1]} <= {min(budget, rows, batch_size)}


@pytest.mark.parametrize(
    ("rows", "fraction", "expected"),
    [(1000, 0.01, 10), (3104, 0.05, 155), (1400, 0.3, 420), (10, 0.01, 1), (120, 1.0, 120)],
)
def test_the_subset_size_is_the_nearest_whole_number_and_at_least_one(rows, fraction, expected):
    assert subset_size(rows, fraction) == expected


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8))
@example([1])
def test_a_lone_row_joins_another_mini_batch(sizes):
    rows = torch.randperm(sum(sizes), generator=torch.Generator().manual_seed(0))
    before = Subset(list(rows.split(sizes)), torch.arange(1.0, len(sizes) + 1), 3)
    after = without_lone_rows(before)
    assert sorted(torch.cat(after.batches).tolist()) == list(range(sum(sizes)))
    assert min(len(batch) for batch in after.batches) > 1 or sum(sizes) == 1
    assert len(after.weights) == len(after.batches)
    changed = 1 in sizes and len(sizes) > 1
    assert float(after.weights.mean()) == pytest.approx(1 if changed else (1 + len(sizes)) / 2)
    assert (after is before) is not changed
    assert after.random_fill == 3
