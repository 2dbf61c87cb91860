"""The interface of a model to training and selection."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


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
        self.class_weights: Tensor | None
        """(classes,) weight of a row's loss by its class; None if all classes count the same."""
        self.register_buffer("class_weights", None, persistent=False)

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
        """Return the mean cross-entropy, each row times the weight of its class."""
        logits = self(inputs)
        if self.class_weights is None:
            return cross_entropy(logits, labels)
        rows = cross_entropy(logits, labels, reduction="none")
        return (rows * self.class_weights[labels]).mean()

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
