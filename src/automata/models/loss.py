"""The training loss, and its gradient at the logits: the only definition of both."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy


class CrossEntropy(nn.Module):
    """The mean over rows of the cross-entropy, each row times the weight of its class.

    The loss of a row with logits z is -w sum_c t_c log softmax(z)_c, with its targets t.
    """

    class_weights: Tensor | None

    def __init__(self, class_weights: Tensor | None = None) -> None:
        """Take a weight for each class (classes,); None if all classes count the same."""
        super().__init__()
        self.register_buffer("class_weights", class_weights, persistent=False)

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the mean loss of rows with logits (n, classes) and labels (n,) int64."""
        if self.class_weights is None:
            return cross_entropy(logits, labels)
        return self.of_rows(logits, labels).mean()

    def of_rows(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of each row: (n,)."""
        losses = cross_entropy(logits, labels, reduction="none")
        return losses if self.class_weights is None else losses * self.class_weights[labels]

    def targets(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the target probabilities t of each row: (n, classes)."""
        return torch.zeros_like(logits).scatter_(1, labels[:, None], 1.0)

    def residuals(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Return the gradient w (softmax(z) - t) of each row's loss at its logits: (n, classes)."""
        residuals = torch.softmax(logits, dim=1).sub_(self.targets(logits, labels))
        if self.class_weights is not None:
            residuals *= self.class_weights[labels, None]
        return residuals

    def unweighted(self, logits: Tensor) -> Tensor:
        """Return logits (n, classes) whose probabilities follow the shares of the training rows.

        Class weights train a model as if these shares were others (Saerens et al., 2002, eq. 4).
        """
        return logits if self.class_weights is None else logits - self.class_weights.log()
