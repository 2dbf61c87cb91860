"""The problem of a selection, properties of all selectors, and the purpose of each."""

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from automata.registry import SELECTORS
from automata.selection import embeddings
from automata.selection.craig import distances, similarities
from automata.selection.embeddings import LastLayer
from automata.selection.gradmatch import match_full_gradient
from automata.selection.problem import SelectionProblem, subset_size
from automata.training.subsets import build_selector
from support.pretence import pretended_cuda
from support.selectors import GUIDED, layer_of

NAMES = ["full", *SELECTORS]
THRIFTY = "gradmatch-adaptive"  # it may take fewer rows than the budget


def given_gradients(rows):
    """Return a last layer whose gradients are these, not computed from features."""
    gram = rows.double() @ rows.double().T
    return SimpleNamespace(
        fits=lambda batches: True, gradients=lambda batches: rows, gram=lambda batches: gram
    )


def problem_of(rows=100, budget=30, batch_size=10, *, seed=0, draw=0, layer=None):
    """Return a problem on a random layer, or on the one given."""
    training = layer or layer_of(rows, 5, 3)
    layers = {
        "training": lambda: training,
        "validation": lambda: layer_of(12, training.features.shape[1], training.logits.shape[1]),
    }
    return SelectionProblem(rows, budget, batch_size, seed, draw, **layers, learning_rate=0.1)


def select(name, problem):
    return build_selector(name).select(problem)


def rows_of(subset):
    return torch.cat(subset.batches).tolist()


def listed(subset):
    return [batch.tolist() for batch in subset.batches], subset.weights.tolist()


# The problem


@pytest.mark.parametrize(
    ("rows", "fraction", "expected"),
    [(1000, 0.01, 10), (3104, 0.05, 155), (1400, 0.3, 420), (10, 0.01, 1), (120, 1.0, 120)],
)
def test_the_subset_size_is_the_nearest_whole_number_and_at_least_one(rows, fraction, expected):
    assert subset_size(rows, fraction) == expected


# Properties of all selectors


@pytest.mark.parametrize("name", NAMES)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 20))
def test_a_subset_holds_distinct_rows_and_weights_of_mean_one(name, rows, budget, batch_size):
    problem = problem_of(rows, min(rows, budget), batch_size)
    subset = select(name, problem)
    chosen = rows_of(subset)
    assert len(set(chosen)) == len(chosen) <= problem.budget
    assert len(chosen) == problem.budget or name == THRIFTY
    assert set(chosen) <= set(range(rows))
    assert subset.weights.shape == (len(subset.batches),)
    assert float(subset.weights.mean()) == pytest.approx(1, abs=1e-5)
    assert (subset.weights >= 0).all()
    assert (subset.weights == 1).all() or name in GUIDED


@pytest.mark.parametrize("budget", [20, 55, 110])
@pytest.mark.parametrize("name", GUIDED)
def test_gradients_too_large_for_memory_are_never_held_and_give_the_same_subset(
    monkeypatch, name, budget
):
    """110 rows in candidates of 8, the last one of 6. GLISTER reads those that it has chosen."""
    problem = problem_of(110, budget, 8, layer=layer_of(110, 12, 12))
    held = select(name, problem)
    asked = []
    plain = LastLayer.gradients

    def counted(layer, batches):
        asked.append(len(batches))
        return plain(layer, batches)

    monkeypatch.setattr(LastLayer, "gradients", counted)
    monkeypatch.setattr(embeddings, "GRADIENT_BYTES", 0)
    monkeypatch.setattr(embeddings, "CHUNK_BYTES", 1)
    streamed = select(name, problem)
    assert max(asked, default=0) <= 1
    assert listed(streamed)[0] == listed(held)[0]
    torch.testing.assert_close(streamed.weights, held.weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", GUIDED)
def test_a_model_on_a_gpu_gives_the_same_subset(monkeypatch, name, streamed):
    """Its products of gradients are torch's, and round otherwise; a pretended GPU will do."""
    monkeypatch.setattr(embeddings, "GRADIENT_BYTES", 0 if streamed else 2**30)
    problem = problem_of(110, 55, 8, layer=layer_of(110, 12, 12))

    def on_gpu(split):
        layer = getattr(problem, split)()
        return LastLayer(layer.features.cuda(), layer.logits.cuda(), layer.labels.cuda())

    layers = {split: partial(on_gpu, split) for split in ("training", "validation")}
    with nullcontext() if torch.cuda.is_available() else pretended_cuda():
        subset = select(name, replace(problem, **layers))
    assert listed(subset)[0] == listed(select(name, problem))[0]


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 3))
def test_rs2_repeats_no_row_before_the_order_is_used_up(rows, budget, turn):
    budget = min(rows, budget)
    turns = rows // budget
    seen = [
        row
        for draw in range(turn * turns, (turn + 1) * turns)
        for row in rows_of(select("rs2", problem_of(rows, budget, 8, draw=draw)))
    ]
    assert len(set(seen)) == len(seen) == turns * budget


# GRAD-MATCH


@pytest.mark.parametrize(
    ("rows", "budget", "lengths", "chosen", "weights"),
    [
        (40, 20, [1.0, 2.0, 4.0, 5.0], [3, 2], [1.0, 1.0]),  # the target is their sum over 4
        (15, 15, [1.0, 1.0], [0, 1], [4 / 3, 2 / 3]),  # the second candidate has 5 rows of 15
    ],
    ids=["longest first", "a short candidate"],
)
def test_gradmatch_of_orthogonal_gradients_is_that_of_a_hand_computation(
    rows, budget, lengths, chosen, weights
):
    problem = problem_of(rows, budget, layer=given_gradients(torch.diag(torch.tensor(lengths))))
    candidates = [batch.tolist() for batch in problem.partition()]
    batches, found = listed(select("gradmatch", problem))
    assert batches == [candidates[place] for place in chosen]
    assert found == pytest.approx(weights)


# CRAIG


def test_craig_picks_one_mini_batch_of_each_cluster_and_weighs_it_by_its_size():
    """Three tight clusters far apart, of six, four and two of twelve candidates; mean 1."""
    clusters = [0, 1, 0, 2, 0, 1, 1, 0, 2, 0, 1, 0]
    centres = torch.tensor([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    jitter = torch.randn(12, 2, generator=torch.Generator().manual_seed(0)) / 100
    problem = problem_of(120, 30, layer=given_gradients(centres[clusters] + jitter))
    candidates = [batch.tolist() for batch in problem.partition()]
    subset = select("craig", problem)
    chosen = zip(*listed(subset), strict=True)
    found = {clusters[candidates.index(rows)]: weight for rows, weight in chosen}
    assert found == pytest.approx({0: 1.5, 1: 1.0, 2: 0.5})
    assert subset.random_fill == 0


def test_rows_that_tie_do_so_whatever_rounding_and_order_say():
    """Rows 0 and 1 mirror each other, in a matrix rounded by chance on each side."""
    assert similarities(torch.ones(3, 3).double()).tolist() == [[0.0] * 3] * 3  # equal rows
    rows = torch.tensor([[0.0, 0.1], [0.0, -0.1], [7.0, 0.0], [-7.0, 0.0]]).double()
    for seed in range(50):
        generator = torch.Generator().manual_seed(seed)
        noise = torch.rand(4, 4, generator=generator).double() - 0.5
        closeness = similarities(rows @ rows.T * (1 + 1e-15 * noise))
        assert closeness[0].sum() == closeness[1].sum()
        assert torch.equal(closeness, closeness.round())


def test_distances_are_those_between_the_gradients():
    """Squares of small ones can round to less than zero; the error is one of the square root."""
    rows = torch.randn(9, 12, generator=torch.Generator().manual_seed(0)).double().repeat(3, 1)
    expected = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
    torch.testing.assert_close(distances(rows @ rows.T), expected, atol=1e-6, rtol=0)


# GRAD-MATCH with a subset as large as the match asks for


def adaptive(tolerance, floor, problem):
    return build_selector(THRIFTY, l2=0.0, tolerance=tolerance, floor=floor).select(problem)


@pytest.mark.parametrize("tolerance", [1e-3, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_adaptive_is_gradmatch_with_the_fewest_mini_batches_within_the_tolerance(seed, tolerance):
    """36 candidates with gradients of 60 numbers, of which at most 30 may be chosen."""
    problem = problem_of(144, 120, 4, seed=seed, layer=layer_of(144, 11, 5, seed))
    candidates = problem.partition()
    gradients = problem.training().gradients(candidates).double()
    target = problem.training().gradients([torch.arange(144)])[0].double()
    for fewest in range(1, 31):
        allowed = problem.with_budget(4 * fewest)
        chosen, weights = match_full_gradient(allowed, candidates, l2=0.0, tolerance=0.0)
        if (target - weights @ gradients[chosen]).norm() <= tolerance * target.norm():
            break
    found, expected = adaptive(tolerance, 0.01, problem), select("gradmatch", allowed)
    assert listed(found)[0] == listed(expected)[0]
    torch.testing.assert_close(found.weights, expected.weights)


@pytest.mark.parametrize(
    ("budget", "floor", "samples"),
    [(50, 0.01, 4), (50, 0.06, 12), (50, 0.9, 50), (1, 1.0, 1)],
)
def test_a_loose_tolerance_takes_the_floor_or_the_budget(budget, floor, samples):
    """144 rows in whole mini-batches of 4: 0.06 of them are 9 rows, 0.9 exceed the budget."""
    subset = adaptive(0.99, floor, problem_of(144, budget, 4, layer=layer_of(144, 11, 5)))
    assert subset.samples == samples
    assert [len(batch) for batch in subset.batches[:-1]] == [4] * ((samples - 1) // 4)


def test_adaptive_fills_the_floor_where_the_residual_is_spent():
    parallel = given_gradients(torch.arange(1.0, 11.0)[:, None] * torch.tensor([[3.0, 4.0]]))
    subset = adaptive(0.5, 0.3, problem_of(100, 50, layer=parallel))
    assert (subset.samples, subset.random_fill) == (30, 2)
    assert subset.weights.tolist() == [1.0] * 3
