"""What every selector keeps to, and what each one is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from automata.datasets.prepared import Dataset, Split
from automata.models.mlp import Mlp
from automata.registry import SELECTORS
from automata.selection import embeddings
from automata.selection.craig import distances, similarities
from automata.selection.embeddings import LastLayer
from automata.selection.gradmatch import match_full_gradient
from automata.selection.problem import (
    SelectionProblem,
    Selector,
    Subset,
    random_subset,
    subset_size,
)
from automata.training.evaluation import last_layer
from automata.training.subsets import build_selector
from pretence import pretended_cuda
from support.selectors import BLIND, GUIDED, OF_CANDIDATES, layer_of

Gradients = Callable[[Sequence[Tensor]], Tensor]

NAMES = ["full", *SELECTORS]
THRIFTY = "gradmatch-adaptive"
"""The selector that may take fewer rows than the budget."""
EXACT = [name for name in NAMES if name != THRIFTY]


def selector(name: str) -> Selector:
    return build_selector(name)


def gaussian_gradients(batches: Sequence[Tensor]) -> Tensor:
    """Return the mean of each mini-batch's rows, of a fixed random vector per row."""
    generator = torch.Generator().manual_seed(8)
    per_row = torch.randn(500, 6, generator=generator) + 0.5
    return torch.stack([per_row[batch].mean(dim=0) for batch in batches])


class GivenGradients(LastLayer):
    """A last layer whose gradients are given, not computed from features."""

    def __init__(self, function: Gradients) -> None:
        rows = torch.zeros(500, 2)
        super().__init__(rows, rows, torch.zeros(500, dtype=torch.int64))
        self.function: Gradients
        object.__setattr__(self, "function", function)

    def gradients(self, batches: Sequence[Tensor]) -> Tensor:
        return self.function(batches)

    def gram(self, batches: Sequence[Tensor]) -> Tensor:
        rows = self.gradients(batches).double()
        return rows @ rows.T

    def products(self, batches: Sequence[Tensor], vector: Tensor) -> Tensor:
        return self.gradients(batches) @ vector


def problem_of(
    rows: int = 100,
    budget: int = 30,
    batch_size: int = 10,
    *,
    seed: int = 0,
    draw: int = 0,
    gradients: Gradients = gaussian_gradients,
    layer: LastLayer | None = None,
) -> SelectionProblem:
    training = layer or GivenGradients(gradients)
    return SelectionProblem(
        rows,
        budget,
        batch_size,
        seed,
        draw,
        training=lambda: training,
        validation=lambda: layer_of(12, training.features.shape[1], training.logits.shape[1]),
        learning_rate=0.1,
    )


def rows_of(subset: Subset) -> list[int]:
    return torch.cat(subset.batches).tolist()


def listed(subset: Subset) -> tuple[list[list[int]], list[float]]:
    return [batch.tolist() for batch in subset.batches], subset.weights.tolist()


PROBLEMS = st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 20)).map(
    lambda sizes: problem_of(sizes[0], min(sizes[:2]), sizes[2])
)


# What every selector keeps to


@pytest.mark.parametrize("name", EXACT)
@given(problem=PROBLEMS)
def test_a_subset_has_exactly_the_budget(name: str, problem: SelectionProblem) -> None:
    assert len(rows_of(selector(name).select(problem))) == problem.budget


@pytest.mark.parametrize("name", NAMES)
@given(problem=PROBLEMS)
def test_a_subset_holds_distinct_rows_of_the_data(name: str, problem: SelectionProblem) -> None:
    rows = rows_of(selector(name).select(problem))
    assert len(set(rows)) == len(rows) <= problem.budget
    assert set(rows) <= set(range(problem.rows))


@pytest.mark.parametrize("name", NAMES)
@given(problem=PROBLEMS)
def test_each_mini_batch_has_a_weight(name: str, problem: SelectionProblem) -> None:
    subset = selector(name).select(problem)
    assert subset.weights.shape == (len(subset.batches),)


@pytest.mark.parametrize("name", NAMES)
@given(problem=PROBLEMS)
def test_weights_have_mean_one_and_are_not_negative(name: str, problem: SelectionProblem) -> None:
    weights = selector(name).select(problem).weights
    assert float(weights.mean()) == pytest.approx(1, abs=1e-5)
    assert (weights >= 0).all()


@pytest.mark.parametrize("name", NAMES)
@given(problem=PROBLEMS)
def test_the_same_problem_gives_the_same_subset(name: str, problem: SelectionProblem) -> None:
    assert listed(selector(name).select(problem)) == listed(selector(name).select(problem))


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_gives_another_subset(name: str) -> None:
    one, other = (selector(name).select(problem_of(seed=seed)) for seed in (0, 1))
    assert rows_of(one) != rows_of(other)


@pytest.mark.parametrize("name", NAMES)
def test_selecting_leaves_the_global_random_state_alone(name: str) -> None:
    before = torch.random.get_rng_state()
    selector(name).select(problem_of())
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize(
    ("rows", "budget", "lengths"),
    [(100, 30, [10, 10, 10]), (100, 25, [10, 10, 5]), (98, 7, [7]), (100, 1, [1])],
)
def test_mini_batches_hold_the_batch_size_or_the_budget_but_for_the_last(
    name: str, rows: int, budget: int, lengths: list[int]
) -> None:
    """With rows that mini-batches of min(10, k) divide: no candidate is short."""
    subset = selector(name).select(problem_of(rows, budget, 10))
    assert [len(batch) for batch in subset.batches] == lengths


@pytest.mark.parametrize("name", BLIND)
@given(problem=PROBLEMS)
def test_blind_selectors_fill_mini_batches_for_any_sizes(
    name: str, problem: SelectionProblem
) -> None:
    lengths = [len(batch) for batch in selector(name).select(problem).batches]
    assert lengths[:-1] == [min(problem.batch_size, problem.budget)] * (len(lengths) - 1)


@pytest.mark.parametrize("name", BLIND)
def test_blind_selectors_weigh_all_mini_batches_alike(name: str) -> None:
    subset = selector(name).select(problem_of())
    assert (subset.weights.tolist(), subset.random_fill) == ([1.0, 1.0, 1.0], 0)


def test_random_selectors_read_no_gradient_and_those_of_the_paper_do() -> None:
    assert {"full", "random", "adaptive-random", "rs2"} <= set(BLIND)
    assert {"craig", "gradmatch", "gradmatch-adaptive", "glister"} <= set(GUIDED)


@pytest.mark.parametrize("name", NAMES)
def test_a_selection_passes_over_the_training_set_at_most_once(name: str) -> None:
    problem = problem_of()
    passes: list[LastLayer] = []

    def training() -> LastLayer:
        passes.append(problem.training())
        return passes[-1]

    selector(name).select(replace(problem, training=training))
    assert len(passes) == (1 if name in GUIDED else 0)


@pytest.mark.parametrize("name", NAMES)
def test_glister_alone_looks_at_the_validation_set(name: str) -> None:
    passes: list[LastLayer] = []

    def validation() -> LastLayer:
        passes.append(layer_of(12, 2, 2))
        return passes[-1]

    selector(name).select(replace(problem_of(), validation=validation))
    assert len(passes) == (1 if name == "glister" else 0)


@pytest.mark.parametrize("budget", [20, 55, 110])
@pytest.mark.parametrize("name", GUIDED)
def test_gradients_too_large_for_memory_give_the_same_subset(
    monkeypatch: pytest.MonkeyPatch, name: str, budget: int
) -> None:
    """110 rows in candidates of 8, the last one of 6; gradients of 156 numbers."""
    problem = problem_of(110, budget, 8, layer=layer_of(110, 12, 12))
    held = selector(name).select(problem)
    monkeypatch.setattr(embeddings, "GRADIENT_BYTES", 0)
    monkeypatch.setattr(embeddings, "CHUNK_BYTES", 1)
    assert not problem.training().fits(14)
    streamed = selector(name).select(problem)
    assert listed(streamed)[0] == listed(held)[0]
    torch.testing.assert_close(streamed.weights, held.weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", GUIDED)
def test_gradients_too_large_for_memory_are_never_held(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """GLISTER asks for those that it has chosen, one at a time here."""
    asked: list[int] = []
    plain = LastLayer.gradients

    def counted(layer: LastLayer, batches: Sequence[Tensor]) -> Tensor:
        asked.append(len(batches))
        return plain(layer, batches)

    monkeypatch.setattr(LastLayer, "gradients", counted)
    monkeypatch.setattr(embeddings, "GRADIENT_BYTES", 0)
    selector(name).select(problem_of(110, 55, 8, layer=layer_of(110, 12, 12)))
    assert max(asked, default=0) <= 1


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", GUIDED)
def test_a_model_on_a_gpu_gives_the_same_subset(
    monkeypatch: pytest.MonkeyPatch, name: str, streamed: bool
) -> None:
    """Its products of gradients are torch's, and round otherwise; a pretended GPU will do."""
    monkeypatch.setattr(embeddings, "GRADIENT_BYTES", 0 if streamed else 2**30)
    here, there = layer_of(110, 12, 12), layer_of(12, 12, 12)
    problem = problem_of(110, 55, 8, layer=here)
    moved = replace(problem, training=lambda: on_gpu(here), validation=lambda: on_gpu(there))
    with nullcontext() if torch.cuda.is_available() else pretended_cuda():
        subset = selector(name).select(moved)
    assert listed(subset)[0] == listed(selector(name).select(problem))[0]


def on_gpu(layer: LastLayer) -> LastLayer:
    return LastLayer(layer.features.cuda(), layer.logits.cuda(), layer.labels.cuda())


@pytest.mark.parametrize("name", OF_CANDIDATES)
def test_selected_mini_batches_are_candidates_as_they_are(name: str) -> None:
    problem = problem_of()
    candidates = [batch.tolist() for batch in problem.partition()]
    subset = selector(name).select(problem)
    assert all(batch.tolist() in candidates for batch in subset.batches)


@pytest.mark.parametrize("name", [name for name in OF_CANDIDATES if name in EXACT])
def test_the_last_mini_batch_is_the_start_of_a_candidate_where_the_budget_cuts_it(
    name: str,
) -> None:
    problem = problem_of(budget=25)
    starts = [batch[:5].tolist() for batch in problem.partition()]
    assert selector(name).select(problem).batches[-1].tolist() in starts


@pytest.mark.parametrize("name", OF_CANDIDATES)
def test_candidates_are_the_same_at_every_draw(name: str) -> None:
    early, late = (selector(name).select(problem_of(draw=draw)) for draw in (0, 7))
    assert listed(early) == listed(late)


# Random selectors


def test_random_gives_the_same_subset_at_every_draw() -> None:
    early, late = (selector("random").select(problem_of(draw=draw)) for draw in (0, 7))
    assert listed(early) == listed(late)


def test_adaptive_random_gives_another_subset_at_every_draw() -> None:
    subsets = [selector("adaptive-random").select(problem_of(draw=draw)) for draw in range(20)]
    assert len({frozenset(rows_of(subset)) for subset in subsets}) == 20


def test_adaptive_random_draws_every_row_about_equally_often() -> None:
    """1000 draws of 3 in 10: 300 each, standard deviation 14.5."""
    chosen = selector("adaptive-random")
    draws = [rows_of(chosen.select(problem_of(10, 3, 3, draw=draw))) for draw in range(1000)]
    counts = torch.bincount(torch.tensor(draws).flatten(), minlength=10)
    assert (counts - 300).abs().max() < 5 * 14.5


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 3))
def test_rs2_repeats_no_row_before_the_order_is_used_up(rows: int, budget: int, turn: int) -> None:
    budget = min(rows, budget)
    turns = rows // budget
    seen = [
        row
        for draw in range(turn * turns, (turn + 1) * turns)
        for row in rows_of(selector("rs2").select(problem_of(rows, budget, 8, draw=draw)))
    ]
    assert len(set(seen)) == len(seen) == turns * budget


def test_rs2_covers_all_rows_where_the_budget_divides_them() -> None:
    draws = [selector("rs2").select(problem_of(100, 25, 10, draw=draw)) for draw in range(4)]
    assert sorted(row for draw in draws for row in rows_of(draw)) == list(range(100))


def test_rs2_takes_a_new_order_when_one_is_used_up() -> None:
    first, second = (selector("rs2").select(problem_of(100, 25, draw=draw)) for draw in (0, 4))
    assert set(rows_of(first)) != set(rows_of(second))


@pytest.mark.parametrize("draw", [0, 1, 5])
def test_full_covers_all_rows(draw: int) -> None:
    subset = selector("full").select(problem_of(100, 100, 16, draw=draw))
    assert sorted(rows_of(subset)) == list(range(100))


def test_full_takes_a_new_order_at_every_draw() -> None:
    subsets = [selector("full").select(problem_of(100, 100, draw=draw)) for draw in range(5)]
    assert len({tuple(rows_of(subset)) for subset in subsets}) == 5


# GRAD-MATCH


@pytest.fixture(scope="module")
def real_layer(dataset: Dataset) -> LastLayer:
    """The last layer of an untrained network on the synthetic data."""
    torch.manual_seed(0)
    train = Split(dataset.train.inputs.double(), dataset.train.labels)
    return last_layer(Mlp(6, 8, 7, 3).double(), train)


def direction_error(subset: Subset, problem: SelectionProblem) -> float:
    """Return the sine of the angle between the subset's gradient and that of all rows."""
    layer = problem.training()
    ours = subset.weights.double() @ layer.gradients(subset.batches)
    all_rows = layer.gradients([torch.arange(problem.rows)])[0]
    return float((1 - torch.cosine_similarity(ours, all_rows, dim=0) ** 2).sqrt())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("budget", [12, 24, 48])
def test_gradmatch_is_closer_to_the_full_gradient_than_any_random_subset(
    real_layer: LastLayer, budget: int, seed: int
) -> None:
    problem = problem_of(120, budget, 4, seed=seed, layer=real_layer)
    random = [direction_error(random_subset(problem, draw), problem) for draw in range(20)]
    assert direction_error(selector("gradmatch").select(problem), problem) < min(random)


def test_gradmatch_gives_a_short_candidate_its_share_of_the_target() -> None:
    """15 rows in mini-batches of 10 and 5 with gradients (1, 0) and (0, 1).

    By hand: the target is 2/3 and 1/3 of them, up to scale; so are the weights, whose mean
    is 1: 4/3 and 2/3.
    """
    problem = problem_of(15, 15, 10, gradients=lambda batches: torch.eye(2))
    assert selector("gradmatch").select(problem).weights.tolist() == pytest.approx([4 / 3, 2 / 3])


def test_gradmatch_weights_are_those_of_a_hand_computation() -> None:
    """Orthogonal gradients of lengths 1, 2, 4, 5: the target is their sum over 4.

    Each weight is 1/4, so the two with the longest gradients are taken, with equal weights.
    """
    gradients = torch.diag(torch.tensor([1.0, 2.0, 4.0, 5.0]))
    problem = problem_of(40, 20, 10, gradients=lambda batches: gradients)
    candidates = [batch.tolist() for batch in problem.partition()]
    found = listed(selector("gradmatch").select(problem))
    assert found == ([candidates[3], candidates[2]], [1.0, 1.0])


def parallel(batches: Sequence[Tensor]) -> Tensor:
    """Return gradients of rank 1: one direction, lengths 1, 2, 3, ..."""
    return torch.arange(1.0, len(batches) + 1)[:, None] * torch.tensor([[3.0, 4.0]])


def test_gradmatch_counts_what_chance_fills_in_when_the_residual_is_spent() -> None:
    subset = selector("gradmatch").select(problem_of(100, 50, 10, gradients=parallel))
    assert subset.random_fill == 4


def test_filled_in_mini_batches_have_the_mean_weight() -> None:
    subset = selector("gradmatch").select(problem_of(100, 50, 10, gradients=parallel))
    assert subset.weights.tolist() == [1.0] * 5


def test_filled_in_mini_batches_differ_between_draws() -> None:
    one, other = (
        selector("gradmatch").select(problem_of(100, 50, draw=draw, gradients=parallel))
        for draw in (1, 2)
    )
    assert rows_of(one)[10:] != rows_of(other)[10:]


def test_zero_gradients_give_a_random_subset_with_equal_weights() -> None:
    problem = problem_of(gradients=lambda batches: torch.zeros(len(batches), 3))
    subset = selector("gradmatch").select(problem)
    assert (subset.random_fill, subset.weights.tolist()) == (3, [1.0, 1.0, 1.0])


def test_nothing_is_filled_in_while_the_residual_lasts() -> None:
    assert selector("gradmatch").select(problem_of()).random_fill == 0


# CRAIG

CLUSTERS = [0, 1, 0, 2, 0, 1, 1, 0, 2, 0, 1, 0]
"""Cluster of each of 12 candidates: six, four and two."""


@pytest.fixture
def clustered() -> SelectionProblem:
    """Three tight clusters far apart, and a budget of one mini-batch for each."""
    centres = torch.tensor([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    jitter = torch.randn(12, 2, generator=torch.Generator().manual_seed(0)) / 100
    gradients = centres[CLUSTERS] + jitter
    return problem_of(120, 30, 10, gradients=lambda batches: gradients)


def clusters_of(subset: Subset, problem: SelectionProblem) -> list[int]:
    candidates = [batch.tolist() for batch in problem.partition()]
    return [CLUSTERS[candidates.index(batch.tolist())] for batch in subset.batches]


def test_craig_picks_one_mini_batch_of_each_cluster(clustered: SelectionProblem) -> None:
    subset = selector("craig").select(clustered)
    assert sorted(clusters_of(subset, clustered)) == [0, 1, 2]


def test_craig_weighs_mini_batches_by_the_sizes_of_their_clusters(
    clustered: SelectionProblem,
) -> None:
    """Six, four and two of twelve, with mean 1."""
    subset = selector("craig").select(clustered)
    weights = dict(zip(clusters_of(subset, clustered), subset.weights.tolist(), strict=True))
    assert weights == pytest.approx({0: 1.5, 1: 1.0, 2: 0.5})


def test_craig_never_fills_in_by_chance(clustered: SelectionProblem) -> None:
    assert selector("craig").select(clustered).random_fill == 0


def test_rows_that_tie_do_so_whatever_rounding_and_order_say() -> None:
    """Rows 0 and 1 mirror each other, in a matrix rounded by chance on each side."""
    rows = torch.tensor([[0.0, 0.1], [0.0, -0.1], [7.0, 0.0], [-7.0, 0.0]]).double()
    for seed in range(50):
        generator = torch.Generator().manual_seed(seed)
        noise = torch.rand(4, 4, generator=generator).double() - 0.5
        closeness = similarities(rows @ rows.T * (1 + 1e-15 * noise))
        assert closeness[0].sum() == closeness[1].sum()
        assert torch.equal(closeness, closeness.round())


def test_equal_rows_stand_for_each_other() -> None:
    assert torch.equal(similarities(torch.ones(3, 3).double()), torch.zeros(3, 3).double())


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_between_the_gradients(seed: int) -> None:
    rows = torch.randn(30, 12, generator=torch.Generator().manual_seed(seed)).double()
    torch.testing.assert_close(distances(rows @ rows.T), torch.cdist(rows, rows), atol=1e-6, rtol=0)


def test_distances_of_equal_gradients_are_numbers() -> None:
    """Their squares can round to less than zero; the error is one of the square root."""
    rows = torch.randn(1, 12, generator=torch.Generator().manual_seed(0)).double().repeat(20, 1)
    assert float(distances(rows @ rows.T).max()) < 1e-6


# GRAD-MATCH with a subset as large as the match asks for


def adaptive(tolerance: float, floor: float = 0.01, l2: float = 0.0) -> Selector:
    return build_selector(THRIFTY, l2=l2, tolerance=tolerance, floor=floor)


def errors_of_budgets(problem: SelectionProblem) -> list[float]:
    """Return the relative gradient errors of pursuits with budgets of 0, 1, 2, ... mini-batches."""
    candidates = problem.partition()
    gradients = problem.training().gradients(candidates).double()
    target = problem.training().gradients([torch.arange(problem.rows)])[0].double()
    errors = []
    for budget in range(problem.batch_budget + 1):
        allowed = replace(problem, budget=max(1, budget * problem.size), batch_size=problem.size)
        chosen, weights = match_full_gradient(allowed, candidates, l2=0.0, tolerance=0.0)
        chosen, weights = chosen[:budget], weights[:budget]
        errors.append(float((target - weights @ gradients[chosen]).norm() / target.norm()))
    return errors


@pytest.mark.parametrize("tolerance", [0.05, 0.1, 0.2, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_adaptive_takes_the_fewest_mini_batches_within_the_tolerance(
    seed: int, tolerance: float
) -> None:
    """36 candidates with gradients of 60 numbers, of which at most 30 may be chosen."""
    problem = problem_of(144, 120, 4, seed=seed, layer=layer_of(144, 11, 5, seed))
    errors = errors_of_budgets(problem)
    enough = [count for count, error in enumerate(errors) if error <= tolerance]
    subset = adaptive(tolerance).select(problem)
    assert len(subset.batches) == max(1, min(enough, default=problem.batch_budget))


@pytest.mark.parametrize("seed", range(3))
def test_a_tight_tolerance_takes_what_gradmatch_takes(seed: int) -> None:
    problem = problem_of(144, 50, 4, seed=seed, layer=layer_of(144, 11, 5, seed))
    tight = adaptive(1e-3).select(problem)
    assert listed(tight) == listed(selector("gradmatch").select(problem))


@pytest.mark.parametrize(("floor", "batches"), [(0.01, 1), (0.06, 3), (0.25, 9), (0.9, 13)])
def test_a_loose_tolerance_takes_the_floor_or_the_budget(floor: float, batches: int) -> None:
    """144 rows in mini-batches of 4, budget 50: 0.06 of them are 9 rows, 0.9 exceed the budget."""
    subset = adaptive(0.99, floor).select(problem_of(144, 50, 4, layer=layer_of(144, 11, 5)))
    assert len(subset.batches) == batches


@pytest.mark.parametrize("floor", [0.01, 1.0])
def test_a_budget_below_the_floor_is_the_budget(floor: float) -> None:
    subset = adaptive(0.99, floor).select(problem_of(144, 1, 4, layer=layer_of(144, 11, 5)))
    assert subset.samples == 1


def test_adaptive_fills_the_floor_where_the_residual_is_spent() -> None:
    problem = problem_of(100, 50, 10, gradients=parallel)
    subset = adaptive(0.5, floor=0.3).select(problem)
    assert (subset.samples, subset.random_fill) == (30, 2)


def test_adaptive_takes_whole_mini_batches() -> None:
    subset = adaptive(0.5).select(problem_of(110, 50, 8, layer=layer_of(110, 11, 5)))
    assert {len(batch) for batch in subset.batches} == {8}
    assert subset.samples < 50


# The problem


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 20))
def test_the_partition_holds_every_row_once(rows: int, budget: int, batch_size: int) -> None:
    candidates = problem_of(rows, min(rows, budget), batch_size).partition()
    assert sorted(torch.cat(candidates).tolist()) == list(range(rows))


@pytest.mark.parametrize(
    ("rows", "fraction", "expected"),
    [(1000, 0.01, 10), (3104, 0.05, 155), (1400, 0.3, 420), (10, 0.01, 1), (120, 1.0, 120)],
)
def test_the_subset_size_is_the_nearest_whole_number_and_at_least_one(
    rows: int, fraction: float, expected: int
) -> None:
    assert subset_size(rows, fraction) == expected


@pytest.mark.parametrize("name", ["gradmatch", "craig"])
def test_short_candidate_costs_no_extra_step(name: str) -> None:
    """103 rows: the last candidate holds 3, and is chosen first."""

    def gradients(batches: Sequence[Tensor]) -> Tensor:
        steep = torch.eye(len(batches))
        steep[-1] *= 5
        return steep

    problem = problem_of(103, 20, 10, gradients=gradients)
    subset = selector(name).select(problem)
    short = set(problem.partition()[-1].tolist())
    assert [len(batch) for batch in subset.batches] == [10, 10]
    assert len(set(rows_of(subset))) == 20
    assert (short <= set(rows_of(subset)), subset.random_fill) == (True, 0)
