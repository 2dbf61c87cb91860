"""The refit: the best configuration trained on all data, measured, and resumed if interrupted."""

from __future__ import annotations

import logging
import platform
from pathlib import Path

from automata.config.job import Settings
from automata.metering.measurement import Measurement
from automata.metering.meter import Meter
from automata.records import FinalTraining, Segment
from automata.training.device import visible_gpus
from automata.training.run import TrainingRun
from automata.tuning.checkpoints import CheckpointPolicy, read_checkpoint, write_checkpoint

logger = logging.getLogger(__name__)


def refit(run: TrainingRun, settings: Settings, file: Path, key: str) -> FinalTraining:
    """Train `run` for all T epochs, on from the checkpoint in `file` if that has the same `key`.

    It is written between epochs, together with what was measured up to there.
    """
    metering = settings.metering
    segments: list[Segment] = []
    kept = read_checkpoint(file)
    if kept is not None and kept["key"] == key:
        run.restore(kept["run"])
        segments = [Segment.model_validate_json(segment) for segment in kept["segments"]]
        logger.info("the refit goes on after epoch %d", run.progress.epochs)
    meter = Meter(
        sample_seconds=metering.sample_seconds,
        gpus=visible_gpus() if run.device.type == "cuda" else [],
        exclusive=metering.exclusive,
    )

    def write() -> None:
        account = [*segments, _segment(meter.so_far())]
        state = {
            "key": key,
            "run": run.state(),
            "segments": [segment.model_dump_json() for segment in account],
        }
        write_checkpoint(file, state)

    policy, epochs = CheckpointPolicy(), settings.protocol.epochs
    with meter:
        for epoch in range(run.progress.epochs + 1, epochs + 1):
            run.train_to(epoch)
            if epoch < epochs:
                policy.write(0, run.progress.seconds.total, write)
    if run.progress.failure is not None:
        logger.warning("the refit diverged: %s", run.progress.failure)
    segments.append(_segment(meter.measurement))
    return FinalTraining(segments=segments, progress=run.progress)


def _segment(measurement: Measurement) -> Segment:
    return Segment(host=platform.node(), measurement=measurement)
