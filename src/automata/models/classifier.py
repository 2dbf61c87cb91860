"""What training and selection need of a model."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import cross_entropy


class Classifier(nn.Module):
    """A network whose last layer is linear: logits = head(features(inputs)).

    Selection reads gradients of the last layer alone (paper, section on per-batch subset
    selection; Killamsetty et al., GRAD-MATCH), hence the split.
    """

    head: nn.Linear
    evaluation_rows: int = 4096
    """Rows of one forward pass without gradients: large enough to be cheap, small enough for
    memory."""

    @property
    def word_table(self) -> nn.Embedding | None:
        """The table of which the inputs are row numbers and nothing else, if there is one."""
        return None

    def parameter_groups(self) -> dict[str, list[nn.Parameter]]:
        """Return name of the hyper-parameter that is the group's learning rate -> its parameters.

        Together the groups hold every parameter exactly once.
        """
        return {"learning_rate": list(self.parameters())}

    def features(self, inputs: Tensor) -> Tensor:
        """Return the input of the last layer: (n, ...) -> (n, h)."""
        raise NotImplementedError

    def forward(self, inputs: Tensor) -> Tensor:
        """Return logits: (n, ...) -> (n, classes)."""
        logits: Tensor = self.head(self.features(inputs))
        return logits

    def backward(self, inputs: Tensor, labels: Tensor, weight: float) -> Tensor:
        """Set every parameter's gradient to that of `weight` times the mean cross-entropy.

        By automatic differentiation; a model may know a faster way.

        Args:
            inputs: (n, ...), as `features` takes them.
            labels: (n,) int64.
            weight: factor of the loss.

        Returns:
            The weighted loss, a scalar on the device of `inputs`.
        """
        self.zero_grad(set_to_none=True)
        loss = cross_entropy(self(inputs), labels) * weight
        loss.backward()
        return loss.detach()
