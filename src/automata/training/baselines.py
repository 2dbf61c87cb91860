"""Simple models of a data set, which show what a tuned one is worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, log_loss
from threadpoolctl import threadpool_limits

from automata.datasets.prepared import PADDING, Dataset
from automata.metrics import METRICS
from automata.training.evaluation import roc_auc

FACTS = ("rows_by_class", "repeated_test_rows")
"""Facts of a user's own data that say what a score on their test rows is worth."""

LARGEST = 100_000_000
"""Maximum of training values x classes for a linear model, which then takes a few minutes."""
BOOSTED = 10_000_000
"""The same for boosting, which trains on random rows of larger tables, for up to 10 seconds."""
WIDEST = 1_000
"""Maximum of features x classes for boosting, whose trees take long even for few rows."""


def baselines(data: Dataset) -> dict[str, Any]:
    """Return the scores of simple models on the test rows; the training rows train them.

    `majority` answers the most frequent class, with the shares of the classes as probabilities.
    `linear` is a logistic regression on standardised features, on TF-IDF of the words, or on
    pixels. `boosting`, of tables alone, has scikit-learn's defaults, but 63 bins: as good, and
    twice as fast. If a name ends with `_balanced`, all classes have equal weight. `notes` says what
    was left out, or had fewer rows.
    """
    train, test = data.train, data.test
    notes: list[str] = []
    models: list[tuple[str, Any, Any]] = [("majority", DummyClassifier(), slice(None))]
    for name, kind, rows in _models(data, notes):
        models.append((name, kind(), rows))
        models.append((f"{name}_balanced", kind(class_weight="balanced"), rows))
    features: Any = np.zeros((len(train), 1)), np.zeros((len(test), 1))
    if len(models) > 1:
        features = _features(data)
    found: dict[str, Any] = {
        "dataset": data.name,
        "notes": notes,
        **{fact: data.metadata[fact] for fact in FACTS if fact in data.metadata},
    }
    labels = test.labels.numpy()
    for name, model, rows in models:
        start = time.perf_counter()
        with threadpool_limits(1, "openmp"):  # on busy cores, more threads are many times slower
            model.fit(features[0][rows], train.labels[rows])
            shares = model.predict_proba(features[1])
        probabilities = np.zeros((len(test), data.classes), shares.dtype)
        probabilities[:, model.classes_] = shares  # random rows may lack a class
        seconds = time.perf_counter() - start
        counts = np.zeros((data.classes, data.classes + 1), int)
        counts[:, :-1] = confusion_matrix(
            labels, probabilities.argmax(axis=1), labels=range(data.classes)
        )
        found[name] = {
            **{name: it.of_counts(counts) for name, it in METRICS.items() if it.of_counts},
            "roc_auc": roc_auc(labels, probabilities),
            "log_loss": log_loss(labels, probabilities, labels=range(data.classes)),
            "seconds": seconds,
        }
    return found


def _models(data: Dataset, notes: list[str]) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """Yield the name, class and training rows of the models that learn; add to `notes`."""
    train, classes = data.train, data.classes
    values = int((train.inputs != PADDING).sum()) if data.kind == "text" else train.inputs.numel()
    if values * classes > LARGEST:
        size = f"{values:,} training values and {classes} classes"
        notes.append(f"a linear model was left out: {size} would take too long")
    else:
        yield "linear", partial(LogisticRegression, max_iter=300), slice(None)
    if data.kind != "tabular":
        return
    features = train.inputs.shape[1]
    if features * classes > WIDEST:
        size = f"{features:,} features and {classes} classes"
        notes.append(f"boosting was left out: {size} would take too long")
        return
    rows = np.random.default_rng(0).permutation(len(train))[: BOOSTED // (features * classes)]
    if len(rows) < len(train):
        notes.append(f"boosting had {len(rows):,} random training rows of {len(train):,}")
    # Early stopping, of more than 10,000 rows, needs two rows of each class.
    rarest = np.unique(train.labels[rows], return_counts=True)[1].min()
    stopping = "auto" if rarest > 1 else False
    options = {"max_bins": 63, "random_state": 0, "early_stopping": stopping}
    yield "boosting", partial(HistGradientBoostingClassifier, **options), rows


def _features(data: Dataset) -> tuple[Any, Any]:
    """Return the features (n, d) of the training and the test rows."""
    if data.kind == "text":
        words = TfidfVectorizer(analyzer=lambda row: row[row != PADDING].tolist())
        texts = data.train.inputs.numpy(), data.test.inputs.numpy()
        return words.fit_transform(texts[0]), words.transform(texts[1])
    train, test = (it.ready(it.inputs).flatten(1).numpy() for it in (data.train, data.test))
    return train, test
