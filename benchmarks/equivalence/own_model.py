"""A model as users write their own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Tower(nn.Module):
    def __init__(self, inputs: int, classes: int, width: int, depth: int) -> None:
        super().__init__()
        widths = [inputs, *[width] * depth]
        self.layers = nn.ModuleList(map(nn.Linear, widths, widths[1:]))
        self.dropout = nn.Dropout(0.2)
        self.head = nn.Linear(width, classes)

    def features(self, rows: Tensor) -> Tensor:
        for layer in self.layers:
            rows = self.dropout(torch.tanh(layer(rows)))
        return rows


def build(dataset: Any, configuration: dict[str, Any], depth: int) -> nn.Module:
    columns = dataset.train.inputs.shape[1]
    return Tower(columns, dataset.classes, configuration["width"], depth)
