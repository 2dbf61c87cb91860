"""Tiny runs whose numbers golden.jsonl stores.

`cd tests && python -m golden.runs` adds new ones; arguments name those to replace.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import torch

from automata.config.data import Preparation
from automata.config.job import Job
from automata.datasets.prepared import Dataset, Normalisation, Split
from automata.registry import CONTROLS, MODELS, SCHEDULERS, SEARCHES, SELECTORS
from automata.search.search import SearchTrial, search_of
from automata.seeds import derive
from automata.training.device import limit_threads
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.training.subsets import subset_plan
from golden.store import add
from support.searching import make_job
from support.simulated import simulate

STORED = Path(__file__).with_name("golden.jsonl")
FRACTION = 0.3

PROTOCOLS: dict[str, dict[str, Any]] = {
    "mlp": {"momentum": 0.9},
    "lstm": {},
    "convnet": {"augmentation": {"crop_padding": 2, "flip": False}},
    **{
        model: {
            "momentum": 0.9,
            "weight_decay": 5e-4,
            "augmentation": {"crop_padding": 2, "flip": True},
        }
        for model in ("resnet18", "resnet50")
    },
}
"""Keys of the protocol, by model."""

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "mlp": {
        "learning_rate": 0.02,
        "hidden1": 9,
        "hidden2": 7,
        "batch_size": 16,
        "schedule": "cosine",
    },
    "lstm": {
        "learning_rate": 0.02,
        "hidden": 6,
        "layers": 2,
        "batch_size": 8,
        "optimizer": "adam",
    },
    "convnet": {"learning_rate": 0.003, "batch_size": 8, "optimizer": "adam"},
    **{
        model: {
            **{f"lr{part}": rate * part for part in (1, 2, 3, 4)},
            "nesterov": True,
            "batch_size": 8,
        }
        for model, rate in {"resnet18": 1e-5, "resnet50": 1e-6}.items()
    },
}
"""Hyper-parameters, by model."""

TRAININGS = [
    *[(model, method) for model in ("mlp", "lstm", "resnet18") for method in ("full", *SELECTORS)],
    ("resnet50", "full"),
    ("convnet", "full"),
    ("convnet", "gradmatch"),
]
DECIDED = [(search, scheduler) for search in SEARCHES for scheduler in SCHEDULERS]

SPACE = {
    "batch_size": {"choice": [8, 16]},
    "hidden1": {"choice": [8, 12]},
    "learning_rate": {"loguniform": [0.001, 10.0]},
    "schedule": {"choice": ["none", "cosine", "step"]},
}


def trained(model: str, method: str) -> dict[str, Any]:
    """Return losses, the last subset and the norm of each weight tensor of a training."""
    limit_threads(1)
    dataset = DATA[model](torch.Generator().manual_seed(1))
    images = dataset.kind == "image"
    rungs = [1, 3] if images else [1, 4, 6]
    fraction = CONTROLS[method].fraction if method in CONTROLS else FRACTION
    job = make_job(
        run={"scheduler": "asha", "selector": method, "fraction": fraction},
        epochs=rungs[-1],
        reselect_every=1 if images else 2,
        model=model,
        **PROTOCOLS[model],
    )
    run = TrainingRun(
        dataset,
        CONFIGURATIONS[model],
        job.settings.protocol,
        subset_plan(job),
        derive(0, job.run.training_stream),
        torch.device("cpu"),
    )
    for epoch in rungs:
        run.train_to(epoch)
        run.evaluate()
    scores = evaluate(run.model, dataset.test)
    subset = run.subset
    return {
        "training loss": run.progress.training_loss,
        "validation": [[it.accuracy, it.loss] for it in run.progress.evaluations],
        "test": [scores.accuracy, scores.loss],
        "samples": run.progress.samples,
        "rows": torch.cat(subset.batches).tolist() if subset else [],
        "batch weights": subset.weights.tolist() if subset else [],
        "norms": [float(it.double().norm()) for it in run.model.state_dict().values()],
    }


def decided(search: str, scheduler: str) -> dict[str, Any]:
    """Return what a search on made-up scores proposes, where its trials end, and its best."""
    run = {"search": search, "scheduler": scheduler, "selector": "full"}
    content = make_job(run=run, configurations=12, search_space=SPACE).model_dump()
    content["settings"]["search"]["tpe"]["startup_configurations"] = 4
    job = Job.model_validate(content)
    found = simulate(search_of(job), _score)
    trials = [[*it.configuration.values(), it.epoch, found.status(it)] for it in found.trials]
    results = [[it.trial, it.epoch] for it in found.results]
    return {"trials": trials, "results": results, "best": found.best}


RUNS: dict[str, Callable[[], dict[str, Any]]] = {
    **{" ".join(names): partial(trained, *names) for names in TRAININGS},
    **{" ".join(names): partial(decided, *names) for names in DECIDED},
}


def _score(trial: SearchTrial, epoch: int) -> float:
    """Return a score in which rates of 0.1 win slowly; those above 5 diverge."""
    rate = trial.configuration["learning_rate"]
    if rate > 5:
        return float("nan")
    return (1 - 0.2 * abs(numpy.log10(rate) + 1)) * epoch / (epoch + 0.5 / rate**0.5)


def _table(generator: torch.Generator) -> Dataset:
    centres = torch.randn(3, 6, generator=generator)

    def split(rows: int) -> Split:
        labels = torch.randint(3, (rows,), generator=generator)
        return Split(centres[labels] + torch.randn(rows, 6, generator=generator), labels)

    return _dataset("tabular", 3, split, 120)


def _texts(generator: torch.Generator) -> Dataset:
    def split(rows: int) -> Split:
        words = torch.randint(2, 40, (rows, 7), generator=generator, dtype=torch.int32)
        lengths = torch.randint(1, 8, (rows, 1), generator=generator)
        words[torch.arange(7) >= lengths] = 0
        return Split(words, (words[:, 0] % 2).long())

    vectors = torch.randn(40, 5, generator=generator)
    return _dataset("text", 2, split, 80, vectors=vectors)


def _images(generator: torch.Generator) -> Dataset:
    def split(rows: int) -> Split:
        labels = torch.randint(3, (rows,), generator=generator)
        pixels = torch.randint(0, 200, (rows, 3, 12, 12), generator=generator, dtype=torch.uint8)
        pixels += 20 * labels.to(torch.uint8)[:, None, None, None]
        return Split(pixels, labels, Normalisation(**extras))

    extras = {"mean": torch.full((3,), 0.5), "scale": torch.full((3,), 0.3)}
    return _dataset("image", 3, split, 40, **extras)


def _dataset(kind: str, classes: int, split: Any, rows: int, **extras: torch.Tensor) -> Dataset:
    metadata = {"preparation": Preparation().model_dump(mode="json"), "flip": True}
    parts = (split(rows), split(rows // 3), split(rows // 4))
    return Dataset("dna", kind, classes, *parts, metadata=metadata, extras=extras)


DATA = {
    "mlp": _table,
    "lstm": _texts,
    **dict.fromkeys(("convnet", "resnet18", "resnet50"), _images),
}
assert set(MODELS) == set(DATA)

if __name__ == "__main__":
    add(STORED, RUNS, sys.argv[1:])
