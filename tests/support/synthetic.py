"""Made-up tables of runs and their trials for tests, as `automata collect` writes them.

Times follow a simple model (epochs x rows x cost of the kind), so that speedups are below their
ceilings. Accuracies and noise are drawn at random. All else is that of a published run.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automata.analysis.tables import read_csv
from automata.seeds import derive

REFERENCE = Path(__file__).parents[2] / "results/reference"
PUBLISHED = read_csv(REFERENCE / "protocol/tables/runs.csv").iloc[0].to_dict()

DATASETS = {
    "sst2": ("text", 8544),
    "sst5": ("text", 8544),
    "glue-sst2": ("text", 63982),
    "trec6": ("text", 4907),
    "cifar10": ("image", 45000),
    "cifar100": ("image", 45000),
    "svhn": ("image", 65932),
    "dna": ("tabular", 1400),
    "satimage": ("tabular", 3104),
    "letter": ("tabular", 10500),
    "connect4": ("tabular", 47290),
}
EPOCHS = {"text": 20, "image": 300, "tabular": 200}
REPEATS = {"text": 5, "image": 3, "tabular": 5}
MODELS = {"text": "lstm", "image": "resnet18", "tabular": "mlp"}
COST = {"text": 2e-4, "image": 4e-4, "tabular": 1e-5}
"""Seconds per row."""
SEARCHES = ("random", "tpe")
SCHEDULERS = ("hyperband", "asha")
PAPER = ("full", "random", "craig", "gradmatch")
CONTROLS = ("untuned", "full-again", "adaptive-random", "rs2")
EVERY = (*PAPER, *CONTROLS, "glister", "gradmatch-adaptive")
"""A fixed list, so that a new method changes no stored figure but its own."""
FRACTIONS = (0.01, 0.05, 0.1, 0.3)
FIXED = {"full": 1.0, "full-again": 1.0, "untuned": 0.0}
PENALTY = {"gradmatch": 1.0, "craig": 1.6, "random": 2.2, "adaptive-random": 1.5, "rs2": 1.1}
"""Points of error at 10 %."""
SELECTION = {"gradmatch": 1.0, "craig": 2.5}
"""Passes over the data that a selection costs."""
WORK = {"hyperband": 15.0, "asha": 3.5}
"""Epochs of all trials, in T."""
CONFIGURATIONS = 27
SCORES = ("test_accuracy", "test_balanced_accuracy", "test_macro_f1")
KEYS = ["dataset", "search", "scheduler", "selector", "fraction", "seed"]


def synthetic_runs(
    datasets: tuple[str, ...] = tuple(DATASETS),
    selectors: tuple[str, ...] = PAPER,
    searches: tuple[str, ...] = SEARCHES,
    schedulers: tuple[str, ...] = SCHEDULERS,
    fractions: tuple[float, ...] = FRACTIONS,
    repeats: int | None = None,
) -> pd.DataFrame:
    """Return a table of runs; the default is the paper's grid of 2,548 rows."""
    rows = [
        _run(dataset, search, scheduler, selector, fraction, repeat)
        for dataset, search, scheduler, selector in product(
            datasets, searches, schedulers, selectors
        )
        for fraction in ([FIXED[selector]] if selector in FIXED else fractions)
        for repeat in range(repeats or REPEATS[DATASETS[dataset][0]])
    ]
    return pd.DataFrame(rows).sort_values(KEYS, ignore_index=True)


def synthetic_trials(runs: pd.DataFrame) -> pd.DataFrame:
    """Return evaluations of the trials behind `runs`: the same configurations for all selectors.

    A configuration's score is its quality plus noise that grows as subsets shrink, so that
    ranks agree better at larger fractions.
    """
    rows = []
    for run in runs[runs["selector"] != "untuned"].to_dict("records"):
        random = stream("trials", *(run[key] for key in KEYS))
        drawn = stream("configurations", run["dataset"], run["seed"])
        drawn_quality = drawn.normal(0.0, 0.04, CONFIGURATIONS)
        quality = run["best_validation_accuracy"] - 0.1 + drawn_quality
        noise = 0.004 / np.sqrt(run["fraction"])
        last = run["epochs"]
        rungs = sorted({max(1, int(last / 3**s)) for s in range(4)})
        alive, elapsed = np.arange(CONFIGURATIONS), 0.0
        step = run["tuning_seconds"] / (CONFIGURATIONS * 1.5)
        for rung in rungs:
            gain = 0.08 * (1 - np.exp(-3 * rung / last))
            scores = quality[alive] + gain + random.normal(0, noise, len(alive))
            for index, score in zip(alive, np.clip(scores, 0, 1), strict=True):
                elapsed = min(elapsed + step, run["tuning_seconds"])
                rows.append(
                    {
                        **{key: run[key] for key in KEYS},
                        "index": int(index),
                        "configuration": json.dumps({"learning_rate": float(drawn_quality[index])}),
                        "status": "completed" if rung == last else "stopped",
                        "epoch": rung,
                        "accuracy": float(score),
                        "score": float(score),
                        "elapsed_seconds": elapsed,
                        "record": run["record"],
                    }
                )
            alive = alive[np.argsort(-scores)[: max(1, len(alive) // 3)]]
    return pd.DataFrame(rows)


def stream(*names: Any) -> np.random.Generator:
    """Return the random numbers of one run, so that no other run changes them."""
    return np.random.default_rng(derive(0, *map(str, names)))


def _run(*values: Any) -> dict[str, Any]:
    random = stream("run", *values)
    dataset, search, scheduler, selector, fraction, seed = values
    kind, rows = DATASETS[dataset]
    epochs = EPOCHS[kind]
    per_epoch = COST[kind] * rows
    passes = 0.0 if selector == "untuned" else WORK[scheduler] * epochs
    trained = passes * fraction
    selections = int(passes / 10) if selector in SELECTION else 0
    training = trained * per_epoch * random.uniform(1.0, 1.15)
    selecting = selections * per_epoch / 3 * SELECTION.get(selector, 0)
    evaluating, rest = 0.02 * passes * per_epoch * 0.2, 0.01 * passes * per_epoch * 0.2
    whole = selector in ("full", "full-again")
    final = 0.0 if whole else epochs * per_epoch * random.uniform(0.9, 1.1)
    tuning = training + selecting + evaluating + rest
    base = 0.95 - 0.02 * list(DATASETS).index(dataset)
    lost = 0.0 if whole else PENALTY.get(selector, 4.0) / 100
    lost *= (0.1 / fraction) ** 0.4 if fraction else 1
    accuracy = base - lost + random.normal(0, 0.004 if fraction else 0.02)
    validation = None if selector == "untuned" else float(accuracy - 0.01 * (not whole))
    stem = f"{dataset}/{search}-{scheduler}/{selector}-{fraction:g}/seed-{seed}"
    total = tuning + final
    return {
        **PUBLISHED,
        **dict(zip(KEYS, values, strict=True)),
        "tuning_seconds": tuning,
        "final_seconds": final,
        "total_seconds": total,
        "cpu_seconds": total * 1.02,
        "energy_joules": total * 4.08,
        "flags": "",
        "tuning_training_seconds": training,
        "tuning_selection_seconds": selecting,
        "tuning_evaluation_seconds": evaluating,
        "tuning_orchestration_seconds": rest,
        "test_loss": float(1 - accuracy),
        **dict.fromkeys(SCORES, float(np.clip(accuracy, 0, 1))),
        "best_score": validation,
        "best_validation_accuracy": validation,
        "best_epochs": 0 if selector == "untuned" else epochs,
        "configurations": 1 if selector == "untuned" else CONFIGURATIONS,
        "model": MODELS[kind],
        "epochs": epochs,
        "train_rows": rows,
        "test_rows": 2000,
        "full_epoch_equivalents": trained,
        "effective_fraction": fraction or None,
        "gradient_selections": selections,
        "final_epochs": 0 if whole else epochs,
        "machine": "vm",
        "set_aside": "",
        "data_sha256": dataset,
        "protocol_hash": f"{kind}-{search}-{scheduler}",
        "started_at": 1_795_000_000.0 + seed,
        "record": f"results/runs/{stem}/record.json",
    }
