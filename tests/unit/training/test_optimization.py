"""Optimizers and schedules against formulas; reduced and compiled steps against plain."""

import math
import subprocess
import sys

import pytest
import torch

from automata.config.sections import Compute
from automata.models.classifier import Classifier
from automata.models.nets import BasicBlock, LstmClassifier, Mlp, ResNet
from automata.training import optimization
from automata.training.optimization import (
    backward_of,
    build_optimizer,
    build_schedule,
)

EPOCHS, RATE, BATCH = 12, 0.02, 4
BASE = {
    "optimizer": "sgd",
    "learning_rate": RATE,
    "weight_decay": 0.01,
    "momentum": 0.9,
    "nesterov": False,
    "schedule": "none",
    "decay_every": 4,
    "decay_factor": 0.1,
}


class Grouped(Mlp):
    def parameter_groups(self):
        return {"lr1": list(self.body.parameters()), "lr2": list(self.head.parameters())}


def mlp(kind=Mlp):
    torch.manual_seed(0)
    return kind(5, 7, 6, 3)


def resnet(seed=0):
    torch.manual_seed(seed)
    return ResNet(BasicBlock, (1, 1, 1, 1), 3, 3)


def lstm():
    torch.manual_seed(0)
    return LstmClassifier(torch.randn(20, 5), 6, 1, 3)


def batch(n, seed=1, shape=(5,)):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(n, *shape, generator=generator)
    return inputs, torch.randint(0, 3, (n,), generator=generator)


def images(n):
    return batch(n, shape=(3, 8, 8))


def gradients(model):
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


# Optimizers and schedules


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("none", [1.0 for _ in range(EPOCHS)]),
        ("cosine", [(1 + math.cos(math.pi * e / 12)) / 2 for e in range(EPOCHS)]),
        ("step", [0.1 ** (e // 4) for e in range(EPOCHS)]),
    ],
)
def test_learning_rate_of_each_group_and_epoch_follows_the_formula(optimizer, schedule, expected):
    values = BASE | {"optimizer": optimizer, "schedule": schedule, "lr2": 0.5}
    made = build_optimizer(mlp(Grouped), values)
    stepped = build_schedule(made, values, EPOCHS)
    assert [len(group["params"]) for group in made.param_groups] == [4, 2]
    rates = []
    for _ in range(EPOCHS):
        rates.append([group["lr"] for group in made.param_groups])
        made.step()
        stepped.step()
    for found, factor in zip(rates, expected, strict=True):
        assert found == pytest.approx([RATE * factor, 0.5 * factor], rel=1e-9)


# Gradients


@pytest.mark.parametrize("weight", [1.0, 0.3, 0.0])
@pytest.mark.parametrize("n", [1, 9])
def test_chain_rule_of_the_mlp_is_that_of_autograd(n, weight):
    model, (inputs, labels) = mlp().double(), batch(n)
    model.backward(inputs[:1].double(), labels[:1], 1.0)  # its gradients are not added
    loss = model.backward(inputs.double(), labels, weight)
    by_hand = gradients(model)
    expected = model.autograd_backward(inputs.double(), labels, weight)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(by_hand, gradients(model))


def test_extreme_logits_give_finite_gradients():
    model, (inputs, labels) = mlp(), batch(6)
    loss = model.backward(inputs * 1e4, labels, 1.0)
    assert torch.isfinite(loss)
    assert all(torch.isfinite(gradient).all() for gradient in gradients(model))


WORDS = torch.randint(1, 20, (12, 6), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    ("make", "inputs"), [(resnet, images(12)[0]), (lstm, WORDS), (mlp, batch(12)[0])]
)
def test_reduced_precision_gives_nearly_the_gradients_of_the_full_one(make, inputs):
    if make is lstm and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("oneDNN has no LSTM in bfloat16 for this processor")
    model = make()
    model.eval()  # statistics of so small a batch are noise
    for module in model.modules():
        module.train(isinstance(module, torch.nn.LSTM))  # its backward pass needs it
    found = []
    for precision in ("bfloat16", "float32"):
        step = backward_of(model, BATCH, Compute(precision=precision, compiled=False))
        step(inputs, torch.arange(12) % 3, 0.5)
        found.append(torch.cat([g.flatten() for g in gradients(model)]))
    assert found[0].dtype == torch.float32
    error = (found[0] - found[1]).norm() / found[1].norm()
    assert 0 < error < 0.2


# Compiled steps


def compiling(monkeypatch):
    """Let torch trace without compiling; return a list that grows by one size per graph."""
    torch._dynamo.reset()
    made = []

    def counted(graph, inputs):
        made.append(max(len(tensor) for tensor in inputs if tensor.shape[1:] == (3, 8, 8)))
        return torch._dynamo.lookup_backend("eager")(graph, inputs)

    step = torch.compile(Classifier.loss, dynamic=False, backend=counted)
    monkeypatch.setattr(optimization, "_compiled_loss", lambda: step)
    return made


def take(model, step, rows=BATCH):
    model.train()
    inputs, labels = images(rows)
    loss = step(inputs.to(model.head.weight), labels, 0.7)
    return loss, gradients(model)


def compiled_step(model):
    return backward_of(model, BATCH, Compute(compiled=True))


@pytest.mark.slow
def test_models_of_one_shape_share_a_graph_and_a_short_mini_batch_has_none(monkeypatch):
    made = compiling(monkeypatch)
    model = resnet()
    take(model, compiled_step(model), BATCH - 1)
    assert made == []
    for seed in range(10):  # more than torch compiles a function anew
        model, same = resnet(seed), resnet(seed)
        found, expected = take(model, compiled_step(model)), take(same, same.autograd_backward)
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert made == [BATCH]


@pytest.mark.slow
def test_training_does_not_import_torchs_compiler():
    code = "import sys; from benchmarks.workloads import sentences\n"
    code += "run = sentences(40, 50, 8, 8).run(8); run.train_to(1)\n"
    code += "run.restore(run.state()); sys.exit('torch._dynamo' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
