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

pytestmark = pytest.mark.slow

SINGLE = {"full": "hyperband", "asha": "asha", "rs2": "hyperband", "s3": "sha"}
SCREENS = {"horizon_exponent": [0, 0.5], "screen_metric": "log_loss", "finalists": 3}
RUNGS = {"u6": {0.1: 3, 0.3333: 2}, "u7": {0.1: 3, 0.25: 2, 0.5: 1}}
HEDGES = {method: SCREENS | {"finalist_rungs": rungs} for method, rungs in RUNGS.items()}


class Curve:
    """A recorded training, which a refit takes for a training run."""

    def __init__(self, points, rows):
        self.points = {int(epoch): point for epoch, point in points.items()}
        self.rows, self.progress, self.state = rows, Progress(), dict

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


def searched(job, curves):
    """Return the search in which trial i trains as `curves[i]` says."""

    def score(trial, epoch):
        found = curves[trial.index].at(epoch)
        metric = job.settings.protocol.screen_metric or "accuracy"
        return found.score(metric) if math.isfinite(found.loss) else math.nan

    return simulate(search_of(job), score)


def hedged(job, curves, fresh, file):
    """Return the choice after both screens, and the samples of all trainings."""
    found, trials = searched(job, curves), []
    for it in found.trials:
        progress = Progress(evaluations=[curves[it.index].at(it.epoch)], metric="log_loss")
        number = it.index % job.settings.protocol.configurations
        own = {"configuration": {"trial": number}, "status": found.status(it)}
        trials.append(Trial(index=it.index, rungs=it.rungs, progress=progress, **own))
    tuning = Tuning(segments=[], trials=trials, best=found.best)
    meter = nullcontext()
    meter.measurement, meter.so_far = Measurement.model_construct(), Measurement.model_construct
    context = SimpleNamespace(job=job, meter=lambda: meter)
    context.training_run = lambda configuration, plan: fresh[configuration["trial"]]
    model = refit(context, best_trials(tuning, job.settings.protocol), file, str(file))[1]
    ends = [(curves[it.index], it.epoch) for it in found.trials]
    ends += [(it, it.progress.epochs) for it in fresh.values() if it.progress.epochs]
    best = next(trial for trial, it in fresh.items() if it is model)
    return best, sum(curve.points[epoch][2] for curve, epoch in ends)


@pytest.mark.parametrize("name", PANELS)
def test_choices_samples_and_test_rows_are_those_of_the_runner(name, tmp_path):
    """A failure names rules and searches only: nobody looks before all searches are done."""
    panel, differ = read(RESULTS, name), []
    for (size, number), line in panel.lines.items():
        few, rows, facts = size // CONFIGURATIONS, line["validation_rows"], {}
        members = [panel.lines[CONFIGURATIONS, number * few + it] for it in range(few)]
        full, plain, high = (
            [Curve(points, rows) for member in members for points in member["curves"][way]]
            for way in ("full", "rs2-0", "rs2-0.5")
        )
        last = max(full[0].points)
        for method, choice in line["methods"].items():
            trial, of_size = choice["trial"], (size, last)
            facts[method, "rows"] = panel.right(method, size, number).sum() == (
                line["fresh_test_right"][str(trial)]
                if choice["fresh"]
                else members[trial // CONFIGURATIONS]["test_right"][trial % CONFIGURATIONS]
            )
            fresh = {int(key): Curve(points, rows) for key, points in line["fresh"].items()}
            if method in SINGLE:
                curves, selector = (plain, "rs2") if method == "rs2" else (full, "full")
                search = searched(job_of(*of_size, SINGLE[method], selector), curves)
                facts[method, "choice"] = search.best == trial
            if method == "s3":  # the runner trains the last three afresh
                last_three = sorted(it.index for it in search.trials if it.epoch == last)
                best = max(last_three, key=lambda it, of=fresh: of[it].at(last).accuracy)
                ends = [
                    (full if it.epoch < last else fresh)[it.index].points[it.epoch]
                    for it in search.trials
                ]
                found = best, sum(point[2] for point in ends)
                facts[method, "choice"] = found == (trial, choice["samples"])
            if method in HEDGES:
                job = job_of(*of_size, "hyperband", "rs2", **HEDGES[method])
                found = hedged(job, plain + high, fresh, tmp_path / f"{size}-{number}-{method}")
                facts[method, "choice and samples"] = found == (trial, choice["samples"])
        differ += [(size, number, *rule) for rule, agrees in facts.items() if not agrees]
    assert differ == []
