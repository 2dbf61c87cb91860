"""The table of metrics: every part of the project finds them there."""

import pytest

from automata.metrics import METRICS
from automata.records.scores import Scores


def test_records_know_each_metric():
    fields = {entry.field or name for name, entry in METRICS.items()}
    assert fields == Scores.model_fields.keys()


@pytest.mark.parametrize("name", METRICS)
def test_a_better_value_has_a_higher_score_from_which_it_comes_back(name):
    entry = METRICS[name]
    worse, better = (0.9, 0.2) if entry.lower_is_better else (-0.3, 0.8)
    scores = entry.to_score(worse), entry.to_score(better)
    assert scores[0] < scores[1]
    assert [entry.from_score(it) for it in scores] == pytest.approx([worse, better])
