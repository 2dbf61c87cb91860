"""The trials of a record in a plain loop: one process, no Ray, no search, no scheduler.

Arguments: start of the process, file for the laps, record, data. Every trial trains to the
rungs that it reached in the job, and is evaluated there; then the final training and the test.
"""

# ruff: noqa: E402  (the benchmark measures imports)
from __future__ import annotations

import gc
import sys
from pathlib import Path

from benchmarks.overhead.stopwatch import Stopwatch

watch = Stopwatch(float(sys.argv[1]))
watch.lap("interpreter")


import torch  # noqa: F401

watch.lap("import torch")

from automata.datasets.prepared import read_dataset
from automata.records import Trial, read_record
from automata.seeds import derive
from automata.selection.random import Full
from automata.training.device import choose_device, take_device
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan, subset_plan
from automata.training.threads import limit_threads

watch.lap("import automata, ray.tune")


def main() -> None:
    record = read_record(Path(sys.argv[3]))
    job, settings = record.job, record.job.settings
    limit_threads(settings.compute.threads_per_trial)
    dataset = read_dataset(Path(sys.argv[4]))
    device = take_device(choose_device(settings.compute, dataset.kind))
    watch.lap("data, checks, lock")

    def build(trial: Trial, plan: SubsetPlan) -> TrainingRun:
        seed = derive(job.run.seed, "training")
        protocol = settings.protocol
        compute = settings.compute
        return TrainingRun(dataset, trial.configuration, protocol, plan, seed, device, compute)

    gc.freeze()  # as in the job
    for trial in record.tuning.trials:
        run = build(trial, subset_plan(job, trial.index))
        for report in trial.progress.evaluations:
            run.train_to(report.epoch)
            run.evaluate()
        check(trial, run)
    watch.lap("window")
    if record.final is not None:
        final = build(record.best, SubsetPlan(Full(), 1.0))
        final.train_to(settings.protocol.epochs)
        evaluate(final.model, final.data.test)
    watch.lap("final training, test")
    watch.write(Path(sys.argv[2]))


def check(trial: Trial, run: TrainingRun) -> None:
    """Raise RuntimeError if the losses of the loop and the job differ."""
    if run.progress.training_loss != trial.progress.training_loss:
        raise RuntimeError(f"trial {trial.index} has other losses than in the job")


if __name__ == "__main__":
    main()
    gc.freeze()
