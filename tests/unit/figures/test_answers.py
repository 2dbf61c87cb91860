"""Figures of own data: confusions and scores by class as scikit-learn has them, and the search."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from automata.analysis.collect import ANSWERS, TRAINING
from automata.figures.answers import best_run, classes_figure, confusion_figure, course_figure

from .drawn import texts

SEED = 0


@pytest.fixture
def answered(small, tmp_path):
    """Give a function that makes a study whose best model gave `answers` to rows of `labels`."""

    def make(labels, answers):
        study = replace(small)
        record = best_run(study, "sst5")["record"]
        counts = pd.DataFrame({"class": labels, "answer": answers}).value_counts().reset_index()
        counts = counts.sort_values(["class", "answer"])
        rows = [(record, *row) for row in counts.itertuples(index=False)]
        study.__dict__["answers"] = pd.DataFrame(rows, columns=ANSWERS)
        epochs = [(record, 1, 0.9), (record, 2, 0.4), ("another", 1, 7.0)]
        study.__dict__["training"] = pd.DataFrame(epochs, columns=TRAINING)
        return study

    return make


def drawn_rows(classes, count=300):
    """Return classes, and answers of which some are wrong."""
    random = np.random.default_rng(SEED)
    labels = random.integers(classes, size=count)
    wrong = random.random(count) < 0.3
    answers = np.where(wrong, random.integers(classes, size=count), labels)
    return [[f"class {number:02}" for number in column] for column in (labels, answers)]


@pytest.mark.parametrize("classes", [2, 12])
def test_matrix_has_the_shares_of_scikit_learn(answered, classes):
    labels, answers = drawn_rows(classes)
    (axes,) = confusion_figure(answered(labels, answers), "sst5").axes
    shares = np.asarray(axes.collections[0].get_array()).reshape(classes, classes)
    expected = confusion_matrix(labels, answers, normalize="true")
    assert shares == pytest.approx(expected)
    cells = [f"{100 * it:.0f}" if it >= 0.005 else "" for it in expected.ravel()]
    assert texts(axes) == (cells if classes == 2 else [])


def test_many_classes_show_the_most_frequent_confusions(answered):
    right = [f"class {number:02}" for number in range(40)] * 2
    labels, answers = (
        [*right, *["class 07"] * 3, "class 09"],
        [*right, *["class 01"] * 3, "class 02"],
    )
    (axes,) = confusion_figure(answered(labels, answers), "sst5").axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["class 07 answered as class 01", "class 09 answered as class 02"]
    assert [bar.get_width() for bar in axes.patches] == [3, 1]
    assert [text.strip() for text in texts(axes)] == ["3 of 5", "1 of 3"]
    assert texts(confusion_figure(answered(right, right), "sst5").axes[0]) == ["no wrong answer"]


def test_a_class_without_test_rows_has_none(answered):
    (axes,) = classes_figure(answered(["a", "a"], ["a", "b"]), "sst5").axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a (2)", "b (0)"]


@pytest.mark.parametrize(("classes", "shown"), [(3, 3), (40, 10)])
def test_scores_by_class_are_scikit_learns(answered, classes, shown):
    labels, answers = drawn_rows(classes, 900)
    names = sorted({*labels})
    scores = precision_recall_fscore_support(labels, answers, labels=names)
    table = pd.DataFrame(zip(*scores, strict=True), names, ["precision", "recall", "f1", "rows"])
    table = table.nsmallest(10, "recall") if classes > shown else table
    (axes,) = classes_figure(answered(labels, answers), "sst5").axes
    lines = {line.get_label(): line for line in axes.lines}
    for score in ("precision", "recall"):
        assert list(lines[score].get_xdata()) == pytest.approx([*table[score]])
    expected = [f"{name} ({int(rows)})" for name, rows in table["rows"].items()]
    assert [label.get_text() for label in axes.get_yticklabels()] == expected


def test_course_has_the_scores_of_the_best_run_and_its_training(answered):
    study = answered(["a", "b"], ["a", "b"])
    above, below = course_figure(study, "sst5").axes
    trials = study.trials[study.trials["record"] == best_run(study, "sst5")["record"]]
    dots, best = above.lines
    assert list(dots.get_ydata()) == [*trials["score"]]
    assert list(best.get_ydata()) == [
        max(trials["score"][:end]) for end in range(1, len(trials) + 1)
    ]
    assert [list(axis) for axis in below.lines[0].get_data()] == [[1, 2], [0.9, 0.4]]


def test_record_without_answers_is_no_error(small, tmp_path):
    for figure in (confusion_figure, classes_figure):
        (axes,) = figure(small, "sst5").axes
        assert texts(axes) == ["not recorded"]
