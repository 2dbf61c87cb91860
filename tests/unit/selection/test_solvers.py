"""Greedy facility location against a naive greedy, and what all solvers refuse."""

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from automata.selection.embeddings import gradient_embeddings
from automata.selection.facility import facility_location
from automata.selection.matching import matching_pursuit, matching_pursuit_of_gram

SQUARES = st.builds(
    lambda n, seed: np.random.default_rng(seed).integers(0, 5, size=(n, n)).astype(float),
    st.integers(0, 16),
    st.integers(0, 10**6),
)
"""Whole numbers: zeros, duplicates and ties are common, and sums are exact."""

TWINS = np.array([[5.0, 5.0, 0.0], [5.0, 5.0, 0.0], [0.0, 0.0, 1.0]])


def choose(similarity, budget):
    indices, weights = facility_location(torch.from_numpy(similarity), budget)
    return indices.tolist(), weights.tolist()


def value(similarity, chosen):
    """Return sum_i max_{j in S} similarity[i, j], 0 for nothing chosen."""
    return float(similarity[:, chosen].max(axis=1).sum()) if chosen else 0.0


def naive_greedy(similarity, budget):
    """Take the row of the largest value each time, the first of equal ones."""
    chosen = []
    for _ in range(min(budget, len(similarity))):
        others = [row for row in range(len(similarity)) if row not in chosen]
        chosen.append(max(others, key=lambda row: value(similarity, [*chosen, row])))
    return chosen


@given(SQUARES, st.integers(0, 18))
@settings(max_examples=100)
@example(np.zeros((3, 3)), 2)  # nothing gains anything
@example(TWINS, 3)
@example(np.random.default_rng(0).uniform(size=(8, 8)), 5)
def test_choices_are_greedy_and_weights_the_rows_that_each_stands_for(similarity, budget):
    """The earlier choice wins a tie."""
    chosen = naive_greedy(similarity, budget)
    nearest = similarity[:, chosen].argmax(axis=1).tolist() if chosen else []
    weights = [nearest.count(place) for place in range(len(chosen))]
    assert choose(similarity, budget) == (chosen, weights)


# All solvers

NAN, INF = torch.nan, torch.inf
ROWS, AIM = torch.tensor([[1.0, 2.0]]), torch.tensor([1.0, 1.0])


@pytest.mark.parametrize(
    ("solve", "arguments", "options", "message"),
    [
        (facility_location, [ROWS.T @ ROWS * NAN, 1], {}, "finite and not negative"),
        (facility_location, [ROWS.T @ -ROWS, 1], {}, "finite and not negative"),
        (facility_location, [ROWS, 1], {}, r"square matrix, got \(1, 2\)"),
        (facility_location, [ROWS.T @ ROWS, -1], {}, "budget must not be negative, got -1"),
        (gradient_embeddings, [ROWS, ROWS.T, []], {}, r"expected features .* got \(1, 2\) and \(2"),
        (gradient_embeddings, [ROWS, ROWS, [torch.arange(0)]], {}, "without rows"),
        (matching_pursuit, [ROWS * NAN, AIM, 2], {}, "finite"),
        (matching_pursuit, [ROWS[:0], AIM * NAN, 2], {}, "finite"),
        (matching_pursuit, [ROWS * 1e38, AIM, 2], {}, "products must be finite"),
        (matching_pursuit, [ROWS, AIM[:1], 2], {}, r"expected gradients \(n, d\)"),
        (matching_pursuit, [ROWS, AIM, 2], {"l2": NAN}, "l2 must not be negative"),
        (matching_pursuit, [ROWS, AIM, 2], {"tolerance": -0.1}, "tolerance must not be negative"),
        (matching_pursuit_of_gram, [ROWS.T @ ROWS * NAN, AIM, 2], {}, "finite"),
        (matching_pursuit_of_gram, [ROWS.T @ ROWS, AIM * INF, 2], {}, "finite"),
        (matching_pursuit_of_gram, [ROWS, AIM, 2], {}, r"expected gram \(n, n\)"),
        (matching_pursuit_of_gram, [ROWS.T @ ROWS, AIM, -1], {}, "budget must not be negative"),
    ],
)
def test_unsuitable_inputs_are_refused(solve, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        solve(*arguments, **options)
