"""Learning curves of which it is known what comes out."""

import json

import numpy as np
import pandas as pd

from automata.simulation.asked import Simulated
from automata.simulation.study import Bench, Compared, study
from automata.simulation.table import complete

EPOCHS = [1, 2, 3, 4, 8]
POOL = 12


def made_curves(noise, selectors=("full", "rs2")):
    """Return curves on which the quality of a configuration is its number, but for noise."""
    random = np.random.default_rng(0)
    rows = []
    for selector in selectors:
        fraction = 1.0 if selector == "full" else 0.1
        for seed in (0, 1):
            for number in range(POOL):
                for epoch in EPOCHS:
                    accuracy = number / POOL + noise * random.normal()
                    rows.append(
                        {
                            "training": f"made/{selector}/seed-{seed}",
                            "dataset": "made",
                            "selector": selector,
                            "fraction": fraction,
                            "warm_start": 0.0,
                            "horizon_exponent": 0.0,
                            "seed": seed,
                            "configuration": number,
                            "hyperparameters": json.dumps({"x": number / POOL}),
                            "epoch": epoch,
                            "accuracy": accuracy,
                            "loss": -accuracy,
                            "samples": 100 * epoch * fraction,
                            "cpu_seconds": 2 * epoch * fraction,
                            "joules": 3 * epoch * fraction,
                            "test_accuracy": number / POOL if selector == "full" else None,
                        }
                    )
    return pd.DataFrame(rows)


def asked(configurations=6, schedulers=("none",), searches=("random",), startup=3, pool=POOL):
    """Return which searches are simulated on such curves."""
    return Simulated(
        pool=pool,
        pool_seed=0,
        configurations=configurations,
        epochs=EPOCHS[-1],
        searches=searches,
        schedulers=schedulers,
        search={"tpe": {"startup_configurations": startup}},
        scheduler={},
        space={"x": {"uniform": [0, 1]}},
    )


def made_study(curves: pd.DataFrame, scheduler: str = "none") -> Compared:
    """Return the comparison of methods on such curves, under random search."""
    return study(Bench(complete(curves, {"made": asked()})["made"]), "random", scheduler)
