"""The package chooses what the runner of the study chose, on all its published searches.

The recorded curves go through `Search`, `best_trials` and `FinalSearch`. Nothing is trained.
"""

import math

import pytest

from automata.config.job import Job
from automata.records.progress import Evaluation, Progress
from automata.records.record import Trial, Tuning
from automata.search.finalists import FinalSearch, best_trials
from automata.search.search import search_of
from studies.hedge.searches import CONFIGURATIONS, PANELS, read
from support.simulated import simulate

HEDGE = {"horizon_exponent": [0, 0.5], "screen_metric": "log_loss", "finalists": 3}
METHODS = {  # method: scheduler, curves of its trials, keys of the protocol
    "full": ("hyperband", ["full"], {}),
    "asha": ("asha", ["full"], {}),
    "s3": ("sha", ["full"], {}),
    "rs2": ("hyperband", ["rs2-0"], {}),
    "u6": ("hyperband", ["rs2-0", "rs2-0.5"], {"finalist_rungs": {0.1: 3, 0.3333: 2}, **HEDGE}),
    "u7": (
        "hyperband",
        ["rs2-0", "rs2-0.5"],
        {"finalist_rungs": {0.1: 3, 0.25: 2, 0.5: 1}, **HEDGE},
    ),
}


class Curve:
    """A recorded training."""

    def __init__(self, points, rows):
        self.points = {int(epoch): point for epoch, point in points.items()}
        self.rows = rows

    def at(self, epoch):
        right, loss, *_ = self.points[epoch]
        loss = math.inf if loss is None else loss
        return Evaluation(epoch=epoch, accuracy=right / self.rows, loss=loss, finished_at=0)

    def score(self, epoch, metric):
        found = self.at(epoch)
        return found.score(metric) if math.isfinite(found.loss) else math.nan


def job_of(size, epochs, scheduler, selector, **keys):
    run = {"dataset": "dna", "search": "random", "scheduler": scheduler, "selector": selector}
    run |= {"fraction": 1 if selector == "full" else 0.01, "seed": 0}
    protocol = {"model": "mlp", "configurations": size, "epochs": epochs, "reselect_every": 2}
    protocol |= {"search_space": {"learning_rate": {"uniform": [0.1, 1]}}, **keys}
    rungs = {"sha": {"rungs": {0.02: 9, 0.1: 5, 0.3333: 3}}}
    return Job.model_validate({"run": run, "settings": {"protocol": protocol, "scheduler": rungs}})


def finalists_of(found, curves, protocol):
    """Return which configurations the simulated search `found` sends to the final training."""
    trials = []
    for it in found.trials:
        progress = Progress(evaluations=[curves[it.index].at(it.epoch)], metric="log_loss")
        own = {"configuration": {"trial": it.index % protocol.configurations}}
        own |= {"status": found.status(it), "progress": progress}
        trials.append(Trial(index=it.index, rungs=it.rungs, **own))
    tuning = Tuning(segments=[], trials=trials, best=found.best)
    return [trial.configuration["trial"] for trial in best_trials(tuning, protocol)]


def replayed(method, line, members):
    """Return the choice, and the samples of its trainings up to where each of them ended."""
    scheduler, ways, keys = METHODS[method]
    rows = line["validation_rows"]
    curves = [Curve(it, rows) for way in ways for of in members for it in of["curves"][way]]
    fresh = {int(trial): Curve(points, rows) for trial, points in line["fresh"].items()}
    last, selector = max(curves[0].points), "full" if ways == ["full"] else "rs2"
    job = job_of(line["size"], last, scheduler, selector, **keys)
    protocol = job.settings.protocol
    metric = protocol.screen_metric or "accuracy"
    found = simulate(search_of(job), lambda it, epoch: curves[it.index].score(epoch, metric))
    best, ends = found.best, {curves[it.index]: it.epoch for it in found.trials}
    if method == "s3":  # the runner trains the last three afresh
        three = sorted(it.index for it in found.trials if it.epoch == last)
        best = max(three, key=lambda trial: fresh[trial].at(last).accuracy)
        ends = {it: end for it, end in ends.items() if end < last}
        ends |= dict.fromkeys((fresh[trial] for trial in three), last)
    if keys:
        numbers = finalists_of(found, curves, protocol)
        final = FinalSearch([{"trial": number} for number in numbers], protocol, slots=1)
        runs = [fresh[number] for number in numbers]
        found = simulate(final, lambda it, epoch: runs[it.index].score(epoch, "accuracy"))
        best = numbers[found.best]
        ends |= {runs[it.index]: it.epoch for it in found.trials}
    return best, sum(curve.points[end][2] for curve, end in ends.items())


@pytest.mark.slow
@pytest.mark.parametrize("name", PANELS)
def test_choices_samples_and_test_rows_are_those_of_the_runner(name):
    """A failure names methods and searches only: nobody looks before all searches are done."""
    panel, differ = read(name), []
    for (size, number), line in panel.lines.items():
        few, fresh = size // CONFIGURATIONS, line["fresh_test_right"]
        members = [panel.lines[CONFIGURATIONS, number * few + it] for it in range(few)]
        whole = [right for member in members for right in member["test_right"]]
        for method, choice in line["methods"].items():
            right = fresh[str(choice["trial"])] if choice["fresh"] else whole[choice["trial"]]
            if panel.right(method, size, number).sum() != right:
                differ.append((size, number, method, "test rows"))
            if method in METHODS:
                best, samples = replayed(method, line, members)
                agrees = not choice["fresh"] or samples == choice["samples"]
                if best != choice["trial"] or not agrees:
                    differ.append((size, number, method))
    assert differ == []
