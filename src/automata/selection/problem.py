"""The problem that a selector solves, and the subset that it returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

import torch
from torch import Tensor

from automata.seeds import derive
from automata.selection.embeddings import LastLayer


class Cadence(Enum):
    """When a training run asks its selector for a subset."""

    ONCE = "at the start"
    EVERY_EPOCH = "before every epoch"
    EVERY_INTERVAL = "every R epochs, after a random first subset (paper, Algorithm 2)"


@dataclass(frozen=True)
class Subset:
    """The mini-batches to train on."""

    batches: list[Tensor]
    """Row numbers of the training set, on the host, each at most once."""
    weights: Tensor
    """Factor of each mini-batch's loss; the mean is 1."""
    random_fill: int = 0
    """Mini-batches that were added at random, because the solver chose too few."""

    @property
    def samples(self) -> int:
        """Rows in all."""
        return sum(len(batch) for batch in self.batches)


@dataclass(frozen=True)
class SelectionProblem:
    """One selection: the size of the data, the budget, the seed, and access to the model."""

    rows: int
    budget: int
    batch_size: int
    seed: int
    draw: int
    """Number of earlier subsets of the training run; random streams need it, selectors no state."""
    training: Callable[[], LastLayer]
    """Makes a forward pass over all rows of the training split, with the model as it is now."""
    validation: Callable[[], LastLayer]
    """The same of the validation split."""
    learning_rate: float
    """That of the last layer, now."""

    @property
    def size(self) -> int:
        """Rows per mini-batch: the batch size, or the whole budget if that is less."""
        return min(self.batch_size, self.budget)

    @property
    def batch_budget(self) -> int:
        """Number of mini-batches that hold the budget; the last may be cut."""
        return math.ceil(self.budget / self.size)

    def with_budget(self, budget: int) -> SelectionProblem:
        """Return this problem with a smaller budget and mini-batches of the same size."""
        return replace(self, budget=budget, batch_size=self.size)

    def partition(self) -> list[Tensor]:
        """Return the candidates: all rows in mini-batches, the same at every draw."""
        return list(self.permutation("partition").split(self.size))

    def permutation(self, *stream: str | int) -> Tensor:
        """Return a random order of all rows from the stream of that name."""
        return torch.randperm(self.rows, generator=self.generator(*stream))

    def generator(self, *stream: str | int) -> torch.Generator:
        """Return a CPU generator for the stream of that name."""
        return torch.Generator().manual_seed(derive(self.seed, "selection", *stream))


class Selector(Protocol):
    """Chooses the mini-batches to train on; stateless, seeded by its problem."""

    cadence: Cadence

    def select(self, problem: SelectionProblem) -> Subset:
        """Return a subset of `problem.budget` rows; a selector that adapts may take fewer."""
        ...


def subset_size(rows: int, fraction: float) -> int:
    """Return k, the rows of a subset: the nearest whole number, at least 1."""
    return max(1, round(fraction * rows))


def random_subset(problem: SelectionProblem, *stream: str | int) -> Subset:
    """Return a subset of random rows in random mini-batches, with equal weights."""
    rows = problem.permutation(*stream)[: problem.budget]
    return uniform(list(rows.split(problem.size)))


def uniform(batches: list[Tensor]) -> Subset:
    """Return `batches` as a subset with equal weights."""
    return Subset(batches, torch.ones(len(batches)))


def without_lone_rows(subset: Subset) -> Subset:
    """Return `subset` with a mini-batch of a single row joined to another one.

    Batch normalisation has no variance to divide by in such a batch. Weights keep mean 1.
    """
    sizes = [len(batch) for batch in subset.batches]
    if 1 not in sizes or len(sizes) == 1:
        return subset
    lone = sizes.index(1)
    keep = [place for place in range(len(sizes)) if place != lone]
    batches = [subset.batches[place] for place in keep]
    batches[0] = torch.cat([batches[0], subset.batches[lone]])
    weights = subset.weights[keep]
    return without_lone_rows(Subset(batches, weights / weights.mean(), subset.random_fill))


def weighted_subset(
    problem: SelectionProblem, candidates: list[Tensor], chosen: Tensor, weights: Tensor
) -> Subset:
    """Return a subset of exactly the budget, in as few mini-batches as possible, of mean weight 1.

    If `chosen` are too few, random candidates join with the mean weight. The last mini-batch is cut
    to fit. A candidate that is shorter than the others comes last, and random rows fill it.
    """
    order, values = chosen.tolist(), weights.tolist()
    fill = _unused(problem, len(candidates), set(order))[: problem.batch_budget - len(order)]
    values += [sum(values) / len(values) if values else 1.0] * len(fill)
    members = sorted(
        zip([*order, *fill], values, strict=True),
        key=lambda member: len(candidates[member[0]]) < problem.size,
    )
    batches = [candidates[index] for index, _ in members]
    last = problem.budget - problem.size * (problem.batch_budget - 1)
    batches[-1] = batches[-1][:last]
    if len(batches[-1]) < last:
        spare = _other_rows(problem, batches)[: last - len(batches[-1])]
        batches[-1] = torch.cat([batches[-1], spare])
    final = torch.tensor([value for _, value in members], dtype=torch.float64)
    return Subset(batches, (final / final.mean()).float(), len(fill))


def _unused(problem: SelectionProblem, candidates: int, taken: set[int]) -> list[int]:
    """Return the candidates that are not taken, in a random order."""
    order = torch.randperm(candidates, generator=problem.generator("fill", problem.draw))
    return [index for index in order.tolist() if index not in taken]


def _other_rows(problem: SelectionProblem, batches: list[Tensor]) -> Tensor:
    """Return the rows that are in none of `batches`, in a random order."""
    order = problem.permutation("spare rows", problem.draw)
    return order[~torch.isin(order, torch.cat(batches))]
