"""Simple models, beside other ways to compute the same scores."""

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from automata.datasets.prepared import Dataset, Split
from automata.training import baselines as module
from automata.training.baselines import baselines

RANDOM = np.random.default_rng(0)
LABELS = {"train": np.repeat([0, 1], [60, 20]), "test": np.repeat([0, 1], [15, 10])}


def dataset(kind, inputs, normal=None):
    """Return a data set with these training and test inputs."""
    train, test = (
        Split(torch.from_numpy(inputs[name]), torch.from_numpy(LABELS[name]), normal)
        for name in ("train", "test")
    )
    facts = {"rows_by_class": {"test": {"a": 15, "b": 10}}, "repeated_test_rows": 0.2, "source": ""}
    return Dataset("mine", kind, 2, train, test, test, facts)


def fitted(features, weight=None):
    """Return scikit-learn's predictions and probabilities of the true classes of the test rows."""
    model = LogisticRegression(class_weight=weight).fit(features["train"], LABELS["train"])
    chances = model.predict_proba(features["test"])
    return model.predict(features["test"]), chances[np.arange(25), LABELS["test"]]


TABLE = {
    name: RANDOM.normal(labels[:, None], 1, (len(labels), 3)) for name, labels in LABELS.items()
}


@pytest.mark.parametrize(("name", "weight"), [("linear", None), ("linear_balanced", "balanced")])
def test_linear_model_of_a_table_is_a_logistic_regression(name, weight):
    predicted, own = fitted(TABLE, weight)
    right = predicted == LABELS["test"]
    scores = baselines(dataset("tabular", TABLE))[name]
    assert scores["accuracy"] == pytest.approx(right.mean())
    recalls = [right[LABELS["test"] == number].mean() for number in (0, 1)]
    assert scores["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    assert scores["log_loss"] == pytest.approx(-np.log(own).mean(), rel=1e-3)
    assert scores["seconds"] > 0


def test_linear_model_of_texts_reads_tf_idf_of_their_words():
    """Words are numbers; scikit-learn reads the same texts as words."""
    inputs = {
        name: RANDOM.poisson(2 + 2 * labels[:, None], (len(labels), 7)).astype(np.int32)
        for name, labels in LABELS.items()
    }
    words = {
        name: [" ".join(f"w{number}" for number in row if number) for row in rows]
        for name, rows in inputs.items()
    }
    reader = TfidfVectorizer().fit(words["train"])
    _, own = fitted({name: reader.transform(texts) for name, texts in words.items()})
    found = baselines(dataset("text", inputs))
    assert found["linear"]["log_loss"] == pytest.approx(-np.log(own).mean(), rel=1e-3)


@pytest.mark.parametrize(("largest", "fits"), [(80 * 3 * 2 - 1, False), (80 * 3 * 2, True)])
def test_large_data_have_no_linear_model(monkeypatch, largest, fits):
    monkeypatch.setattr(module, "LARGEST", largest)
    found = baselines(dataset("tabular", TABLE))
    assert "majority" in found
    assert found["rows_by_class"] == {"test": {"a": 15, "b": 10}}
    assert found["repeated_test_rows"] == 0.2
    assert ("linear" in found) is fits
    reason = None if fits else "240 training values and 2 classes would take too long"
    assert found.get("left_out") == reason
