"""Tables of benchmarks, and the other implementations in them."""

import pytest
import torch

from benchmarks.selection.solvers import matching_contenders


@pytest.fixture
def rows():
    return torch.randn(9, 14, generator=torch.Generator().manual_seed(3))


def test_all_solvers_find_the_rows_and_weights_that_a_target_is_made_of(rows):
    target = rows[2] * 3 + rows[5]
    for solve in matching_contenders(rows, target, 2).values():
        chosen, weights = solve()
        found = dict(zip(chosen.tolist(), weights.round(4).tolist(), strict=True))
        assert found == {2: 3.0, 5: 1.0}
