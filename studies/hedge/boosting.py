"""Way F of the second study, docs/study-2.md: gradient boosting with defaults.

`python -m studies.hedge.boosting` writes its scores; `studies.hedge.data` writes the data sets.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss

from automata.config.data import Preparation
from automata.datasets.own.guess import guess
from automata.datasets.prepare import prepare
from studies.hedge.data import FOLDER, SETS, TABLES
from studies.hedge.verdict import KEY, POINTS, PUBLISHED, SEEDS, Row


def boosting() -> Iterator[Row]:
    """Yield the scores of gradient boosting with defaults, trained on the training rows."""
    for name in (it for it in SETS if it in TABLES):
        path = FOLDER / f"{name}.csv"
        own = guess(path, TABLES[name]["target"], None).own
        data = prepare(name, Preparation.model_validate({"own": own}), FOLDER)
        inputs, labels = data.test.inputs.numpy(), data.test.labels.numpy()
        for seed in range(SEEDS):
            model = HistGradientBoostingClassifier(random_state=seed)
            chances = model.fit(data.train.inputs, data.train.labels).predict_proba(inputs)
            answers = chances.argmax(axis=1)
            scores = [np.mean(answers == labels), balanced_accuracy_score(labels, answers)]
            row: Row = {name: 100 * float(it) for name, it in zip(POINTS, scores, strict=True)}
            yield row | {
                "set": name,
                "way": "F",
                "seed": seed,
                "log loss": log_loss(labels, chances),
            }


if __name__ == "__main__":
    frame = pd.DataFrame(boosting()).set_index(KEY)
    frame.to_csv(PUBLISHED / "boosting.csv")
