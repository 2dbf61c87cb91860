"""Training of those words alone that a subset has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from automata.datasets.prepared import PADDING, UNKNOWN

WORTHWHILE = 0.7
"""Largest share of the table at which a small copy of it pays."""


class WorkingVocabulary:
    """Lets a word table and its optimizer's state be small while a subset is trained on.

    An optimizer reads and writes the whole table in each step, though a step changes only
    the words that have had a gradient by now: those of earlier subsets too, as their moments
    live on. All others have moments of zero and stay as they are, so that leaving them out
    changes nothing but the last bit of a rounding.
    """

    def __init__(self, table: nn.Embedding, optimizer: Optimizer) -> None:
        """Take the `optimizer` of `build_optimizer` that `table` is a part of."""
        self._weight = table.weight
        self._optimizer = optimizer
        # Decay moves every word, gradient or not.
        self._useful = not any(group["weight_decay"] for group in optimizer.param_groups)
        self._trained: Tensor | None = None

    def forget(self) -> None:
        """Look up in the optimizer's state, when next asked, which words were trained."""
        self._trained = None

    @contextmanager
    def restricted_to(self, words: Tensor) -> Iterator[Tensor | None]:
        """Keep but the rows of `words` and those trained before, inside the context.

        Yields (rows of the table,) the new number of each word, or None where all stay.

        Args:
            words: word numbers, of any shape, repeated or not.
        """
        if not self._useful:
            yield None
            return
        size = len(self._weight)
        rows = self._trained = self._rows(words)
        if len(rows) > WORTHWHILE * size:
            yield None
            return
        numbers = torch.zeros(size, dtype=torch.int64, device=rows.device)
        numbers[rows] = torch.arange(len(rows), device=rows.device)
        whole = self._weight.data
        state = self._optimizer.state
        moments = self._moments()
        self._weight.data = whole[rows]
        self._weight.grad = None
        if moments:
            state[self._weight].update({name: whole_[rows] for name, whole_ in moments.items()})
        try:
            yield numbers
        finally:
            for name, part in self._moments().items():
                moment = moments.get(name)
                moment = torch.zeros_like(whole) if moment is None else moment
                moment[rows] = part
                state[self._weight][name] = moment
            whole[rows] = self._weight.data
            self._weight.data = whole
            self._weight.grad = None

    def _rows(self, words: Tensor) -> Tensor:
        """Return the rows that may change, in order; the two that are no words come first."""
        fixed = torch.tensor([PADDING, UNKNOWN], device=words.device)
        before = self._moved() if self._trained is None else self._trained
        rows: Tensor = torch.cat([fixed, before, words.flatten().long()]).unique()
        return rows

    def _moved(self) -> Tensor:
        """Return the rows with a moment that is not zero."""
        moved = torch.zeros(len(self._weight), dtype=torch.bool, device=self._weight.device)
        for moment in self._moments().values():
            moved |= (moment != 0).any(dim=1)
        return moved.nonzero()[:, 0]

    def _moments(self) -> dict[str, Tensor]:
        """Return those parts of the table's state that have its shape."""
        state = self._optimizer.state.get(self._weight, {})
        return {
            name: value
            for name, value in state.items()
            if isinstance(value, Tensor) and value.shape == self._weight.shape
        }
