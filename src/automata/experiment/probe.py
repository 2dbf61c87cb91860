"""A probe: how long an epoch of some configurations takes here."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import torch

from automata.config.job import Job
from automata.datasets.prepared import Dataset, Split
from automata.experiment.sizes import Epoch
from automata.training.device import choose_device, limit_threads, take_device
from automata.training.run import training_run
from automata.tuning.searchers import RandomSearch

PROBED = 27
"""Most configurations that the probe trains: an epoch of one may take ten times that of another."""
LEAST_PROBED = 3
PROBE_SECONDS = 20.0
"""Seconds after which the probe trains no more than LEAST_PROBED configurations."""
EPOCH_SECONDS = 0.1
"""Shorter epochs are too noisy; the probe then takes more rows, up to all."""
FIRST_ROWS = 8
"""Rows of the first probe: a large image takes seconds. Each later probe has four times as many."""
CLOCKS = {"cpu": time.thread_time, "cuda": time.perf_counter}
"""Clock of the probe by device; on a CPU it excludes the time of other processes."""


def probed(data: Dataset, job: Job) -> list[Epoch]:
    """Return the seconds of an epoch of the first configurations of `job`, up to PROBED.

    `job` must have no patience: its evaluations would count as training.
    """
    settings = job.settings
    search = RandomSearch(settings.protocol.search_space, settings.search, job.run.seed)
    device = take_device(choose_device(settings.compute, data.kind))
    limit_threads(settings.compute.threads_per_trial)
    found: list[Epoch] = []
    end = time.perf_counter() + PROBE_SECONDS
    while len(found) < (PROBED if time.perf_counter() < end else LEAST_PROBED):
        found.append(_probe(data, job, search.suggest(str(len(found))), device))
    return found


def _probe(data: Dataset, job: Job, configuration: dict[str, Any], device: torch.device) -> Epoch:
    """Return the seconds of an epoch on all rows, extrapolated from enough rows."""
    clock, rows = CLOCKS[device.type], min(FIRST_ROWS, len(data.train))
    while True:
        part = replace(data, train=first(data.train, rows), validation=first(data.validation, rows))
        run = training_run(job, part, configuration, None, device)
        run.train_to(1)  # the first epoch also warms up
        start = clock()
        run.train_to(2)
        seconds = clock() - start
        if seconds >= EPOCH_SECONDS or rows == len(data.train):
            start = clock()
            run.evaluate()
            share = len(data.validation) / len(part.validation)
            return Epoch(seconds * len(data.train) / rows, (clock() - start) * share)
        rows = min(len(data.train), 4 * rows)


def first(split: Split, rows: int) -> Split:
    """Return the first `rows` of a split."""
    return Split(split.inputs[:rows], split.labels[:rows], split.normalisation)
