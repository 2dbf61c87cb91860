"""Learning curves for which the results of simulated searches are known."""

from itertools import product

import numpy as np
import pandas as pd

from studies.curves.curves import complete
from studies.curves.plan import Simulated
from studies.curves.tables import compared

EPOCHS = [1, 2, 3, 4, 8]
POOL = 12


def made_curves():
    """Return curves on which the quality of a configuration is its number."""
    columns = ["selector", "seed", "configuration", "epoch"]
    rows = product(("full", "rs2"), (0, 1), range(POOL), EPOCHS)
    curves = pd.DataFrame(rows, columns=columns)
    full, accuracy = curves["selector"] == "full", curves["configuration"] / POOL
    share = np.where(full, 1.0, 0.1)
    return curves.assign(
        dataset="made",
        fraction=share,
        horizon_exponent=0.0,
        hyperparameters="{}",
        accuracy=accuracy,
        loss=-accuracy,
        samples=100 * curves["epoch"] * share,
        cpu_seconds=2 * curves["epoch"] * share,
        test_accuracy=accuracy.where(full),
    )


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
