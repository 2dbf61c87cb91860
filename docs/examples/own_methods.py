"""A selector, a search and a scheduler of your own."""

import numpy as np
import torch
from ray.tune.search.optuna import OptunaSearch

from automata.search.schedulers import Scheduler, Verdict
from automata.selection.problem import Cadence, weighted_subset
from automata.tuning.searchers import domains


class HighestLoss:
    """The mini-batches with the highest mean loss, chosen anew every R epochs."""

    cadence = Cadence.EVERY_INTERVAL

    def select(self, problem):
        """Return a subset of exactly `problem.budget` rows, with equal weights."""
        layer, candidates = problem.training(), problem.partition()
        losses = layer.criterion.of_rows(layer.logits, layer.labels).cpu()
        means = torch.stack([losses[batch].mean() for batch in candidates])
        chosen = means.argsort(descending=True, stable=True)[: problem.batch_budget]
        return weighted_subset(problem, candidates, chosen, torch.ones(len(chosen)))


class Optuna(OptunaSearch):
    """Optuna's default sampler, through Ray Tune."""

    uninformed = 0  # each proposal may use all results before it

    def __init__(self, space, settings, seed):
        """Take the search space of the configuration, `search` of it, and the seed of the run."""
        space = OptunaSearch.convert_search_space(domains(space))
        super().__init__(space, metric="score", mode="max", seed=seed)


class MedianStopping(Scheduler):
    """A trial ends at T/4 or T/2 if its score is below the median of those before it there."""

    def __init__(self, configurations, epochs, settings):
        """Take configurations n, epochs T, and `scheduler` of the configuration."""
        self.epochs = sorted({max(1, epochs // 4), max(1, epochs // 2), epochs})

    def rungs(self, trial):
        """Return the epochs at which a trial is judged; the last is T."""
        return self.epochs

    def judge(self, results):
        """Return the decision about the trial with the latest result."""
        latest = results[-1]
        earlier = [r.score for r in results[:-1] if r.epoch == latest.epoch]
        poor = bool(earlier) and latest.score < np.median(earlier)
        if poor or latest.epoch == self.epochs[-1]:
            return Verdict(ends=[latest.trial])
        return Verdict(goes_on=[latest.trial])
