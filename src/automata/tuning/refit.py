"""The refit: the best configuration trained on all data, measured, and resumed if interrupted."""

from __future__ import annotations

import logging
import math
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from automata.config.job import Settings
from automata.metering.measurement import Measurement
from automata.metering.meter import Meter
from automata.records import Finalist, FinalTraining, Segment
from automata.training.device import gpus_in_use
from automata.training.progress import WORST_SCORE
from automata.training.run import TrainingRun
from automata.tuning.checkpoints import CheckpointPolicy, read_checkpoint, write_checkpoint
from automata.tuning.schedulers import finalist_rungs

logger = logging.getLogger(__name__)


class Refit(NamedTuple):
    """The chosen configuration, trained."""

    training: FinalTraining
    run: TrainingRun


def refit(runs: Mapping[int, TrainingRun], settings: Settings, file: Path, key: str) -> Refit:
    """Train the finalists of a search, by their trials and the best first, until one has T epochs.

    A single one trains to T at once. Of several the best two go on after round(T/4) epochs, and
    the best after round(T/2), by their validation score; the better trial wins a tie. What is
    done is in the checkpoint `file`: one with the same `key` is gone on from. It is written
    between epochs, together with what was measured up to there.
    """
    metering = settings.metering
    segments: list[Segment] = []
    kept = read_checkpoint(file)
    if kept is not None and kept["key"] == key:
        for run, state in zip(runs.values(), kept["runs"], strict=True):
            run.restore(state)
        segments = [Segment.model_validate_json(segment) for segment in kept["segments"]]
        logger.info("the refit goes on")
    device = next(iter(runs.values())).device
    meter = Meter(
        sample_seconds=metering.sample_seconds,
        gpus=gpus_in_use(device),
        exclusive=metering.exclusive,
    )

    def write() -> None:
        account = [*segments, _segment(meter.so_far())]
        state = {
            "key": key,
            "runs": [run.state() for run in runs.values()],
            "segments": [segment.model_dump_json() for segment in account],
        }
        write_checkpoint(file, state)

    policy, epochs = CheckpointPolicy(), settings.protocol.epochs

    def train(run: TrainingRun, until: int) -> None:
        for epoch in range(run.progress.epochs + 1, until + 1):
            run.train_to(epoch)
            if epoch < epochs:
                seconds = sum(run.progress.seconds.total for run in runs.values())
                policy.write(0, seconds, write)

    left = list(runs)
    with meter:
        for rung, survivors in finalist_rungs(epochs).items() if len(runs) > 1 else ():
            for trial in left:
                train(runs[trial], rung)
                _evaluate_at(runs[trial], rung)
            left = sorted(left, key=lambda trial: -_score_at(runs[trial], rung))[:survivors]
        best = left[0]
        train(runs[best], epochs)
    progress = runs[best].progress
    if progress.failure is not None:
        logger.warning("the refit diverged: %s", progress.failure)
    segments.append(_segment(meter.measurement))
    training = FinalTraining(
        segments=segments,
        progress=progress,
        trial=best if len(runs) > 1 else None,
        lost=[Finalist(trial=it, progress=runs[it].progress) for it in runs if it != best],
    )
    return Refit(training, runs[best])


def _evaluate_at(run: TrainingRun, rung: int) -> None:
    """Evaluate a run that has just reached `rung` epochs, and was not evaluated there."""
    progress = run.progress
    seen = any(evaluation.epoch == rung for evaluation in progress.evaluations)
    if progress.epochs == rung and progress.failure is None and not seen:
        run.evaluate()


def _score_at(run: TrainingRun, rung: int) -> float:
    """Return the validation score after `rung` epochs, the worst if training had diverged."""
    for evaluation in run.progress.evaluations:
        if evaluation.epoch == rung and math.isfinite(evaluation.loss):
            return evaluation.score(run.progress.metric)
    return WORST_SCORE


def _segment(measurement: Measurement) -> Segment:
    return Segment(host=platform.node(), measurement=measurement)
