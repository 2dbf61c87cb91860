"""The package chooses what the runner of the study chose, on all its published searches.

The recorded curves go through `Search`, `best_trials` and `refit`. Nothing is trained.
"""

import math
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from automata.config.job import Job
from automata.metering.measurement import Measurement
from automata.records import Trial, Tuning
from automata.training.progress import Evaluation, Progress
from automata.tuning.refit import best_trials, refit
from automata.tuning.search import search_of
from benchmarks.study.searches import CONFIGURATIONS, PANELS, RESULTS, read
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
    """A recorded training, which a refit takes for a training run."""

    def __init__(self, points, rows):
        self.points = {int(epoch): point for epoch, point in points.items()}
        self.rows, self.progress, self.state = rows, Progress(), dict
        self.model, self.weights = SimpleNamespace(load_state_dict=lambda weights: None), None

    def at(self, epoch):
        right, loss, *_ = self.points[epoch]
        loss = math.inf if loss is None else loss
        return Evaluation(epoch=epoch, accuracy=right / self.rows, loss=loss, finished_at=0)

    def train_to(self, epoch):
        self.progress.epochs = epoch

    def evaluate(self):
        self.progress.evaluations.append(self.at(self.progress.epochs))


def job_of(size, epochs, scheduler, selector, **keys):
    run = {"dataset": "dna", "search": "random", "scheduler": scheduler, "selector": selector}
    run |= {"fraction": 1 if selector == "full" else 0.01, "seed": 0}
    protocol = {"model": "mlp", "configurations": size, "epochs": epochs, "reselect_every": 2}
    protocol |= {"search_space": {"learning_rate": {"uniform": [0.1, 1]}}, **keys}
    rungs = {"sha": {"rungs": {0.02: 9, 0.1: 5, 0.3333: 3}}}
    return Job.model_validate({"run": run, "settings": {"protocol": protocol, "scheduler": rungs}})


def refitted(job, found, curves, fresh, file):
    """Return which of the `fresh` trainings is the model after the simulated search `found`."""
    trials = []
    for it in found.trials:
        progress = Progress(evaluations=[curves[it.index].at(it.epoch)], metric="log_loss")
        number = it.index % job.settings.protocol.configurations
        own = {"configuration": {"trial": number}, "status": found.status(it)}
        trials.append(Trial(index=it.index, rungs=it.rungs, progress=progress, **own))
    meter = nullcontext()
    meter.measurement, meter.so_far = Measurement.model_construct(), Measurement.model_construct
    context = SimpleNamespace(job=job, meter=lambda: meter)
    context.training_run = lambda configuration, plan: fresh[configuration["trial"]]
    tuning = Tuning(segments=[], trials=trials, best=found.best)
    _, model = refit(context, best_trials(tuning, job.settings.protocol), file, str(file))
    return next(trial for trial, it in fresh.items() if it is model)


def replayed(method, line, members, file):
    """Return the choice, and the samples of its trainings up to where each of them ended."""
    scheduler, ways, keys = METHODS[method]
    rows = line["validation_rows"]
    curves = [Curve(it, rows) for way in ways for of in members for it in of["curves"][way]]
    fresh = {int(trial): Curve(points, rows) for trial, points in line["fresh"].items()}
    last, selector = max(curves[0].points), "full" if ways == ["full"] else "rs2"
    job = job_of(line["size"], last, scheduler, selector, **keys)

    def score(trial, epoch):
        found = curves[trial.index].at(epoch)
        metric = job.settings.protocol.screen_metric or "accuracy"
        return found.score(metric) if math.isfinite(found.loss) else math.nan

    found = simulate(search_of(job), score)
    best, ends = found.best, {curves[it.index]: it.epoch for it in found.trials}
    if method == "s3":  # the runner trains the last three afresh
        three = sorted(it.index for it in found.trials if it.epoch == last)
        best = max(three, key=lambda trial: fresh[trial].at(last).accuracy)
        ends = {it: end for it, end in ends.items() if end < last}
        ends |= dict.fromkeys((fresh[trial] for trial in three), last)
    if keys:
        best = refitted(job, found, curves, fresh, file)
        ends |= {it: it.progress.epochs for it in fresh.values() if it.progress.epochs}
    return best, sum(curve.points[end][2] for curve, end in ends.items())


@pytest.mark.slow
@pytest.mark.parametrize("name", PANELS)
def test_choices_samples_and_test_rows_are_those_of_the_runner(name, tmp_path):
    """A failure names methods and searches only: nobody looks before all searches are done."""
    panel, differ = read(RESULTS, name), []
    for (size, number), line in panel.lines.items():
        few, fresh = size // CONFIGURATIONS, line["fresh_test_right"]
        members = [panel.lines[CONFIGURATIONS, number * few + it] for it in range(few)]
        whole = [right for member in members for right in member["test_right"]]
        for method, choice in line["methods"].items():
            right = fresh[str(choice["trial"])] if choice["fresh"] else whole[choice["trial"]]
            if panel.right(method, size, number).sum() != right:
                differ.append((size, number, method, "test rows"))
            if method in METHODS:
                file = tmp_path / f"{size}-{number}-{method}"
                best, samples = replayed(method, line, members, file)
                agrees = not choice["fresh"] or samples == choice["samples"]
                if best != choice["trial"] or not agrees:
                    differ.append((size, number, method))
    assert differ == []
