"""The interface of a model to training and selection, and the model of a configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from automata.config.protocol import OwnModel
from automata.datasets.prepared import Dataset
from automata.errors import UserError
from automata.loading import imported, load_own, reason
from automata.models.loss import CrossEntropy
from automata.registry import MODELS


def arithmetic(precision: str, device: torch.device) -> torch.autocast:
    """Return a context that computes matrix products in `precision`; weights stay float32."""
    reduced = precision != "float32"
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=reduced)


Loss = Callable[["Classifier", Tensor, Tensor], Tensor]
"""`Classifier.loss`: (model, inputs, labels) -> loss."""


class Classifier(nn.Module):
    """A network whose last layer is linear: logits = head(features(inputs)).

    Selection reads the gradients of the last layer alone (paper, 'Per-batch subset selection').
    """

    head: nn.Linear
    evaluation_rows: int = 4096
    """Rows of a forward pass without gradients."""
    evaluation_rows_on_gpu: int = 4096
    """The same on a GPU; of images, rows of 32x32 pixels."""
    reads_padding: bool = True
    """Whether the model gets text with all padding, or cut to the longest row of a mini-batch."""
    compiles: bool = False
    """Whether compiling can pay: shapes differ between configurations only in the batch size."""

    def __init__(self) -> None:
        super().__init__()
        self.criterion = CrossEntropy()

    @property
    def word_table(self) -> nn.Embedding | None:
        """The table whose row numbers are the inputs; None without one."""
        return None

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Return each parameter once, by the hyper-parameter that is its learning rate."""
        return {"learning_rate": list(self.parameters())}

    def features(self, inputs: Tensor) -> Tensor:
        """Return the input of the last layer: (n, ...) -> (n, h)."""
        raise NotImplementedError

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits: (n, ...) -> (n, classes)."""
        logits: Tensor = self.head(self.features(inputs))
        return logits

    def loss(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Return the mean training loss of rows."""
        loss: Tensor = self.criterion(self(inputs), labels)
        return loss

    def backward(self, inputs: Tensor, labels: Tensor, weight: float) -> Tensor:
        """Set every parameter's gradient to that of `weight` times the `loss`; return that loss.

        A model may override this with faster code; `labels` (n,) are int64.
        """
        return self.autograd_backward(inputs, labels, weight)

    def autograd_backward(
        self,
        inputs: Tensor,
        labels: Tensor,
        weight: float,
        precision: str = "float32",
        compiled: Loss | None = None,
    ) -> Tensor:
        """As `backward`, by automatic differentiation; `compiled` replaces the model's `loss`."""
        self.zero_grad(set_to_none=True)
        with arithmetic(precision, inputs.device):
            # Outside of the compiled loss, which would be compiled anew for each weight.
            weighted = (compiled or type(self).loss)(self, inputs, labels) * weight
        weighted.backward()
        return weighted.detach()


class OwnClassifier(Classifier):
    """A user's module as a `Classifier`: logits are head(features(inputs))."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        rows = getattr(module, "evaluation_rows", None)
        self.evaluation_rows = int(rows or 256)
        self.evaluation_rows_on_gpu = int(getattr(module, "evaluation_rows_on_gpu", rows or 1024))

    @property
    def head(self) -> nn.Linear:  # type: ignore[override]
        """The module's last layer."""
        head: nn.Linear = self.module.head  # type: ignore[assignment]
        return head

    def features(self, inputs: Tensor) -> Tensor:
        """Return the module's features: (n, ...) -> (n, h)."""
        features: Tensor = self.module.features(inputs)  # type: ignore[operator]
        return features

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Return the groups of the module; without them, one group of all parameters."""
        groups: Any = getattr(self.module, "parameter_groups", super().parameter_groups)
        return dict(groups())


def build_model(
    dataset: Dataset, configuration: dict[str, Any], model: str | OwnModel
) -> Classifier:
    """Return `model` for `dataset` with initial weights from torch's global generator.

    Raises UserError if a user's factory does not exist, fails, or returns an unsuitable module.
    """
    if isinstance(model, str):
        built: Classifier = imported(MODELS[model].factory)(dataset, configuration)
        return built
    # A module may train the extras, so each trial gets copies.
    copy = replace(dataset, extras={name: extra.clone() for name, extra in dataset.extras.items()})
    key = f"protocol.*.model.factory: {model.factory}"
    factory = load_own(model.factory, key)
    try:
        module = factory(copy, configuration, **model.options)
        _check_members(module, key, dataset)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{key}: failed with {reason(error)}") from error
    return OwnClassifier(module)


def _check_members(module: Any, key: str, dataset: Dataset) -> None:
    """Raise UserError unless `module` has the members that selection needs, of the right shapes."""
    if not isinstance(module, nn.Module):
        raise UserError(f"{key}: returned {type(module).__name__}, not a torch.nn.Module")
    head = getattr(module, "head", None)
    if not isinstance(head, nn.Linear) or not callable(getattr(module, "features", None)):
        raise UserError(f"{key}: the module needs features(inputs) and head, an nn.Linear")
    if head.out_features != dataset.classes:
        classes = f"{dataset.name} has {dataset.classes} classes"
        raise UserError(f"{key}: head has {head.out_features} outputs, {classes}")
    was_training = module.training
    module.eval()
    with torch.no_grad():
        split = dataset.train
        shape = tuple(module.features(split.ready(split.inputs[:2])).shape)  # type: ignore[operator]
    module.train(was_training)
    if shape != (2, head.in_features):
        raise UserError(f"{key}: features of 2 rows are {shape}, not {(2, head.in_features)}")
    grouped = [p for group in OwnClassifier(module).parameter_groups().values() for p in group]
    if sorted(map(id, grouped)) != sorted(map(id, module.parameters())):
        raise UserError(f"{key}: parameter_groups() must hold every parameter exactly once")
