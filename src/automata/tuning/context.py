"""What a job needs: checked data and methods, its device, its host's lock, a meter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from automata.allocation import gpu_models, keep_to_allocation
from automata.config.data import Preparation
from automata.config.job import Job
from automata.config.protocol import OwnModel
from automata.config.sources import FACTORY
from automata.datasets.prepared import Dataset, read_dataset
from automata.errors import UserError
from automata.loading import own_file
from automata.metering.meter import Meter, exclusive_host
from automata.models.classifier import build_model
from automata.records.provenance import numerics, provenance
from automata.registry import OWN
from automata.search.search import Search, search_of
from automata.training.device import (
    choose_device,
    gpus_in_use,
    limit_threads,
    take_device,
    wants_gpu,
)
from automata.training.run import TrainingRun, training_run
from automata.training.subsets import subset_plan


@dataclass(frozen=True)
class JobContext:
    """A job with checked data and methods, which holds its host's lock (see `job_context`)."""

    job: Job
    data: Path
    dataset: Dataset
    search: Search
    """The search of the job before its first result."""
    device: torch.device
    """Of this process."""
    trials_on: str
    """The device of trials: `cpu` or `cuda`."""
    provenance: dict[str, Any]
    lock_wait_seconds: float
    ray_address: str | None = None
    """The user's Ray that trials run in; None for one of the job's own."""

    def training_run(self, configuration: dict[str, Any], trial: int | None) -> TrainingRun:
        """Return a new training run in this process, of `trial` or, if None, on all data."""
        return training_run(self.job, self.dataset, configuration, trial, take_device(self.device))

    def on_cluster(self, address: str, resources: Mapping[str, float]) -> JobContext:
        """Return this context with trials on the Ray cluster at `address`, with its `resources`.

        Raises UserError if the configuration asks for a GPU, and the cluster has none.
        """
        compute = self.job.settings.compute
        gpus = wants_gpu(compute, self.dataset.kind) and resources.get("GPU")
        if compute.device == "cuda" and not gpus:
            raise UserError("compute.device: cuda: the Ray cluster has no GPU (valid: auto, cpu)")
        mark = "accelerator_type:"  # how Ray names models of GPUs
        models = sorted(name.removeprefix(mark) for name in resources if name.startswith(mark))
        device = (", ".join(models) or "GPU") if gpus else "cpu"
        trials_on = "cuda" if gpus else "cpu"
        made_by = {**self.provenance, "device": device}
        return replace(self, trials_on=trials_on, provenance=made_by, ray_address=address)

    def meter(self) -> Meter:
        """Return a meter of this host and of the GPUs that trials use."""
        metering = self.job.settings.metering
        return Meter(
            sample_seconds=metering.sample_seconds,
            gpus=gpus_in_use(self.device, self.job.settings.compute.gpus),
            exclusive=metering.exclusive,
        )


@contextmanager
def job_context(job: Job, data: Path, cluster: bool = False) -> Iterator[JobContext]:
    """Check `job` and its prepared file `data`; hold the host's lock during the body if exclusive.

    If its trials run on a `cluster`, this host needs no GPU. Raises UserError before any training
    if data, methods, model or device do not fit the job.
    """
    compute = job.settings.compute
    here = 1 if cluster else compute.concurrent_trials
    keep_to_allocation(here, compute.threads_per_trial, compute.gpus)
    dataset = read_dataset(data)
    if dataset.name != job.run.dataset:
        raise UserError(f"{data}: is data set '{dataset.name}', not '{job.run.dataset}'")
    if Preparation.model_validate(dataset.metadata["preparation"]) != job.settings.data:
        raise UserError(f"{data}: prepared with other settings; delete it, to prepare it again")
    search, own_model_sha256 = _check_methods(job, dataset)
    limit_threads(compute.threads_per_trial)
    device = torch.device("cpu")
    if torch.cuda.is_available() or not cluster:
        device = choose_device(compute, dataset.kind)
    made_by = {
        **provenance(job.run.selector),
        **numerics(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "gpus": gpu_models(),
        "own_model_sha256": own_model_sha256,
    }
    with exclusive_host(job.settings.metering.exclusive) as waited:
        yield JobContext(job, data, dataset, search, device, device.type, made_by, waited)


def _check_methods(job: Job, dataset: Dataset) -> tuple[Search, str | None]:
    """Build all methods of `job`; return its search, and the SHA-256 of the user's own model."""
    model, model_sha256 = job.settings.protocol.model, None
    for kind, target in job.settings.own.items():
        key = f"{OWN[kind]}.{getattr(job.run, kind)}"
        own_file(target, job.files.get(key), key)
    subset_plan(job)
    search = search_of(job)
    if isinstance(model, OwnModel):
        model_sha256 = own_file(model.factory, job.files.get(FACTORY), "protocol.*.model.factory")
        build_model(dataset, search.trials[0].configuration, model)
    return search, model_sha256
