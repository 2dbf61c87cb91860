"""Training runs: resume, patience, seeds, cadence of selections, warm start, divergence."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight

from automata.config.protocol import Protocol
from automata.datasets.prepared import Split
from automata.registry import SELECTORS
from automata.selection.gradmatch import AdaptiveGradMatch
from automata.selection.problem import Cadence, Subset
from automata.training import run as run_module
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, build_selector
from support.selectors import GUIDED

NAMES = ["full", *SELECTORS]
INTERVAL = [name for name in NAMES if build_selector(name).cadence is Cadence.EVERY_INTERVAL]
ROWS = 120
DIVERGING = {"optimizer": "sgd", "learning_rate": 1e20}


@pytest.fixture
def make(dataset, protocol, configuration):
    """Return a maker of runs: the selector or its name, then what differs from the usual."""

    def make_run(
        selector, *, data=dataset, seed=0, fraction=None, warm_start=0.0, exponent=0.0, **changes
    ):
        of_protocol = Protocol.model_fields.keys() & changes.keys() - configuration.keys()
        settings = {key: changes.pop(key) for key in of_protocol}
        made = build_selector(selector) if isinstance(selector, str) else selector
        usual = 1.0 if selector == "full" else 0.3
        return TrainingRun(
            data,
            {**configuration, **changes},
            protocol.model_copy(update=settings),
            SubsetPlan(made, fraction or usual, warm_start, exponent),
            seed,
            torch.device("cpu"),
        )

    return make_run


def weights_of(run):
    """Return all weights, exactly: float32 values are exact as Python floats."""
    return torch.cat([p.detach().flatten() for p in run.model.parameters()]).tolist()


def outcome(run):
    """Return weights and progress without clocks, as texts: NaN is not equal to itself."""
    clocks = {"evaluations": {"__all__": {"finished_at"}}, "best": {"finished_at"}}
    return repr(weights_of(run)), repr(run.progress.model_dump(exclude={"seconds": True, **clocks}))


def rows_of(run):
    assert run.subset is not None
    return torch.cat(run.subset.batches).tolist()


def train(run, *epochs):
    """Train to each of `epochs`, and evaluate there."""
    for epoch in epochs:
        run.train_to(epoch)
        run.evaluate()
    return run


@pytest.mark.parametrize(
    ("selector", "stop", "changes"),
    [
        *((name, stop, {}) for name in NAMES for stop in (1, 4)),
        *(("gradmatch", stop, {"optimizer": "adam"}) for stop in (0, 3, 6)),
        *(("gradmatch", 3, {"schedule": schedule}) for schedule in ("none", "cosine")),
        # kappa T k/N = 1 * 12 * 0.4, hence 5 epochs on all data
        *(("gradmatch", stop, {"fraction": 0.4, "warm_start": 1.0}) for stop in (1, 4, 5, 6)),
        *(("full", stop, {"learning_rate": 0.3, "patience": 3}) for stop in (1, 3, 5)),
        ("full", 3, DIVERGING),
    ],
    ids=str,
)
def test_resumed_run_equals_one_in_one_go(make, selector, stop, changes):
    whole, before, after = (make(selector, **changes) for _ in range(3))
    train(before, stop)
    file = io.BytesIO()
    torch.save(before.state(), file)
    after.restore(torch.load(io.BytesIO(file.getvalue()), weights_only=True))
    train(whole, stop)
    for run in (whole, after):
        train(run, 12)
        run.model.load_state_dict(run.weights)
    assert outcome(after) == outcome(whole)


def test_evaluations_change_nothing(make):
    quiet, watched = make("gradmatch"), make("gradmatch")
    quiet.train_to(6)
    train(watched, 3, 6)
    assert [point.epoch for point in watched.progress.evaluations] == [3, 6]
    assert weights_of(watched) == weights_of(quiet)


def by_hand(make, patience, metric):
    """Return the epochs, the best epoch and its weights of a training that is judged by hand."""
    run, judged = make("full", learning_rate=0.3), []
    for epoch in range(1, 13):
        scores = train(run, epoch).progress.evaluations[-1]
        score = scores.balanced_accuracy if metric == "balanced_accuracy" else 0
        judged.append((score, -scores.loss, -epoch, weights_of(run)))
        _, _, best, weights = max(judged)
        if epoch + best == patience:
            break
    return epoch, -best, weights


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy"])
@pytest.mark.parametrize("patience", [1, 2, 4, 20])
def test_training_ends_when_its_patience_does_and_keeps_its_best_epoch(make, patience, metric):
    epochs, best, weights = by_hand(make, patience, metric)
    run = train(make("full", learning_rate=0.3, patience=patience, metric=metric), 2, 5, 12)
    progress = run.progress
    assert (progress.epochs, progress.kept_epoch, run.ended) == (epochs, best, patience < 20)
    run.model.load_state_dict(run.weights)
    assert weights_of(run) == weights
    assert [e.epoch for e in progress.evaluations] == [min(e, epochs) for e in (2, 5, 12)]
    ranks = [evaluation.rank(metric) for evaluation in progress.evaluations]
    assert ranks == sorted(ranks)
    assert progress.best is not None
    assert progress.score == progress.best.score(metric)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_an_epoch_without_a_loss_is_never_the_best(make, monkeypatch, metric):
    run = make("full", patience=5, metric=metric)
    losses = iter([math.nan, 0.5, math.inf])
    evaluation = run._evaluation

    def lossy():
        return evaluation().model_copy(update={"loss": next(losses)})

    monkeypatch.setattr(run, "_evaluation", lossy)
    run.train_to(3)
    assert (run.progress.epochs, run.progress.best.epoch) == (3, 2)


def test_configurations_of_one_architecture_start_with_equal_weights(make):
    one = make("random", learning_rate=0.001, optimizer="adam", batch_size=8)
    other = make("gradmatch", learning_rate=0.01, optimizer="sgd", batch_size=32)
    assert weights_of(one) == weights_of(other)


# Cadence and rows of an epoch


class Fixed:
    """A selector of one weighted mini-batch, which notes the learning rates of its problems."""

    def __init__(self, weight=1.0, cadence=Cadence.ONCE, fill=0):
        self.weight, self.cadence, self.fill = weight, cadence, fill
        self.rates = []

    def select(self, problem):
        self.rates.append(problem.learning_rate)
        return Subset([torch.arange(10)], torch.tensor([self.weight]), self.fill)


THRIFTY = AdaptiveGradMatch(tolerance=0.99)
"""Its subsets are its floor, a mini-batch of 16, after a first one of 36 rows."""

COUNTED = ("draws", "gradient_selections", "samples", "subset_samples")
COUNTED += ("subset_epochs", "selected_samples", "steps")
SEVEN = (7 * 36, 36, 7, 7 * 36, 7 * 3)
HALF, WHOLE = {"warm_start": 0.5}, {"warm_start": 1.0}
"""Two and four epochs of warm start, on all 120 rows: 0.5 * 12 * 0.3 = 1.8, 1.0 * 12 * 0.3 = 3.6"""


@pytest.mark.parametrize(
    ("selector", "changes", "epochs", "counts"),
    [
        ("full", {}, 7, (7, 0, 840, 120, 7, 840, 56)),
        ("random", {}, 7, (1, 0, *SEVEN)),
        ("adaptive-random", {}, 7, (3, 0, *SEVEN)),
        ("rs2", {}, 7, (7, 0, *SEVEN)),
        *((name, {}, 7, (3, 2, *SEVEN)) for name in ("craig", "glister", "gradmatch")),
        (THRIFTY, {}, 7, (3, 2, 3 * 36 + 4 * 16, 16, 7, 3 * 36 + 4 * 16, 3 * 3 + 4)),
        ("gradmatch", {}, 3, (1, 0, 108, 36, 3, 108, 9)),
        ("gradmatch", {}, 4, (2, 1, 144, 36, 4, 144, 12)),
        ("gradmatch", {}, 10, (4, 3, 360, 36, 10, 360, 30)),
        ("gradmatch", HALF, 2, (0, 0, 240, 0, 0, 0, 16)),
        ("gradmatch", HALF, 3, (1, 0, 240 + 36, 36, 1, 36, 16 + 3)),
        ("gradmatch", HALF, 4, (2, 1, 240 + 72, 36, 2, 72, 16 + 6)),
        ("gradmatch", WHOLE, 6, (1, 0, 480 + 72, 36, 2, 72, 32 + 6)),
        ("gradmatch", WHOLE, 7, (2, 1, 480 + 108, 36, 3, 108, 32 + 9)),
        ("rs2", HALF, 5, (3, 0, 240 + 108, 36, 3, 108, 16 + 9)),
        (THRIFTY, HALF, 5, (2, 1, 240 + 36 + 2 * 16, 16, 3, 36 + 2 * 16, 16 + 3 + 2)),
        # 0.5 * 12 * 0.5 = 3 = R: a selection comes first
        ("gradmatch", {"fraction": 0.5, **HALF}, 4, (1, 1, 360 + 60, 60, 1, 60, 24 + 4)),
    ],
)
def test_draws_gradients_samples_and_steps_are_those_by_hand(
    make, selector, changes, epochs, counts
):
    """Gradients are read at multiples of R = 3. Mini-batches have 16 rows, the last one fewer."""
    run = make(selector, **changes)
    run.train_to(epochs)
    assert tuple(getattr(run.progress, name) for name in COUNTED) == counts


def test_first_subset_is_random_for_all_interval_selectors_and_stays_until_epoch_r(make):
    runs = [make(name) for name in INTERVAL]
    for epoch in (1, 3):
        for run in runs:
            run.train_to(epoch)
        subsets = [rows_of(run) for run in runs]
        assert subsets == [subsets[0]] * len(runs)
    for run in runs:
        run.train_to(4)
        assert rows_of(run) != subsets[0]


def test_learning_rate_of_a_subset_epoch_is_the_step_of_a_selection(make):
    """SGD with a step schedule: a tenth after every four epochs."""
    selector = Fixed(cadence=Cadence.EVERY_EPOCH, fill=2)
    run = make(selector, fraction=0.25, exponent=0.5)  # rates are doubled
    run.train_to(6)
    assert selector.rates == pytest.approx([0.02] * 4 + [0.002] * 2)
    assert (run.progress.draws, run.progress.random_fill) == (6, 12)


def test_step_of_a_selection_is_the_rate_of_the_heads_group(make):
    run = make("full")
    run.optimizer.param_groups.insert(0, {"params": [], "lr": 9.0})
    assert run._head_rate() == 0.01


@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_weight_scales_the_loss_of_its_mini_batch(make, dataset, weight):
    """The first step of SGD is -rate * (weight * gradient + decay * w)."""
    run = make(Fixed(weight))
    bias = run.model.head.bias
    before = bias.detach().clone()
    logits = run.model(dataset.train.inputs[:10])
    loss = torch.nn.functional.cross_entropy(logits, dataset.train.labels[:10])
    (gradient,) = torch.autograd.grad(loss, bias)
    run.train_to(1)
    expected = before - 0.01 * (weight * gradient + 0.01 * before)
    torch.testing.assert_close(bias.detach(), expected)
    assert run.progress.training_loss == [pytest.approx(weight * loss.item(), rel=1e-5)]


@pytest.mark.parametrize("split", ["test", "validation"])
@pytest.mark.parametrize("name", NAMES)
def test_other_splits_never_train_and_only_selectors_said_to_read_validation_rows_do(
    make, dataset, split, name
):
    noise = Split(torch.full((9, 6), 1e3), torch.zeros(9, dtype=torch.int64))
    usual, other = make(name), make(name, data=replace(dataset, **{split: noise}))
    assert weights_of(train(usual, 3)) == weights_of(train(other, 3))
    assert (usual.progress.score == other.progress.score) is (split == "test")
    reading = [it for it, row in SELECTORS.items() if row.reads_validation]
    chosen = split == "validation" and name in reading
    assert (weights_of(train(usual, 7)) != weights_of(train(other, 7))) is chosen


def test_balanced_class_weights_are_scikit_learns(make, dataset):
    of_class = [torch.where(dataset.train.labels == number)[0] for number in range(3)]
    rows = torch.cat([of_class[0], of_class[1][:7], of_class[2][:1]])
    few = Split(dataset.train.inputs[rows], dataset.train.labels[rows])
    run = make("full", data=replace(dataset, train=few), class_weights="balanced")
    expected = compute_class_weight("balanced", classes=np.arange(3), y=few.labels.numpy())
    assert run.model.criterion.class_weights is not None
    assert run.model.criterion.class_weights.tolist() == pytest.approx(expected)


# Warm start and horizon


@pytest.mark.parametrize(
    ("warm_start", "epochs", "fraction", "expected"),
    [
        (0.35, 200, 0.01, 1),  # 0.7
        (0.35, 200, 0.1, 7),  # exactly
        (0.35, 40, 0.1, 2),  # 1.4
    ],
)
def test_warm_start_epochs_are_kappa_t_k_over_n_rounded_up(warm_start, epochs, fraction, expected):
    plan = SubsetPlan(build_selector("random"), fraction, warm_start)
    assert plan.warm_start_epochs(epochs) == expected


@pytest.mark.parametrize("schedule", ["none", "cosine"])
def test_horizon_exponent_multiplies_the_rates_of_subset_epochs(make, schedule):
    def weights(rate, exponent, warm_start, epochs):
        settings = {"exponent": exponent, "warm_start": warm_start, "schedule": schedule}
        run = make("rs2", fraction=0.25, learning_rate=rate, **settings)
        run.train_to(epochs)
        return weights_of(run)

    corrected = weights(0.01, 0.5, 0.0, 3)
    assert corrected == pytest.approx(weights(0.02, 0.0, 0.0, 3), rel=1e-5)
    assert corrected != pytest.approx(weights(0.01, 0.0, 0.0, 3), rel=1e-5)
    # three epochs of warm start
    assert weights(0.01, 0.5, 1.0, 3) == weights(0.01, 0.0, 1.0, 3)
    assert weights(0.01, 0.5, 1.0, 4) != weights(0.01, 0.0, 1.0, 4)


# Divergence


def test_weights_that_explode_in_the_last_step_are_found_at_the_evaluation(make):
    """One mini-batch of all rows: the loss is still that of the initial weights."""
    run = make("full", optimizer="sgd", learning_rate=1e38, batch_size=ROWS)
    run.train_to(1)
    assert run.progress.failure is None
    run.evaluate()
    assert run.progress.failure is not None
    assert run.progress.failure.startswith("validation loss")
    run.train_to(5)
    assert run.progress.epochs == 1


@pytest.mark.parametrize("selector", GUIDED)
def test_gradients_that_are_not_finite_fail_the_run_and_not_the_job(make, selector):
    run = make(selector, reselect_every=1, batch_size=36, schedule="none", **DIVERGING)
    run.train_to(12)
    assert run.progress.failure == "gradients not finite after epoch 1"
    assert run.progress.score == 0


def test_features_whose_squares_overflow_fail_the_run(make, monkeypatch):
    run = make("gradmatch", reselect_every=1, batch_size=36)
    whole = run_module.last_layer

    def exploded(*arguments):
        layer = whole(*arguments)
        return replace(layer, features=torch.full_like(layer.features, 1e20))

    monkeypatch.setattr(run_module, "last_layer", exploded)
    run.train_to(2)
    assert run.progress.failure.startswith("gradients not finite")
