"""Training runs: resuming, seeds, cadence of selections, warm start, divergence."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight

from automata.config.protocol import Protocol
from automata.datasets.prepared import Dataset, Split
from automata.registry import SELECTORS
from automata.selection.problem import Cadence, SelectionProblem, Subset
from automata.training.optimization import quick_step
from automata.training.progress import Progress
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, Subsets, build_selector
from support.selectors import GUIDED

CPU = torch.device("cpu")
NAMES = ["full", *SELECTORS]
INTERVAL = [name for name in NAMES if build_selector(name).cadence is Cadence.EVERY_INTERVAL]
ROWS = 120

Make = Callable[..., TrainingRun]


def plan_of(
    name: str, fraction: float | None = None, warm_start: float = 0.0, **settings: float
) -> SubsetPlan:
    """Return a plan of a third of the rows, of all for `full`."""
    usual = 1.0 if name == "full" else 0.3
    return SubsetPlan(build_selector(name, **settings), fraction or usual, warm_start)


@pytest.fixture
def make(dataset: Dataset, protocol: Protocol, configuration: dict[str, Any]) -> Make:
    """Return a maker of runs: selector name, then what differs from the usual."""

    def make_run(
        name: str,
        *,
        data: Dataset = dataset,
        seed: int = 0,
        fraction: float | None = None,
        warm_start: float = 0.0,
        reselect_every: int = 3,
        tolerance: float | None = None,
        patience: int | None = None,
        metric: str = "accuracy",
        **changes: Any,
    ) -> TrainingRun:
        settings = {} if tolerance is None else {"tolerance": tolerance}
        return TrainingRun(
            data,
            {**configuration, **changes},
            protocol.model_copy(
                update={"reselect_every": reselect_every, "patience": patience, "metric": metric}
            ),
            plan_of(name, fraction, warm_start, **settings),
            seed,
            CPU,
        )

    return make_run


def weights_of(run: TrainingRun) -> list[float]:
    """Return all weights, exactly: float32 values are exact as Python floats."""
    return torch.cat([p.detach().flatten() for p in run.model.parameters()]).tolist()


def account_of(run: TrainingRun) -> dict[str, Any]:
    """Return the progress without what a clock wrote."""
    clocks = {"evaluations": {"__all__": {"finished_at"}}, "best": {"finished_at"}}
    return run.progress.model_dump(exclude={"seconds": True, **clocks})


def outcome(run: TrainingRun) -> tuple[list[float], dict[str, Any]]:
    return weights_of(run), account_of(run)


def through_a_file(state: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=True)
    return loaded


def rows_of(run: TrainingRun) -> list[int]:
    assert run.subset is not None
    return torch.cat(run.subset.batches).tolist()


# Resuming


@pytest.mark.parametrize(
    ("name", "stop", "optimizer"),
    [
        *((name, stop, "sgd") for name in NAMES for stop in (1, 4)),
        *(("gradmatch", stop, "adam") for stop in (0, 3, 6)),
    ],
)
def test_a_resumed_run_equals_one_in_one_go_bit_for_bit(
    make: Make, name: str, stop: int, optimizer: str
) -> None:
    whole = make(name, optimizer=optimizer)
    whole.train_to(7)
    whole.evaluate()
    before = make(name, optimizer=optimizer)
    before.train_to(stop)
    after = make(name, optimizer=optimizer)
    after.restore(through_a_file(before.state()))
    after.train_to(7)
    after.evaluate()
    assert outcome(after) == outcome(whole)


@pytest.mark.parametrize("schedule", ["none", "cosine", "step"])
def test_a_resumed_run_keeps_its_schedule(make: Make, schedule: str) -> None:
    whole = make("gradmatch", schedule=schedule)
    whole.train_to(7)
    before = make("gradmatch", schedule=schedule)
    before.train_to(3)
    after = make("gradmatch", schedule=schedule)
    after.restore(through_a_file(before.state()))
    after.train_to(7)
    assert outcome(after) == outcome(whole)


@pytest.mark.parametrize("stop", [1, 4, 5, 6])
def test_a_run_resumed_around_its_warm_start_equals_one_in_one_go(make: Make, stop: int) -> None:
    """kappa T k/N = 1 * 12 * 0.4, hence 5 epochs on all data."""
    whole = make("gradmatch", fraction=0.4, warm_start=1.0)
    whole.train_to(8)
    before = make("gradmatch", fraction=0.4, warm_start=1.0)
    before.train_to(stop)
    after = make("gradmatch", fraction=0.4, warm_start=1.0)
    after.restore(through_a_file(before.state()))
    after.train_to(8)
    assert outcome(after) == outcome(whole)


def test_a_state_restores_without_a_file_too(make: Make) -> None:
    whole = make("gradmatch")
    whole.train_to(7)
    before = make("gradmatch")
    before.train_to(3)
    after = make("gradmatch")
    after.restore(before.state())
    after.train_to(7)
    assert outcome(after) == outcome(whole)


def test_evaluations_survive_a_restore(make: Make) -> None:
    before = make("random")
    before.train_to(2)
    before.evaluate()
    after = make("random")
    after.restore(through_a_file(before.state()))
    assert after.progress.evaluations == before.progress.evaluations


@pytest.mark.parametrize("name", NAMES)
def test_evaluating_between_epochs_changes_no_weight(make: Make, name: str) -> None:
    quiet, watched = make(name), make(name)
    quiet.train_to(7)
    for epoch in range(8):
        watched.train_to(epoch)
        watched.evaluate()
    assert weights_of(watched) == weights_of(quiet)


# Patience


def by_hand(make: Make, patience: int, metric: str) -> tuple[int, int, list[float]]:
    """Return the epochs, the best epoch and its weights of a training that is judged by hand."""
    run, found = make("full", learning_rate=0.3), []
    for epoch in range(1, 13):
        run.train_to(epoch)
        run.evaluate()
        scores = run.progress.evaluations[-1]
        score = scores.balanced_accuracy if metric == "balanced_accuracy" else 0
        found.append((score, -scores.loss, -epoch, weights_of(run)))
        _, _, best, weights = max(found)
        if epoch + best == patience:
            break
    return epoch, -best, weights


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("patience", [1, 2, 4, 20])
def test_a_training_ends_when_its_patience_does_and_keeps_its_best_epoch(
    make: Make, patience: int, metric: str
) -> None:
    epochs, best, weights = by_hand(make, patience, metric)
    run = make("full", learning_rate=0.3, patience=patience, metric=metric)
    for rung in (2, 5, 12):
        run.train_to(rung)
        run.evaluate()
    progress = run.progress
    assert (progress.epochs, progress.kept_epoch, run.ended) == (epochs, best, patience < 20)
    run.model.load_state_dict(run.weights)
    assert weights_of(run) == weights
    assert [it.epoch for it in progress.evaluations] == [min(it, epochs) for it in (2, 5, 12)]
    scores = [it.rank(metric) for it in progress.evaluations]
    assert scores == sorted(scores)
    assert progress.best is not None
    assert progress.score == progress.best.score(metric)


@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_resumed_run_is_as_patient_as_one_in_one_go(make: Make, stop: int) -> None:
    whole, before, after = (make("full", learning_rate=0.3, patience=3) for _ in range(3))
    whole.train_to(12)
    before.train_to(stop)
    after.restore(through_a_file(before.state()))
    after.train_to(12)
    for run in (whole, after):
        run.model.load_state_dict(run.weights)
    assert outcome(after) == outcome(whole)


def test_a_training_that_diverges_keeps_the_worst_score_however_good_it_was(make: Make) -> None:
    run = make("full", patience=20)
    run.train_to(2)
    run.evaluate()
    good = run.progress.score
    run.optimizer.param_groups[0]["lr"] = 1e30
    run.train_to(5)
    run.evaluate()
    assert good > run.progress.score == 0.0


# Seeds


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_result(make: Make, name: str) -> None:
    one, other = make(name), make(name)
    one.train_to(4)
    torch.manual_seed(99)  # the global stream is nobody's
    other.train_to(4)
    assert outcome(one) == outcome(other)


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_gives_another_result(make: Make, name: str) -> None:
    one, other = make(name, seed=0), make(name, seed=1)
    one.train_to(4)
    other.train_to(4)
    assert weights_of(one) != weights_of(other)


def test_configurations_of_one_architecture_start_with_equal_weights(make: Make) -> None:
    one = make("random", learning_rate=0.001, optimizer="adam", batch_size=8)
    other = make("gradmatch", learning_rate=0.01, optimizer="sgd", batch_size=32)
    assert weights_of(one) == weights_of(other)


def test_another_seed_starts_with_other_weights(make: Make) -> None:
    assert weights_of(make("random", seed=0)) != weights_of(make("random", seed=1))


def test_training_leaves_the_global_random_state_alone(make: Make) -> None:
    before = torch.random.get_rng_state()
    make("gradmatch").train_to(4)
    assert torch.equal(torch.random.get_rng_state(), before)


# Cadence


@pytest.mark.parametrize(
    ("name", "epochs", "selections"),
    [
        *(("gradmatch", *pair) for pair in [(1, 0), (3, 0), (4, 1), (6, 1), (9, 2), (10, 3)]),
        *((name, 7, 2) for name in GUIDED if name in INTERVAL),
    ],
)
def test_gradients_are_read_at_multiples_of_r_alone(
    make: Make, name: str, epochs: int, selections: int
) -> None:
    run = make(name)
    run.train_to(epochs)
    assert run.progress.gradient_selections == selections


@pytest.mark.parametrize("name", NAMES)
def test_draws_in_seven_epochs_follow_the_cadence(make: Make, name: str) -> None:
    draws = {Cadence.ONCE: 1, Cadence.EVERY_INTERVAL: 3, Cadence.EVERY_EPOCH: 7}
    run = make(name)
    run.train_to(7)
    assert run.progress.draws == draws[build_selector(name).cadence]


def test_the_first_subset_is_the_same_random_one_for_all_interval_selectors(make: Make) -> None:
    subsets = []
    for name in INTERVAL:
        run = make(name)
        run.train_to(1)
        subsets.append(rows_of(run))
    assert all(subset == subsets[0] for subset in subsets)


def test_cadences_are_those_of_the_papers() -> None:
    assert {"gradmatch", "craig", "glister", "adaptive-random"} <= set(INTERVAL)
    assert build_selector("random").cadence is Cadence.ONCE
    assert build_selector("rs2").cadence is build_selector("full").cadence is Cadence.EVERY_EPOCH


@pytest.mark.parametrize(("epochs", "same"), [(2, True), (3, True), (4, False)])
def test_the_first_subset_stays_until_epoch_r(make: Make, epochs: int, same: bool) -> None:
    run = make("gradmatch")
    run.train_to(1)
    first = rows_of(run)
    run.train_to(epochs)
    assert (rows_of(run) == first) is same


def test_the_subset_of_random_stays_for_good(make: Make) -> None:
    run = make("random")
    run.train_to(1)
    first = rows_of(run)
    run.train_to(12)
    assert rows_of(run) == first


@pytest.mark.parametrize("name", NAMES)
def test_training_to_an_epoch_that_is_done_does_nothing(make: Make, name: str) -> None:
    run = make(name)
    run.train_to(4)
    before = outcome(run)
    run.train_to(2)
    assert outcome(run) == before


# What an epoch trains on


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in ("full", "gradmatch-adaptive")]
)
def test_every_selector_trains_on_the_same_number_of_samples(make: Make, name: str) -> None:
    run = make(name)
    run.train_to(5)
    assert (run.progress.subset_samples, run.progress.samples) == (36, 5 * 36)


def test_a_selector_that_adapts_may_train_on_fewer(make: Make) -> None:
    """Three epochs on a random first subset of 36 rows, two on the floor: a mini-batch of 16."""
    run = make("gradmatch-adaptive", tolerance=0.99)
    run.train_to(5)
    assert (run.progress.subset_samples, run.progress.samples) == (16, 3 * 36 + 2 * 16)


@pytest.mark.parametrize(
    ("name", "epochs", "subset_epochs", "selected"),
    [("gradmatch-adaptive", 5, 3, 36 + 2 * 16), ("rs2", 5, 3, 3 * 36), ("rs2", 2, 0, 0)],
)
def test_samples_of_subsets_are_counted_without_the_warm_start(
    make: Make, name: str, epochs: int, subset_epochs: int, selected: int
) -> None:
    """Two epochs of warm start, one on the first subset, two after the selection at R = 3."""
    run = make(name, warm_start=0.5, tolerance=0.99 if name == "gradmatch-adaptive" else None)
    run.train_to(epochs)
    progress = run.progress
    assert (progress.subset_epochs, progress.selected_samples) == (subset_epochs, selected)


def test_the_last_layers_own_learning_rate_is_the_step_of_a_selection(make: Make) -> None:
    """SGD with a step schedule: a tenth after every four epochs."""
    rates: list[float] = []

    class Spy(Fixed):
        cadence = Cadence.EVERY_EPOCH

        def select(self, problem: SelectionProblem) -> Subset:
            rates.append(problem.learning_rate)
            return super().select(problem)

    run = make("random")
    plan = SubsetPlan(Spy(1.0), 0.1)
    run._subsets = Subsets(plan, run.protocol)
    body = [p for p in run.model.parameters() if p is not run.model.head.weight]
    head = [{"params": [run.model.head.weight], "lr": 0.5}, {"params": body, "lr": 0.01}]
    run.optimizer = torch.optim.SGD(head)
    run._step = quick_step(run.optimizer)
    run.schedule = torch.optim.lr_scheduler.StepLR(run.optimizer, step_size=4, gamma=0.1)
    run.train_to(6)
    assert rates == pytest.approx([0.5] * 4 + [0.05] * 2)


def test_full_visits_each_row_once_in_an_epoch(make: Make) -> None:
    run = make("full")
    run.train_to(1)
    assert (run.progress.samples, sorted(rows_of(run))) == (ROWS, list(range(ROWS)))


def test_steps_count_mini_batches(make: Make) -> None:
    """120 rows in mini-batches of 16: 8 steps an epoch."""
    run = make("full")
    run.train_to(3)
    assert run.progress.steps == 24


class Fixed:
    """A selector of one weighted mini-batch, for a computation by hand."""

    cadence = Cadence.ONCE

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def select(self, problem: SelectionProblem) -> Subset:
        return Subset([torch.arange(10)], torch.tensor([self.weight]))


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
def test_a_weight_scales_the_loss_of_its_mini_batch(
    dataset: Dataset, protocol: Protocol, configuration: dict[str, Any], weight: float
) -> None:
    """The first step of SGD is -rate * (weight * gradient + decay * w)."""
    run = TrainingRun(dataset, configuration, protocol, SubsetPlan(Fixed(weight), 0.1), 0, CPU)
    bias = run.model.head.bias
    before = bias.detach().clone()
    loss = torch.nn.functional.cross_entropy(
        run.model(dataset.train.inputs[:10]), dataset.train.labels[:10]
    )
    (gradient,) = torch.autograd.grad(loss, bias)
    run.train_to(1)
    expected = before - 0.01 * (weight * gradient + 0.01 * before)
    torch.testing.assert_close(bias.detach(), expected)


def train_beside(one: TrainingRun, other: TrainingRun) -> None:
    """Train and evaluate both up to two rungs, the second after two selections."""
    for run in (one, other):
        for epoch in [3, 7]:
            run.train_to(epoch)
            run.evaluate()


NOISE = Split(torch.full((9, 6), 1e3), torch.zeros(9, dtype=torch.int64))


@pytest.mark.parametrize("name", NAMES)
def test_test_rows_never_influence_training(make: Make, dataset: Dataset, name: str) -> None:
    usual, other = make(name), make(name, data=dataclasses.replace(dataset, test=NOISE))
    train_beside(usual, other)
    assert weights_of(usual) == weights_of(other)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "glister"])
def test_validation_rows_never_influence_training(make: Make, dataset: Dataset, name: str) -> None:
    """But for GLISTER, which chooses by the validation loss: the next test."""
    usual, other = make(name), make(name, data=dataclasses.replace(dataset, validation=NOISE))
    train_beside(usual, other)
    assert weights_of(usual) == weights_of(other)


def test_validation_rows_choose_what_glister_trains_on(make: Make, dataset: Dataset) -> None:
    """They never train themselves: the first subset is random, hence the same."""
    flipped = Split(dataset.validation.inputs, (dataset.validation.labels + 1) % 3)
    usual = make("glister")
    other = make("glister", data=dataclasses.replace(dataset, validation=flipped))
    usual.train_to(3)
    other.train_to(3)
    assert weights_of(usual) == weights_of(other)
    usual.train_to(4)
    other.train_to(4)
    assert set(rows_of(usual)) != set(rows_of(other))


def test_the_test_split_never_influences_the_score(make: Make, dataset: Dataset) -> None:
    noise = Split(torch.full((9, 6), 1e3), torch.zeros(9, dtype=torch.int64))
    usual, other = make("random"), make("random", data=dataclasses.replace(dataset, test=noise))
    usual.train_to(3)
    usual.evaluate()
    other.train_to(3)
    other.evaluate()
    assert usual.progress.score == other.progress.score


def test_training_on_all_data_lowers_the_loss(make: Make) -> None:
    run = make("full")
    run.train_to(12)
    assert run.progress.training_loss[-1] < run.progress.training_loss[0]
    assert all(loss == float(f"{loss:.6g}") for loss in run.progress.training_loss)


def test_the_score_is_the_latest_validation_accuracy(make: Make) -> None:
    run = make("full")
    run.evaluate()
    run.train_to(12)
    run.evaluate()
    latest = run.progress.evaluations[1]
    assert (run.progress.score, latest.epoch) == (latest.accuracy, 12)


def test_what_chance_filled_in_adds_up_over_the_draws(make: Make) -> None:
    class Filled(Fixed):
        cadence = Cadence.EVERY_EPOCH

        def select(self, problem: SelectionProblem) -> Subset:
            return dataclasses.replace(super().select(problem), random_fill=2)

    run = make("random")
    run._subsets = Subsets(SubsetPlan(Filled(1.0), 0.1), run.protocol)
    run.train_to(3)
    assert (run.progress.draws, run.progress.random_fill) == (3, 6)


# Warm start


@pytest.mark.parametrize(
    ("warm_start", "epochs", "fraction", "expected"),
    [
        (0.0, 200, 0.3, 0),
        (0.35, 200, 0.01, 1),  # 0.7
        (0.35, 200, 0.05, 4),  # 3.5
        (0.35, 200, 0.1, 7),  # exactly
        (0.35, 200, 0.3, 21),  # exactly
        (0.35, 40, 0.1, 2),  # 1.4
        (0.35, 20, 0.3, 3),  # 2.1
        (1.0, 10, 1.0, 10),
    ],
)
def test_warm_start_epochs_are_kappa_t_k_over_n_rounded_up(
    warm_start: float, epochs: int, fraction: float, expected: int
) -> None:
    plan = plan_of("random", fraction, warm_start)
    assert plan.warm_start_epochs(epochs) == expected


@pytest.mark.parametrize("name", ["gradmatch", "random", "rs2"])
@pytest.mark.parametrize(
    ("epochs", "samples"), [(1, 120), (2, 240), (3, 240 + 36), (5, 240 + 3 * 36)]
)
def test_warm_start_epochs_train_all_rows(make: Make, name: str, epochs: int, samples: int) -> None:
    """0.5 * 12 * 0.3 = 1.8, hence two epochs on all 120 rows, then subsets of 36."""
    run = make(name, warm_start=0.5)
    run.train_to(epochs)
    assert run.progress.samples == samples


@pytest.mark.parametrize(
    ("warm_start", "epochs", "selections"),
    [(0.5, 3, 0), (0.5, 4, 1), (1.0, 4, 0), (1.0, 6, 0), (1.0, 7, 1)],
)
def test_after_a_warm_start_gradients_are_read_at_multiples_of_r_alone(
    make: Make, warm_start: float, epochs: int, selections: int
) -> None:
    """Two and four epochs of warm start; R = 3."""
    run = make("gradmatch", warm_start=warm_start)
    run.train_to(epochs)
    assert run.progress.gradient_selections == selections


def test_a_warm_start_that_ends_at_a_multiple_of_r_goes_on_with_a_selection(make: Make) -> None:
    """0.5 * 12 * 0.5 = 3 = R."""
    run = make("gradmatch", fraction=0.5, warm_start=0.5)
    run.train_to(4)
    assert (run.progress.draws, run.progress.gradient_selections) == (1, 1)


def test_a_warm_start_draws_no_subset(make: Make) -> None:
    run = make("gradmatch", warm_start=0.5)
    run.train_to(2)
    assert (run.progress.draws, run.subset) == (0, None)


def test_warm_started_selectors_share_the_weights_of_the_warm_start(make: Make) -> None:
    one, other = make("gradmatch", warm_start=0.5), make("random", warm_start=0.5)
    one.train_to(2)
    other.train_to(2)
    assert weights_of(one) == weights_of(other)


# Divergence

DIVERGING = {"optimizer": "sgd", "learning_rate": 1e20}


def test_a_diverging_training_is_a_failure_with_its_epoch(make: Make) -> None:
    run = make("full", **DIVERGING)
    run.train_to(12)
    assert run.progress.failure is not None
    assert run.progress.failure.endswith("in epoch 1")


def test_a_diverged_training_goes_no_further(make: Make) -> None:
    run = make("full", **DIVERGING)
    run.train_to(3)
    before = account_of(run)
    run.train_to(12)
    assert (repr(account_of(run)), run.progress.epochs) == (repr(before), 1)


def test_a_diverged_training_has_the_worst_score(make: Make) -> None:
    run = make("full", **DIVERGING)
    run.evaluate()  # an honest score of the initial weights
    run.train_to(12)
    run.evaluate()
    assert run.progress.score == 0


def test_the_account_of_a_diverged_training_survives_json(make: Make) -> None:
    """NaN is a loss like any other there: repr, as NaN is not equal to itself."""
    run = make("full", **DIVERGING)
    run.train_to(3)
    run.evaluate()
    read = Progress.model_validate_json(run.progress.model_dump_json())
    assert repr(read) == repr(run.progress)


def test_a_failure_survives_a_restore(make: Make) -> None:
    before = make("full", **DIVERGING)
    before.train_to(3)
    after = make("full", **DIVERGING)
    after.restore(through_a_file(before.state()))
    assert after.progress.failure == before.progress.failure


def test_weights_that_explode_in_the_last_step_are_found_at_the_evaluation(make: Make) -> None:
    """One mini-batch of all rows: the loss is still that of the initial weights."""
    run = make("full", optimizer="sgd", learning_rate=1e38, batch_size=ROWS)
    run.train_to(1)
    assert run.progress.failure is None
    run.evaluate()
    assert run.progress.failure is not None
    assert run.progress.failure.startswith("validation loss")


def test_a_sound_training_has_no_failure(make: Make) -> None:
    run = make("gradmatch")
    run.train_to(12)
    run.evaluate()
    assert run.progress.failure is None


# The account


def test_a_run_without_an_evaluation_has_the_worst_score() -> None:
    assert Progress().score == 0


@pytest.mark.parametrize("part", ["training", "selection", "evaluation"])
def test_every_part_of_the_work_takes_time(make: Make, part: str) -> None:
    run = make("gradmatch")
    run.train_to(4)
    run.evaluate()
    assert getattr(run.progress.seconds, part) > 0


@pytest.mark.parametrize("selector", GUIDED)
def test_gradients_that_are_no_numbers_fail_the_run_and_not_the_job(
    make: Make, selector: str
) -> None:
    run = make(
        selector,
        fraction=0.3,
        reselect_every=1,
        optimizer="sgd",
        batch_size=36,
        schedule="none",
        learning_rate=1e20,
    )
    run.train_to(12)
    assert run.progress.failure is not None
    assert run.progress.score == 0


def test_evaluations_for_the_curve_come_between_the_rungs_and_change_nothing(
    make: Make,
) -> None:
    usual, with_curve = make("gradmatch"), make("gradmatch")
    with_curve.protocol = with_curve.protocol.model_copy(update={"evaluate_every": 2})
    for rung in (3, 6):
        for run in (usual, with_curve):
            run.train_to(rung)
            run.evaluate()
    assert [point.epoch for point in with_curve.progress.curve] == [2, 4]
    assert weights_of(usual) == weights_of(with_curve)
    scores = [[e.accuracy for e in run.progress.evaluations] for run in (usual, with_curve)]
    assert scores[0] == scores[1]


def test_balanced_class_weights_are_scikit_learns(
    dataset: Dataset, protocol: Protocol, configuration: dict[str, Any]
) -> None:
    of_class = [torch.where(dataset.train.labels == number)[0] for number in range(3)]
    rows = torch.cat([of_class[0], of_class[1][:7], of_class[2][:1]])
    few = Split(dataset.train.inputs[rows], dataset.train.labels[rows])
    run = TrainingRun(
        dataclasses.replace(dataset, train=few),
        configuration,
        protocol.model_copy(update={"class_weights": "balanced"}),
        plan_of("full"),
        0,
        CPU,
    )
    labels = few.labels.numpy()
    expected = compute_class_weight("balanced", classes=np.arange(3), y=labels)
    assert run.model.class_weights is not None
    assert run.model.class_weights.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("schedule", ["none", "cosine"])
def test_horizon_exponent_multiplies_the_rates_of_subset_epochs(
    make: Make, protocol: Protocol, configuration: dict[str, Any], schedule: str
) -> None:
    def run(rate: float, beta: float, warm_start: float = 0.0) -> TrainingRun:
        made = make("rs2", fraction=0.25, warm_start=warm_start, schedule=schedule)
        plan = dataclasses.replace(made.plan, horizon_exponent=beta)
        values = made.configuration | {"learning_rate": rate}
        return TrainingRun(made.data, values, protocol, plan, 0, CPU)

    corrected, larger, plain = run(0.01, 0.5), run(0.02, 0.0), run(0.01, 0.0)
    for each in (corrected, larger, plain):
        each.train_to(3)
    assert weights_of(corrected) == pytest.approx(weights_of(larger), rel=1e-5)
    assert weights_of(corrected) != pytest.approx(weights_of(plain), rel=1e-5)

    warm, cold = run(0.01, 0.5, warm_start=1.0), run(0.01, 0.0, warm_start=1.0)
    epochs = warm.plan.warm_start_epochs(protocol.epochs)
    assert epochs > 0
    for each in (warm, cold):
        each.train_to(epochs)
    assert weights_of(warm) == weights_of(cold)
    for each in (warm, cold):
        each.train_to(epochs + 1)
    assert weights_of(warm) != weights_of(cold)
