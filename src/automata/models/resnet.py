"""The image models: residual networks for small images (He et al., 2016; paper, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from automata.datasets.prepared import Dataset
from automata.models.classifier import Classifier

WIDTHS = (64, 128, 256, 512)
"""Channels of the four stages; every stage but the first halves height and width."""


class BasicBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut: (n, inputs, H, W) -> (n, width, H/s, W/s)."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * self.expansion
        self.body = _layers(inputs, *self.convolutions(width, stride))
        same_shape = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same_shape else _layers(inputs, (outputs, 1, stride))

    def convolutions(self, width: int, stride: int) -> list[tuple[int, int, int]]:
        """Return the outputs, the size and the stride of each convolution."""
        return [(width, 3, stride), (width, 3, 1)]

    def forward(self, inputs: Tensor) -> Tensor:
        """Return relu(body + shortcut)."""
        return relu(self.body(inputs) + self.shortcut(inputs))


class Bottleneck(BasicBlock):
    """1x1, 3x3 and 1x1 convolutions and a shortcut, to 4 times `width` channels.

    The 3x3 convolution has the stride, as in the usual "version 1.5" (ResNet's paper strides the
    first 1x1 convolution, which skips three of four positions).
    """

    expansion = 4

    def convolutions(self, width: int, stride: int) -> list[tuple[int, int, int]]:
        """Return the outputs, the size and the stride of each convolution."""
        return [(width, 1, 1), (width, 3, stride), (width * self.expansion, 1, 1)]


class ResNet(Classifier):
    """A stem, four stages of blocks, the mean over positions, and a linear layer.

    The stem is one 3x3 convolution of stride 1 without pooling, as usual for images of 32x32.
    The mean allows other sizes too.
    """

    # On a CPU, an image in chunks of 256 takes 1.6 to 2.3 times as long as in chunks of 64, because
    # the activations leave the cache. The number for GPUs is not measured.
    evaluation_rows = 64
    evaluation_rows_on_gpu = 1024
    compiles = True
    memory_format = torch.channels_last
    """The channels of a pixel are adjacent in memory: fastest for convolutions on CPUs and GPUs."""

    def __init__(
        self,
        block: type[BasicBlock],
        blocks: Sequence[int],
        channels: int,
        classes: int,
    ) -> None:
        """Initialise with `blocks` blocks per stage, for images with `channels` channels."""
        super().__init__()
        self.stem = _layers(channels, (WIDTHS[0], 3, 1)).append(nn.ReLU(inplace=True))
        inputs, stages = WIDTHS[0], []
        for count, width, stride in zip(blocks, WIDTHS, (1, 2, 2, 2), strict=True):
            stage = nn.Sequential(block(inputs, width, stride))
            inputs = width * block.expansion
            stages.append(stage.extend(block(inputs, width, 1) for _ in range(count - 1)))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.head = nn.Linear(inputs, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.to(memory_format=self.memory_format)  # type: ignore[call-overload]

    def features(self, inputs: Tensor) -> Tensor:
        """Return the mean over positions: (n, channels, H, W) float -> (n, 512 or 2048)."""
        pixels = inputs.contiguous(memory_format=self.memory_format)
        maps = self.layer2(self.layer1(self.stem(pixels)))
        maps = self.layer4(self.layer3(maps))
        means: Tensor = maps.mean(dim=(2, 3))
        return means

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Return the four groups, each with its own learning rate, from input to output.

        They are the first group of layers, the intermediate ones, the last one and the fully
        connected layer (paper, appendix, 'Details of Image Experiments').
        """
        return {
            "lr1": [*self.stem.parameters(), *self.layer1.parameters()],
            "lr2": [*self.layer2.parameters(), *self.layer3.parameters()],
            "lr3": list(self.layer4.parameters()),
            "lr4": list(self.head.parameters()),
        }


def build18(dataset: Dataset, configuration: dict[str, Any]) -> ResNet:
    """Return a ResNet18 for `dataset`; `configuration` has no sizes."""
    return ResNet(BasicBlock, (2, 2, 2, 2), dataset.train.inputs.shape[1], dataset.classes)


def build50(dataset: Dataset, configuration: dict[str, Any]) -> ResNet:
    """Return a ResNet50 for `dataset`; `configuration` has no sizes."""
    return ResNet(Bottleneck, (3, 4, 6, 3), dataset.train.inputs.shape[1], dataset.classes)


def _layers(inputs: int, *convolutions: tuple[int, int, int]) -> nn.Sequential:
    """Return convolutions with batch normalisation, and ReLU between them."""
    layers = nn.Sequential()
    for outputs, size, stride in convolutions:
        if layers:
            layers.append(nn.ReLU(inplace=True))
        # No bias, because the batch normalisation subtracts it.
        layers.append(nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False))
        layers.append(nn.BatchNorm2d(outputs))
        inputs = outputs
    return layers
