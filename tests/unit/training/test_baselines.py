"""Simple models, beside other ways to compute the same scores."""

from functools import partial

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
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


def fitted(features, model):
    """Return scikit-learn's predictions and probabilities of the true classes of the test rows."""
    model.fit(features["train"], LABELS["train"])
    chances = model.predict_proba(features["test"])
    return model.predict(features["test"]), chances[np.arange(25), LABELS["test"]]


TABLE = {
    name: RANDOM.normal(labels[:, None], 1, (len(labels), 3)) for name, labels in LABELS.items()
}


@pytest.mark.parametrize(("end", "weight"), [("", None), ("_balanced", "balanced")])
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("linear", LogisticRegression),
        ("boosting", partial(HistGradientBoostingClassifier, max_bins=63)),
    ],
)
def test_models_of_a_table_are_those_of_scikit_learn(name, kind, end, weight):
    predicted, own = fitted(TABLE, kind(class_weight=weight))
    right = predicted == LABELS["test"]
    scores = baselines(dataset("tabular", TABLE))[name + end]
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
    features = {name: reader.transform(texts) for name, texts in words.items()}
    _, own = fitted(features, LogisticRegression())
    found = baselines(dataset("text", inputs))
    assert "boosting" not in found
    assert found["linear"]["log_loss"] == pytest.approx(-np.log(own).mean(), rel=1e-3)


@pytest.mark.parametrize(("largest", "fits"), [(80 * 3 * 2 - 1, False), (80 * 3 * 2, True)])
def test_large_data_have_no_linear_model(monkeypatch, largest, fits):
    monkeypatch.setattr(module, "LARGEST", largest)
    found = baselines(dataset("tabular", TABLE))
    assert {"majority", "boosting"} < found.keys()
    assert found["rows_by_class"] == {"test": {"a": 15, "b": 10}}
    assert found["repeated_test_rows"] == 0.2
    assert ("linear" in found) is fits
    said = "a linear model was left out: 240 training values and 2 classes would take too long"
    assert found["notes"] == ([] if fits else [said])


def test_wide_tables_have_no_boosting(monkeypatch):
    monkeypatch.setattr(module, "WIDEST", 5)
    found = baselines(dataset("tabular", TABLE))
    assert not {"boosting", "boosting_balanced"} & found.keys()
    said = "boosting was left out: 3 features and 2 classes would take too long"
    assert found["notes"] == [said]


def test_boosting_of_long_tables_has_random_rows(monkeypatch):
    monkeypatch.setattr(module, "BOOSTED", 40 * 3 * 2)
    found = baselines(dataset("tabular", TABLE))
    assert found["notes"] == ["boosting had 40 random training rows of 80"]
    assert found["boosting"]["accuracy"] > 0.6  # the first 40 rows have one class


@pytest.mark.parametrize("boosted", [10**9, 10_001 * 3])
def test_boosting_takes_a_class_of_one_row_among_many_or_none(monkeypatch, boosted):
    """Scikit-learn stops boosting early above 10,000 rows, and refuses such a class then."""
    monkeypatch.setattr(module, "BOOSTED", boosted)
    left_out = np.random.default_rng(0).permutation(10_002)[-1]
    labels = torch.zeros(10_002, dtype=torch.int64)
    labels[::2], labels[left_out] = 1, 2
    train = Split(labels[:, None].float(), labels)
    test = Split(torch.tensor([[0.0], [1.0]]), torch.tensor([0, 1]))
    facts = {"rows_by_class": {}, "repeated_test_rows": 0.0}
    found = baselines(Dataset("mine", "tabular", 3, train, test, test, facts))
    assert found["boosting"]["accuracy"] == 1.0
