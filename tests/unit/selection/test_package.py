"""The solvers of the package, and what they refuse."""

import pytest
import torch

import automata.selection
from automata.selection.embeddings import gradient_embeddings
from automata.selection.facility import facility_location
from automata.selection.matching import matching_pursuit, matching_pursuit_of_gram

NAN, INF = torch.nan, torch.inf
ROWS, AIM = torch.tensor([[1.0, 2.0]]), torch.tensor([1.0, 1.0])


def test_solvers_are_attributes_of_the_package():
    solvers = [getattr(automata.selection, name) for name in automata.selection.__all__]
    assert solvers == [facility_location, gradient_embeddings, matching_pursuit]


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
