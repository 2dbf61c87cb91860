"""A small convolutional net for images."""

from itertools import pairwise

from torch import nn


class SmallConvNet(nn.Module):
    """Three convolutions of 16, 32 and 64 channels, each with half the height and width."""

    def __init__(self, channels, pixels, classes):
        super().__init__()
        widths = (channels, 16, 32, 64)
        self.parts = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(before, width, 3, padding=1, bias=False),
                nn.BatchNorm2d(width),
                nn.ReLU(),
                nn.MaxPool2d(2),
            )
            for before, width in pairwise(widths)
        )
        self.head = nn.Linear(widths[-1] * pixels // 64, classes)

    def features(self, inputs):
        """Return what the last layer takes: (n, channels, H, W) -> (n, 64 H/8 W/8)."""
        for part in self.parts:
            inputs = part(inputs)
        return inputs.flatten(1)


def build(dataset, configuration):
    """Return a net for the images of `dataset`; `configuration` has no sizes."""
    _, channels, height, width = dataset.train.inputs.shape
    return SmallConvNet(channels, height * width, dataset.classes)
