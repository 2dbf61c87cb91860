"""When tuning jobs end on some slots, by the order of events; nothing trains."""

from __future__ import annotations

from random import Random

from automata.config.job import Job
from automata.experiment.sizes import Epoch, simulated
from automata.tuning.searchers import RandomSearch

EPOCHS = 81
FRACTION = 0.01
"""Of the data, in the screens of the hedge."""
COSTS = {64: 1.0, 32: 1.8, 16: 3.3}
"""Batch size -> cost of an epoch on all data, beside that of the largest batches."""
FULL, ASHA = "FULL, Hyperband", "FULL, ASHA"
HEDGE = "hedge"
METHODS = FULL, ASHA, HEDGE
KEYS = {"horizon_exponent": [0, 0.5], "finalists": 3, "finalist_rungs": {0.1: 3, 0.3333: 2}}


def job_of(method: str, configurations: int, slots: int, seed: int) -> Job:
    """Return a job of one of METHODS."""
    hedge = method == HEDGE
    run = {"dataset": "dna", "search": "random", "seed": seed, "fraction": FRACTION if hedge else 1}
    run |= {"selector": "rs2" if hedge else "full"}
    run |= {"scheduler": "asha" if method == ASHA else "hyperband"}
    space = {"learning_rate": {"uniform": [0.1, 1]}, "batch_size": {"choice": [*COSTS]}}
    protocol = {"model": "mlp", "configurations": configurations, "epochs": EPOCHS}
    protocol |= {"reselect_every": EPOCHS, "search_space": space, **(KEYS if hedge else {})}
    settings = {"protocol": protocol, "compute": {"concurrent_trials": slots}}
    return Job.model_validate({"run": run, "settings": settings})


def end_of_job(job: Job, costs: dict[int, float]) -> float:
    """Return when a job ends, in T; `costs` are those of epochs by batch size."""
    draw = RandomSearch(job.settings.protocol.search_space, job.settings.search, job.run.seed)
    drawn = [draw.suggest("") for _ in range(job.settings.protocol.configurations)]
    epochs = [Epoch(costs[configuration["batch_size"]], 0.0) for configuration in drawn]
    return simulated(job, epochs, Random(job.run.seed)).wall / EPOCHS
