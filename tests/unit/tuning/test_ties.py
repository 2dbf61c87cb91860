"""Trials with equal validation scores: with `break_ties` the lower log loss decides."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata.config.data import Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import Split, write_dataset
from automata.records.progress import Evaluation, Progress
from automata.search.search import search_of
from automata.tuning.log import TrialReported, judge, replay
from support.searching import make_job, run_job

from .replay import differences


def scored(accuracy, loss, break_ties=True, metric="accuracy", **scores):
    evaluation = Evaluation(epoch=1, accuracy=accuracy, loss=loss, finished_at=0, **scores)
    return Progress(evaluations=[evaluation], metric=metric, break_ties=break_ties)


@given(right=st.tuples(*[st.integers(0, 3)] * 2), losses=st.tuples(*[st.integers(0, 100)] * 2))
@pytest.mark.parametrize("rows", [3, 10**7])
def test_the_loss_decides_between_equal_accuracies_alone(rows, right, losses):
    ranks = [(number, -loss) for number, loss in zip(right, losses, strict=True)]
    one, other = (scored(number / rows, -negative).standing for number, negative in ranks)
    assert (one > other, one == other) == (ranks[0] > ranks[1], ranks[0] == ranks[1])
    assert one > Progress(failure="diverged").standing
    assert scored(right[0] / rows, losses[0], break_ties=False).standing == right[0] / rows


def test_equal_means_over_classes_are_ties_although_their_last_digits_differ():
    one, other = (float(np.mean(recalls)) for recalls in ([0.0, 0.2, 0.4], [0.0, 0.0, 0.6]))
    assert one > other
    of = {"accuracy": 0.2, "metric": "balanced_accuracy"}
    worse = scored(loss=0.5, balanced_accuracy=one, **of)
    assert worse.standing < scored(loss=0.4, balanced_accuracy=other, **of).standing


@pytest.mark.parametrize(
    ("scheduler", "epochs"),
    [
        # Trials 3 and 5 have the lowest losses of 3 to 7; by their order 6 and 7 would go on.
        ("hyperband", [9, 9, 9, 9, 3, 9, 3, 3]),
        # By their order all would go on. Trial 5 is in the best quarter after 1 epoch: 1/(1 + loss)
        # is 1/3, the mark 1/5. After 4 epochs the mark is 0.425, of 1/5 and 1/2.
        ("asha", [9, 1, 1, 9, 1, 4, 1, 1]),
    ],
)
def test_of_trials_with_equal_scores_those_with_lower_losses_go_on(scheduler, epochs):
    job = make_job(run={"scheduler": scheduler}, configurations=8, break_ties=True)
    search, entries = search_of(job), []
    while (trial := search.upcoming()) is not None:
        search.start(trial.index)
        progress = scored(0.9, [4, 9, 8, 1, 6, 2, 5, 7][trial.index])
        progress.evaluations *= trial.reached + 1
        names = {"index": trial.index, "configuration": trial.configuration}
        names["rung"] = trial.reached + 1
        entries.append(TrialReported(**names, progress=progress, measurement=None))
        judge(entries[-1], search)
    again = search_of(job)
    assert replay(entries, again) == len(entries)
    for found in (search, again):
        assert [trial.epoch for trial in found.trials] == epochs
        assert found.best.index == 3


@pytest.mark.parametrize("seed", [2, 4])
@pytest.mark.usefixtures("without_ray")
def test_finalists_with_equal_scores_are_compared_by_their_losses(tmp_path, seed):
    """Nearly all tie on one validation row: by their order, others would stay and win."""
    dna = prepare("dna", Preparation(), tmp_path)
    one = Split(dna.validation.inputs[:1], dna.validation.labels[:1])
    write_dataset(replace(dna, validation=one), tmp_path / "dna.safetensors")
    job = make_job(run={"selector": "rs2", "seed": seed}, break_ties=True, finalists=3)
    record = run_job(job, tmp_path / "dna.safetensors", tmp_path / "job")
    assert differences(record) == []
    left = best({trial.index: trial.progress.evaluations[-1] for trial in record.tuning.trials}, 3)
    assert record.tuning.best == left[0]
    final = record.final
    runs = {final.trial: final.progress, **{it.trial: it.progress for it in final.lost}}
    assert runs.keys() == {*left}
    for rung, stay in enumerate((2, 1)):
        left = best({index: runs[index].evaluations[rung] for index in left}, stay)
    assert left == [final.trial]


def best(evaluations, count):
    """Return the trials with the best of these evaluations."""
    ranks = {index: (-it.accuracy, it.loss) for index, it in evaluations.items()}
    return sorted(ranks, key=ranks.__getitem__)[:count]
