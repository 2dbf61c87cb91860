"""Residual networks against known sizes and a second way to compute their blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, conv2d

from automata.datasets.prepared import Dataset, Split
from automata.models.nets import BasicBlock, Bottleneck, ResNet
from automata.models.nets import resnet18 as build18
from automata.models.nets import resnet50 as build50

Builder = Callable[[Dataset, dict[str, Any]], ResNet]
BUILDERS = pytest.mark.parametrize("build", [build18, build50], ids=["ResNet18", "ResNet50"])


@pytest.fixture
def images(dataset: Dataset) -> Dataset:
    """Ten classes of 32x32 images, of which only the shape counts here."""
    split = Split(torch.zeros(2, 3, 32, 32, dtype=torch.uint8), torch.zeros(2, dtype=torch.int64))
    return replace(dataset, kind="image", classes=10, train=split)


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(6), dtype=torch.float64)


def with_random_statistics(module: nn.Module) -> nn.Module:
    """Make batch normalisation do something that a mistake would show in."""
    torch.manual_seed(7)
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            nn.init.normal_(part.weight)
            nn.init.normal_(part.bias)
            nn.init.normal_(part.running_mean)
            nn.init.uniform_(part.running_var, 0.5, 2)
    return module.double().eval()


def normalised(state: dict[str, Tensor], name: str, maps: Tensor) -> Tensor:
    mean, variance = state[f"{name}.running_mean"], state[f"{name}.running_var"]
    return batch_norm(maps, mean, variance, state[f"{name}.weight"], state[f"{name}.bias"])


def shortcut_of(state: dict[str, Tensor], x: Tensor, stride: int) -> Tensor:
    if "shortcut.0.weight" not in state:
        return x
    picked = x[:, :, ::stride, ::stride]  # what a 1x1 convolution with a stride sees
    maps = torch.einsum("oi,nihw->nohw", state["shortcut.0.weight"][:, :, 0, 0], picked)
    return normalised(state, "shortcut.1", maps)


BLOCKS = pytest.mark.parametrize(
    ("inputs", "width", "stride"), [(8, 8, 1), (6, 8, 1), (8, 16, 2), (32, 8, 1), (32, 8, 2)]
)


@BLOCKS
def test_a_basic_block_is_two_convolutions_and_a_shortcut(
    inputs: int, width: int, stride: int
) -> None:
    block = with_random_statistics(BasicBlock(inputs, width, stride))
    state, x = block.state_dict(), noise(2, inputs, 8, 8)
    y = conv2d(x, state["body.0.weight"], stride=stride, padding=1)
    y = normalised(state, "body.1", y).clamp(min=0)
    y = normalised(state, "body.4", conv2d(y, state["body.3.weight"], padding=1))
    torch.testing.assert_close(block(x), (y + shortcut_of(state, x, stride)).clamp(min=0))


@BLOCKS
def test_a_bottleneck_is_three_convolutions_and_a_shortcut(
    inputs: int, width: int, stride: int
) -> None:
    block = with_random_statistics(Bottleneck(inputs, width, stride))
    state, x = block.state_dict(), noise(2, inputs, 8, 8)
    y = normalised(state, "body.1", conv2d(x, state["body.0.weight"])).clamp(min=0)
    y = conv2d(y, state["body.3.weight"], stride=stride, padding=1)
    y = normalised(state, "body.4", y).clamp(min=0)
    y = normalised(state, "body.7", conv2d(y, state["body.6.weight"]))
    torch.testing.assert_close(block(x), (y + shortcut_of(state, x, stride)).clamp(min=0))


@pytest.mark.parametrize(("build", "count"), [(build18, 11_173_962), (build50, 23_520_842)])
def test_parameters_are_as_many_as_published(images: Dataset, build: Builder, count: int) -> None:
    assert sum(p.numel() for p in build(images, {}).parameters()) == count


STAGES = [(64, 32), (128, 16), (256, 8), (512, 4)]


@pytest.mark.parametrize("stage", [1, 2, 3, 4])
@pytest.mark.parametrize(("build", "expansion"), [(build18, 1), (build50, 4)])
def test_stages_double_channels_and_halve_the_size(
    images: Dataset, build: Builder, expansion: int, stage: int
) -> None:
    model = build(images, {}).eval()
    maps = model.stem(torch.zeros(1, 3, 32, 32))
    for number in range(1, stage + 1):
        maps = getattr(model, f"layer{number}")(maps)
    width, size = STAGES[stage - 1]
    assert maps.shape == (1, width * expansion, size, size)


@pytest.mark.parametrize("size", [8, 32, 33])
@pytest.mark.parametrize(("build", "columns"), [(build18, 512), (build50, 2048)])
def test_features_have_one_row_per_image_of_any_size(
    images: Dataset, build: Builder, columns: int, size: int
) -> None:
    model = build(images, {}).eval()
    assert model.features(torch.zeros(2, 3, size, size)).shape == (2, columns)


@BUILDERS
def test_logits_are_the_head_of_the_features(images: Dataset, build: Builder) -> None:
    model, inputs = build(images, {}).double().eval(), noise(2, 3, 8, 8)
    torch.testing.assert_close(model(inputs), model.head(model.features(inputs)))


@BUILDERS
def test_groups_hold_every_parameter_exactly_once(images: Dataset, build: Builder) -> None:
    model = build(images, {})
    grouped = [id(p) for group in model.parameter_groups().values() for p in group]
    assert sorted(grouped) == sorted(id(p) for p in model.parameters())


@pytest.mark.parametrize(
    ("group", "parts"),
    [
        ("lr1", {"stem", "layer1"}),
        ("lr2", {"layer2", "layer3"}),
        ("lr3", {"layer4"}),
        ("lr4", {"head"}),
    ],
)
@BUILDERS
def test_groups_are_the_papers_parts_of_the_network(
    images: Dataset, build: Builder, group: str, parts: set[str]
) -> None:
    model = build(images, {})
    members = {id(p) for p in model.parameter_groups()[group]}
    named = model.named_parameters()
    assert {name.split(".")[0] for name, p in named if id(p) in members} == parts


@BUILDERS
def test_convolutions_start_with_the_variance_of_he(images: Dataset, build: Builder) -> None:
    """Variance 2 / (outputs * size^2), so that the normalised weights have variance 1."""
    torch.manual_seed(8)
    model = build(images, {})
    kernels = [m.weight.detach() for m in model.modules() if isinstance(m, nn.Conv2d)]
    scaled = torch.cat([(k.square() * len(k) * k[0, 0].numel() / 2).flatten() for k in kernels])
    assert float(scaled.mean()) == pytest.approx(1, abs=0.005)


def test_channels_are_those_of_the_images(images: Dataset) -> None:
    grey = replace(images, train=Split(images.train.inputs[:, :1], images.train.labels))
    assert build18(grey, {}).eval()(torch.zeros(1, 1, 8, 8)).shape == (1, 10)


def test_a_few_steps_fit_a_mini_batch() -> None:
    torch.manual_seed(9)
    model = ResNet(BasicBlock, (1, 1, 1, 1), channels=3, classes=3)
    inputs, labels = noise(9, 3, 8, 8).float(), torch.arange(9) % 3
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for _ in range(12):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
    assert torch.equal(model(inputs).argmax(dim=1), labels)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@BUILDERS
def test_cpu_and_gpu_agree(images: Dataset, build: Builder) -> None:
    model, inputs = build(images, {}).double().eval(), noise(2, 3, 32, 32)
    expected = model(inputs)
    found = model.to("cuda")(inputs.to("cuda")).cpu()
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
