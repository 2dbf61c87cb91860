"""Learning curves for which the results of simulated searches are known."""

import json
from itertools import product

import numpy as np
import pandas as pd

from automata.simulation.curves import complete
from automata.simulation.grid import Simulated
from automata.simulation.tables import compared

EPOCHS = [1, 2, 3, 4, 8]
POOL = 12


def table_row(method, selector, fraction, **numbers):
    """Return a row of the table of simulated searches, under Hyperband on dna."""
    return {
        "dataset": "dna",
        "scheduler": "hyperband",
        "method": method,
        "selector": selector,
        "fraction": fraction,
        "horizon_exponent": 0.0,
        "metric": "accuracy",
        "finalists": 1,
        **numbers,
    }


def made_curves(noise):
    """Return curves on which the quality of a configuration is its number, but for noise."""
    random, rows = np.random.default_rng(0), []
    for selector, seed, number, epoch in product(("full", "rs2"), (0, 1), range(POOL), EPOCHS):
        fraction = 1.0 if selector == "full" else 0.1
        accuracy = number / POOL + noise * random.normal()
        row = {
            "training": f"made/{selector}/seed-{seed}",
            "dataset": "made",
            "selector": selector,
            "fraction": fraction,
            "horizon_exponent": 0.0,
            "seed": seed,
            "configuration": number,
            "hyperparameters": json.dumps({"learning_rate": number}),
            "epoch": epoch,
            "accuracy": accuracy,
            "loss": -accuracy,
            "samples": 100 * epoch * fraction,
            "cpu_seconds": 2 * epoch * fraction,
            "test_accuracy": number / POOL if selector == "full" else None,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def asked(configurations=6, schedulers=("none",), pool=POOL, epochs=EPOCHS[-1]):
    """Return the searches to simulate on such curves."""
    return Simulated(
        kind="tabular",
        pool=pool,
        configurations=configurations,
        epochs=epochs,
        schedulers=schedulers,
        scheduler={},
        space={"x": {"uniform": [0, 1]}},
    )


def made_study(curves):
    """Return the comparison of methods on such curves."""
    return compared(complete(curves, {"made": asked()}))
