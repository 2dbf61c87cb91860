"""The refit trains the best configuration on all data, in a measured window of its own.

After a kill it resumes from its checkpoint, which has all finalists and the measurement so far.
"""

from __future__ import annotations

import json
import logging
import math
import platform
from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from pathlib import Path

from automata.config.protocol import Protocol
from automata.metering.measurement import Measurement
from automata.records import Finalist, FinalTraining, Segment, Trial, Tuning
from automata.selection.random import Full
from automata.training.progress import WORST_SCORE
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan
from automata.tuning.context import JobContext
from automata.tuning.schedulers import rungs_below
from automata.tuning.work import CheckpointPolicy, read_checkpoint, write_checkpoint

logger = logging.getLogger(__name__)

ALL_DATA = SubsetPlan(Full(), fraction=1.0)


def best_trials(tuning: Tuning, protocol: Protocol) -> list[Trial]:
    """Return the finalists: the best trials of the first screen, then the new ones of the next.

    A screen has the best `protocol.finalists` by last score, or fewer: diverged trials and repeated
    configurations do not count. The earlier trial wins a tie.
    """

    def screen(trial: Trial) -> int:
        return trial.index // protocol.configurations

    trials = [trial for trial in tuning.trials if trial.status != "failed"]
    # An own scheduler may call a trial the best that has not the highest score.
    trials.sort(
        key=lambda it: (screen(it), it.index != tuning.best, -it.progress.standing, it.index)
    )
    screens = [_different(ranked)[: protocol.finalists] for _, ranked in groupby(trials, screen)]
    return _different(chain.from_iterable(screens))


def _different(trials: Iterable[Trial]) -> list[Trial]:
    """Return the first trial of each configuration."""
    firsts: dict[str, Trial] = {}
    for trial in trials:
        firsts.setdefault(json.dumps(trial.configuration, sort_keys=True), trial)
    return [*firsts.values()]


def refit(
    context: JobContext, finalists: Sequence[Trial], file: Path, key: str
) -> tuple[FinalTraining, TrainingRun]:
    """Train the `finalists` of a search until one of them is left at T epochs.

    At each of `finalist_rungs` those with the best validation scores stay; the earlier wins a tie.
    After an epoch all runs go to `file`, if that pays; a refit with the same `key` resumes from it.
    """
    runs = {trial.index: context.training_run(trial.configuration, ALL_DATA) for trial in finalists}
    segments: list[Segment] = []
    checkpoint = read_checkpoint(file)
    if checkpoint is not None and checkpoint["key"] == key:
        for run, state in zip(runs.values(), checkpoint["runs"], strict=True):
            run.restore(state)
        segments = [Segment.model_validate_json(segment) for segment in checkpoint["segments"]]
        logger.info("the refit resumes")
    meter, policy = context.meter(), CheckpointPolicy()
    protocol = context.job.settings.protocol
    epochs = protocol.epochs

    def with_this(measurement: Measurement) -> list[Segment]:
        return [*segments, Segment(host=platform.node(), measurement=measurement)]

    def write() -> None:
        so_far = with_this(meter.so_far())
        state = {
            "key": key,
            "runs": [run.state() for run in runs.values()],
            "segments": [segment.model_dump_json() for segment in so_far],
        }
        write_checkpoint(file, state)

    alive = [*runs]
    with meter:
        for rung, left in {**rungs_below(epochs, protocol.finalist_rungs), epochs: 1}.items():
            scores = {}
            for trial in alive:
                run = runs[trial]
                for epoch in range(run.progress.epochs + 1, rung + 1):
                    run.train_to(epoch)
                    if epoch < epochs:
                        seconds = sum(run.progress.seconds.total for run in runs.values())
                        policy.write(0, seconds, write)
                scores[trial] = _score_at(run, rung) if len(alive) > 1 else 0.0
            stay = sorted(alive, key=lambda trial: -scores[trial])[:left]
            alive = [trial for trial in alive if trial in stay]
        (best,) = alive
    progress = runs[best].progress
    runs[best].model.load_state_dict(runs[best].weights)
    if progress.failure is not None:
        logger.warning("the refit diverged: %s", progress.failure)
    training = FinalTraining(
        segments=with_this(meter.measurement),
        progress=progress,
        trial=best if len(runs) > 1 else None,
        lost=[Finalist(trial=i, progress=run.progress) for i, run in runs.items() if i != best],
    )
    return training, runs[best]


def _score_at(run: TrainingRun, rung: int) -> float:
    """Return the validation score after `rung` epochs; the worst score after a divergence.

    A resumed run may be evaluated there already, or have trained further. One that is out of
    patience has trained less, and its score is that of its best epoch.
    """
    progress = run.progress
    epoch = rung if progress.failure is not None else min(rung, progress.epochs)
    seen = {evaluation.epoch: evaluation for evaluation in progress.evaluations}
    if progress.epochs == epoch and progress.failure is None and epoch not in seen:
        run.evaluate()
        seen[epoch] = progress.evaluations[-1]
    finite = epoch in seen and math.isfinite(seen[epoch].loss)
    return progress.standing_at(seen[epoch]) if finite else WORST_SCORE
