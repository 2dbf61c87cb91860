"""The search phase of a job in this process: what Ray Tune does, without Ray."""

from __future__ import annotations

import math
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from ray.tune.schedulers import TrialScheduler
from ray.tune.search import Searcher

from automata.config.job import Job
from automata.metering.meter import Meter
from automata.tuning.checkpoints import WorkFolder
from automata.tuning.log import ReplayLog
from automata.tuning.metering_callback import MeteringCallback
from automata.tuning.ray_search import RayScheduler, RaySearcher
from automata.tuning.search import Search
from automata.tuning.trainable import TuneTrial


def search_here(
    job: Job,
    data: Path,
    work: WorkFolder,
    search: Search,
    log: ReplayLog,
    provenance: dict[str, Any],
    device: torch.device,
    ray_address: str | None,
    seconds: float = math.inf,
) -> None:
    """Do what Ray Tune does with one slot: ask searcher and scheduler, tell the callback."""
    searcher, scheduler = RaySearcher(search, log.latest), RayScheduler(search, work, seconds)
    meter = Meter(sample_seconds=5.0, gpus=[], exclusive=False)
    callback = MeteringCallback(meter, search, log, work, provenance)
    controller = SimpleNamespace(
        stop_trial=lambda trial: callback.on_trial_complete(trial),
        pause_trial=lambda *_, **__: None,
    )
    trainable = object.__new__(TuneTrial)  # a worker's, without what Ray adds to it
    try:
        fresh = True
        while True:
            trial = scheduler.choose_trial_to_run(controller)
            if trial is None:
                config = searcher.suggest("")
                if config == Searcher.FINISHED:
                    break
                assert config is not None, "the search neither goes on nor ends"
                trial = SimpleNamespace(config=config)
                scheduler.on_trial_add(controller, trial)
            if fresh:
                kept = job.model_dump_json(), str(data), device.type, str(work.path)
                trainable.setup(trial.config, *kept)
            else:
                trainable.reset_config(trial.config)
            fresh = False
            callback.on_trial_start(trial)
            began = time.monotonic()
            decision = TrialScheduler.CONTINUE
            while decision == TrialScheduler.CONTINUE:
                result = trainable.step()
                result["time_total_s"] = time.monotonic() - began
                decision = scheduler.on_trial_result(controller, trial, result)
                callback.on_trial_result(trial, result)
            if decision == TrialScheduler.STOP:
                callback.on_trial_complete(trial)
        callback.close()
    finally:
        callback.stop()
        if not fresh:
            trainable.cleanup()
