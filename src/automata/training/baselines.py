"""Simple models of a data set, which show what a tuned one is worth."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, log_loss

from automata.datasets.prepared import PADDING, Dataset
from automata.training.evaluation import roc_auc

FACTS = ("rows_by_class", "repeated_test_rows")
"""Facts of a user's own data that say what a score on their test rows is worth."""

LARGEST = 100_000_000
"""Maximum of training values x classes for a linear model, which then takes a few minutes."""


def baselines(data: Dataset) -> dict[str, Any]:
    """Return the scores of simple models on the test rows; the training rows train them.

    `majority` answers the most frequent class, with the shares of the classes as probabilities.
    `linear` is a logistic regression on standardised features, on TF-IDF of the words, or on
    pixels; in `linear_balanced` all classes have equal weight. `left_out` says why they are absent.
    """
    train, test = data.train, data.test
    values = int((train.inputs != PADDING).sum()) if data.kind == "text" else train.inputs.numel()
    models = {"majority": DummyClassifier(strategy="prior")}
    found: dict[str, Any] = {
        "dataset": data.name,
        **{fact: data.metadata[fact] for fact in FACTS if fact in data.metadata},
    }
    if values * data.classes > LARGEST:
        found["left_out"] = (
            f"{values:,} training values and {data.classes} classes would take too long"
        )
        features: Any = np.zeros((len(train), 1)), np.zeros((len(test), 1))
    else:
        models["linear"] = LogisticRegression(max_iter=300)
        models["linear_balanced"] = LogisticRegression(max_iter=300, class_weight="balanced")
        features = _features(data)
    labels = test.labels.numpy()
    for name, model in models.items():
        start = time.perf_counter()
        probabilities = model.fit(features[0], train.labels).predict_proba(features[1])
        seconds = time.perf_counter() - start
        predicted = probabilities.argmax(axis=1)
        found[name] = {
            "accuracy": accuracy_score(labels, predicted),
            "balanced_accuracy": balanced_accuracy_score(labels, predicted),
            "macro_f1": f1_score(labels, predicted, average="macro"),
            "roc_auc": roc_auc(labels, probabilities),
            "log_loss": log_loss(labels, probabilities, labels=range(data.classes)),
            "seconds": seconds,
        }
    return found


def _features(data: Dataset) -> tuple[Any, Any]:
    """Return the features (n, d) of the training and the test rows."""
    if data.kind == "text":
        words = TfidfVectorizer(analyzer=lambda row: row[row != PADDING].tolist())
        texts = data.train.inputs.numpy(), data.test.inputs.numpy()
        return words.fit_transform(texts[0]), words.transform(texts[1])
    train, test = (it.ready(it.inputs).flatten(1).numpy() for it in (data.train, data.test))
    return train, test
