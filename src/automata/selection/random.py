"""Selectors that look at no gradient."""

from __future__ import annotations

from automata.selection.problem import Cadence, SelectionProblem, Subset, random_subset, uniform


class FixedRandom:
    """One random subset for the whole training run: what the authors' code ran as RANDOM."""

    cadence = Cadence.ONCE

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the same random subset at every draw."""
        return random_subset(problem, "random")


class AdaptiveRandom:
    """A new random subset at every re-selection: what the paper's text says of RANDOM."""

    cadence = Cadence.EVERY_INTERVAL

    def select(self, problem: SelectionProblem) -> Subset:
        """Return a random subset, another one at each draw."""
        return random_subset(problem, "adaptive-random", problem.draw)


class RepeatedRandom:
    """RS2 without replacement (Okanovic et al., arXiv 2305.18424): new rows every epoch.

    A random order of all rows is used up budget by budget, then drawn anew; a rest smaller
    than the budget is left out, as in the paper.
    """

    cadence = Cadence.EVERY_EPOCH

    def select(self, problem: SelectionProblem) -> Subset:
        """Return the next `budget` rows of the current random order."""
        order, turn = divmod(problem.draw, problem.rows // problem.budget)
        start = turn * problem.budget
        rows = problem.permutation("rs2", order)[start : start + problem.budget]
        return uniform(list(rows.split(problem.size)))


class Full(RepeatedRandom):
    """All rows, in a new random order every epoch: RS2 with a budget of everything."""
