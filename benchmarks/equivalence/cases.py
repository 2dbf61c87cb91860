"""What is trained by two versions of the code to compare their numbers: jobs as JSON."""

from __future__ import annotations

from typing import Any

from automata.selection import CONTROLS, SELECTORS

Case = dict[str, Any]
"""`name`, `data` (a data set of the driver) and `job`; of a training also `configuration`."""

EPOCHS = 9

SELECTING = ["full", *SELECTORS, "full-again"]
"""Those that trials train under; `untuned` is a job."""

CONFIGURATIONS: dict[str, list[Case]] = {
    "mlp": [
        {"hidden1": 9, "hidden2": 7, "batch_size": 16, "optimizer": "adam", "schedule": "cosine"},
        {"hidden1": 8, "hidden2": 8, "batch_size": 8, "optimizer": "sgd", "schedule": "step"},
    ],
    "lstm": [
        {"hidden": 6, "layers": 1, "batch_size": 8},
        {"hidden": 5, "layers": 2, "batch_size": 16},
    ],
    "resnet18": [{"lr1": 0.01, "lr2": 0.02, "lr3": 0.03, "lr4": 0.04, "nesterov": True}],
    "resnet50": [{"lr1": 0.01, "lr2": 0.01, "lr3": 0.02, "lr4": 0.02, "nesterov": False}],
    "own": [{"batch_size": 8, "width": 6}],
}
DATA = {"mlp": "table", "lstm": "texts", "resnet18": "images", "resnet50": "images", "own": "table"}

PROTOCOLS: dict[str, Case] = {
    "mlp": {"model": "mlp", "momentum": 0.9, "weight_decay": 0.01, "decay_every": 3},
    "lstm": {"model": "lstm", "optimizer": "adam"},
    "own": {"model": {"factory": "own_model:build", "depth": 2}},
}
IMAGES = {
    "momentum": 0.9,
    "weight_decay": 5e-4,
    "schedule": "cosine",
    "batch_size": 8,
    "augmentation": {"crop_padding": 2, "flip": True},
}
SPACE = {
    "learning_rate": {"loguniform": [0.001, 0.1]},
    "optimizer": {"choice": ["adam", "sgd"]},
    "schedule": {"choice": ["none", "cosine", "step"]},
    "hidden1": {"choice": [8, 12]},
    "hidden2": {"choice": [8, 12]},
    "batch_size": {"choice": [8, 16]},
}
DIVERGING = SPACE | {"learning_rate": {"loguniform": [0.001, 1e6]}}


def trainings() -> list[Case]:
    """Return every selector with the MLP, with and without a warm start, and each other model.

    Every training stops at its rungs and goes on from its state in a new run.
    """
    cases = [
        _training("mlp", selector, number, scheduler)
        for selector in SELECTING
        for number, scheduler in enumerate(("hyperband", "asha"))
    ]
    cases += [
        _training("lstm", selector, number, "asha")
        for number, selector in enumerate(("full", "gradmatch", "craig", "glister", "rs2"))
    ]
    cases += [
        _training("resnet18", selector, 0, "asha")
        for selector in ("full", "random", "gradmatch", "glister")
    ]
    cases += [_training("resnet50", selector, 0, "asha") for selector in ("full", "craig")]
    return [*cases, *(_training("own", selector, 0, "asha") for selector in SELECTING)]


def jobs() -> list[Case]:
    """Return whole jobs, each search and scheduler among them, and trials that diverge."""
    return [
        _job("tpe", "hyperband", "gradmatch"),
        _job("random", "hyperband", "full"),
        _job("tpe", "asha", "full-again", DIVERGING),
        _job("random", "asha", "adaptive-random"),
        _job("tpe", "none", "craig"),
        _job("random", "none", "untuned"),
    ]


def timed() -> Case:
    """Return a job of the default experiment."""
    space = SPACE | {
        "learning_rate": {"uniform": [0.001, 0.01]},
        "hidden1": {"choice": [150, 200, 250, 300]},
        "hidden2": {"choice": [150, 200, 250, 300]},
        "batch_size": {"choice": [16, 32, 64]},
    }
    return {
        "name": "default",
        "data": "satimage",
        "job": {
            "run": _run("tpe", "hyperband", "gradmatch", 0.05) | {"dataset": "satimage"},
            "settings": {
                "protocol": {
                    "model": "mlp",
                    "configurations": 27,
                    "epochs": 40,
                    "reselect_every": 5,
                    "search_space": dict(sorted(space.items())),
                }
            },
        },
    }


def _training(model: str, selector: str, number: int, scheduler: str) -> Case:
    choices = CONFIGURATIONS[model]
    values = choices[number % len(choices)]
    protocol = PROTOCOLS.get(model, {"model": model, **IMAGES})
    images = model.startswith("resnet")
    rungs = [1, 2] if images else [1, 4, EPOCHS]
    return {
        "name": f"{model}, {selector}, {'warm start' if scheduler == 'asha' else 'no warm start'}",
        "data": DATA[model],
        "job": {
            "run": _run("random", scheduler, selector, 0.3),
            "settings": {
                "protocol": {
                    "configurations": 1,
                    "epochs": rungs[-1],
                    "reselect_every": 1 if images else 2,
                    "evaluate_every": 1,
                    "search_space": {},
                    **protocol,
                },
                "compute": {"device": "cpu"},
            },
        },
        "configuration": values if images else {"learning_rate": 0.02, **values},
        "rungs": rungs,
    }


def _job(search: str, scheduler: str, selector: str, space: Case = SPACE) -> Case:
    return {
        "name": f"{search}, {scheduler}, {selector}",
        "data": "table",
        "job": {
            "run": _run(search, scheduler, selector, 0.2),
            "settings": {
                "protocol": {
                    "model": "mlp",
                    "configurations": 12,
                    "epochs": EPOCHS,
                    "reselect_every": 2,
                    "search_space": dict(sorted(space.items())),
                },
                "search": {"tpe": {"startup_configurations": 4}},
                "compute": {"device": "cpu"},
                "metering": {"exclusive": False},
            },
        },
    }


def _run(search: str, scheduler: str, selector: str, fraction: float) -> Case:
    return {
        "dataset": "dna",
        "search": search,
        "scheduler": scheduler,
        "selector": selector,
        "fraction": CONTROLS[selector].fraction if selector in CONTROLS else fraction,
        "seed": 0,
    }
