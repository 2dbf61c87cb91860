"""Searches without Ray and training: what follows from given scores, by hand."""

import math
import random
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from automata.config.sections import SchedulerSettings
from automata.records import Trial, Tuning
from automata.training.progress import Evaluation, Progress
from automata.tuning.refit import best_trials, refit
from automata.tuning.schedulers import Asha, Hyperband, NoScheduler, Screens, Verdict
from automata.tuning.search import Search, search_of
from automata.tuning.work import CheckpointPolicy
from support.searching import make_job, measured
from support.simulated import simulate

SETTINGS = SchedulerSettings.model_validate({"asha": {"reduction_factor": 3}})


class Counting:
    """Proposes 0, 1, 2, ... and notes the results that it has received before each."""

    def __init__(self, blind=0):
        self.heard, self.knew, self.blind = {}, [], blind

    def suggest(self, trial_id):
        self.knew.append(sorted(self.heard))
        return {"x": int(trial_id)}

    def on_trial_complete(self, trial_id, result):
        self.heard[int(trial_id)] = result["score"]


def search(scheduler, *scores):
    """Return a search whose trials score the same at all rungs, and its proposer."""
    proposer, n = Counting(), len(scores)
    made = Search(proposer, scheduler(n, 9, SETTINGS), n)
    return simulate(made, lambda trial, epoch: scores[trial.index]), proposer


def test_hyperband_halves_a_bracket_after_its_last_result():
    scores = [0.1, 0.2, 0.3, 0.5, 0.4, 0.7, 0.6, 0.65, 0.1, 0.2, 0.3, 0.4]
    found, proposer = search(Hyperband, *scores)
    # ceil(5/3) = 2 of the second bracket go on; of nine places 3, and 1 of these.
    assert [trial.epoch for trial in found.trials] == [9, 9, 9, 3, 3, 9, 3, 9, 1, 3, 3, 9]
    status = ["completed", "stopped", "completed", "stopped"]
    assert [found.status(trial) for trial in found.trials[5:9]] == status
    # Results of a bracket are known when all of it has ended; the next one hears of them.
    assert proposer.knew == [[]] * 3 + [[0, 1, 2]] * 5 + [list(range(8))] * 4
    assert proposer.heard == dict(enumerate(scores))
    assert found.best == 5


@pytest.mark.parametrize(
    ("scheduler", "scores", "epochs", "best"),
    [
        # Of equal scores the later ones go on, but the earliest is the best.
        (Hyperband, [0.5] * 8, [9, 9, 9, 3, 3, 3, 9, 9], 0),
        # Two of nine places are taken, three go on, then one.
        (Hyperband, [0.5] * 9 + [0.6], [9, 9, 9, 3, 3, 3, 9, 9, 3, 9], 9),
        # eta = 3: two thirds of the way from worst to best of those before. At epoch 1: none; 0.0;
        # 0.2 (of 0 and 0.3); 0.233 (of 0, 0.2, 0.3); 0.2 (of 0, .199, .2, .3). At epoch 3 trial 2
        # meets the mark 0.2 of 0 and 0.3, at epoch 9 it ends.
        (Asha, [0.0, 0.3, 0.2, 0.199, 0.5], [9, 9, 9, 1, 9], 4),
        (Asha, [0.5, 0.5, 0.499], [9, 9, 1], 0),
        (NoScheduler, [0.3, 0.2, 0.4], [9, 9, 9], 2),
    ],
)
def test_trials_end_as_by_hand(scheduler, scores, epochs, best):
    found, proposer = search(scheduler, *scores)
    assert [trial.epoch for trial in found.trials] == epochs
    assert found.best == best
    if scheduler is not Hyperband:
        assert proposer.knew == [list(range(index)) for index in range(len(scores))]


def test_the_trial_that_goes_on_at_once_trains_first():
    found, _ = search(Hyperband, 0, 0, 0, 0.5, 0.9, 0.1, 0.1, 0.8)
    assert [result.trial for result in found.results] == [0, 1, 2, 3, 4, 5, 6, 7, 7, 4]


def test_initial_configurations_come_first_and_teach_the_search_nothing():
    proposer = Counting(blind=1)
    made = Search(proposer, Asha(5, 9, SETTINGS), 5, slots=1, initial=[{"x": 10}, {"x": 11}])
    found = simulate(made, lambda trial, epoch: trial.configuration["x"])
    assert [trial.configuration["x"] for trial in found.trials] == [10, 11, 2, 3, 4]
    assert proposer.heard == {2: 2, 3: 3, 4: 4}
    at_once = Search(Counting(blind=1), Groups(), 5, slots=5, initial=[{"x": 10}, {"x": 11}])
    assert started(at_once) == [0, 1, 2]


class Groups:
    """Judges two groups, of 2 and 3 trials, each of which ends at its first result."""

    most_rungs_win = False

    def rungs(self, trial):
        return [trial + 1]

    def proposals(self, ended, slots):
        return 2 if ended < 2 else 5

    def judge(self, results):
        return Verdict(ends=[results[-1].trial])


class OneByOne(Groups):
    """Judges each trial on its own."""

    def proposals(self, ended, slots):
        return ended + slots


def started(search):
    """Start what can train now, and return it."""
    indices = []
    while (trial := search.upcoming()) is not None:
        search.start(trial.index)
        indices.append(trial.index)
    return indices


def test_one_trial_is_proposed_while_others_train():
    search = Search(Counting(), Groups(), 5)
    started(search)
    search.prepare()
    search.prepare()
    assert [trial.configuration for trial in search.trials] == [{"x": 0}, {"x": 1}]


def test_the_next_group_waits_for_the_end_of_the_last():
    search = Search(Counting(), Groups(), 5, slots=5)
    assert started(search) == [0, 1]
    search.report(1, 0.5)
    assert started(search) == []
    search.report(0, 0.5)
    assert started(search) == [2, 3, 4]
    for index in (2, 4):
        search.report(index, 0.5)
        assert not search.finished
    search.report(3, 0.5)
    assert search.finished
    assert search.upcoming() is None


@pytest.mark.parametrize("slots", [1, 3])
def test_without_groups_a_proposal_waits_for_a_free_slot(slots):
    proposer = Counting(blind=1)
    search = Search(proposer, OneByOne(), 5, slots)
    assert started(search) == list(range(slots))
    assert len(search.trials) == slots
    search.report(0, 0.5)
    assert proposer.knew == [[]] * slots + [[0]]
    assert started(search) == [slots]


@pytest.mark.parametrize(("blind", "slots", "trials"), [(3, 5, 3), (4, 5, 4), (sys.maxsize, 2, 2)])
def test_proposals_that_need_no_result_wait_for_none(blind, slots, trials):
    assert started(Search(Counting(blind), Groups(), 5, slots)) == list(range(trials))


def test_proposals_depend_on_the_order_of_results_alone():
    """They do not depend on when Ray asks for trials, so a restart proposes the same."""
    knew = []
    for asks in (True, False):
        proposer = Counting(blind=1)
        search = Search(proposer, OneByOne(), 5, slots=2)
        for index in (1, 0, 2, 3, 4):
            if asks:
                started(search)
            search.report(index, 0.5)
        knew.append(proposer.knew)
        assert search.finished
    assert knew[0] == knew[1] == [[], [], [1], [0, 1], [0, 1, 2]]


@given(slots=st.integers(2, 30), ties=st.booleans(), order=st.randoms(use_true_random=False))
def test_hyperband_decides_the_same_in_whatever_order_results_arrive(slots, ties, order):
    scores = [order.randrange(5 if ties else 10**6) / 10**6 for _ in range(27)]
    alone, _ = search(Hyperband, *scores)
    together = Search(Counting(sys.maxsize), Hyperband(27, 9, SETTINGS), 27, slots)
    while not together.finished:
        started(together)
        index = order.choice(sorted(together._training))
        together.report(index, scores[index])
    assert [trial.epoch for trial in together.trials] == [trial.epoch for trial in alone.trials]
    assert together.best.index == alone.best


def test_the_best_is_the_best_of_those_that_have_ended():
    search = Search(Counting(), NoScheduler(3, 9, SETTINGS), 3, slots=3)
    assert search.best is None
    for index, score, best in ((1, 0.5, 1), (2, 0.5, 1), (0, 0.5, 0)):
        search.report(index, score)
        assert search.best.index == best


@pytest.mark.parametrize("scheduler", [Hyperband, Asha, NoScheduler])
@pytest.mark.parametrize("results", range(1, 12))
def test_a_stopped_search_keeps_the_trials_with_a_score(scheduler, results):
    stopped = Search(Counting(), scheduler(12, 9, SETTINGS), 12, slots=2)
    for _ in range(results):
        started(stopped)
        first = min(stopped._training)
        stopped.report(first, score := 1 / (2 + first))
    ends = stopped.stop()
    assert not set(ends) & stopped._training
    for index in sorted(stopped._training):
        assert stopped.report(index, score).ends == [index]
    assert stopped.finished
    assert stopped.upcoming() is None
    assert [trial.index for trial in stopped.trials] == list(range(len(stopped.trials)))
    assert {trial.index for trial in stopped.trials} == {r.trial for r in stopped.results}
    assert stopped.best.score == max(trial.score for trial in stopped.trials)


def test_a_screen_begins_when_the_one_before_has_ended_and_only_the_first_is_heard_of():
    scheduler = Screens([Asha(4, 9, SETTINGS), Asha(4, 9, SETTINGS)], 4)
    allowed = [scheduler.proposals(ended, slots=2) for ended in range(9)]
    assert allowed == [2, 3, 4, 4, 6, 7, 8, 8, 8]
    proposer = Counting()
    found = simulate(Search(proposer, scheduler, 4, screens=2), lambda trial, _: trial.index / 8)
    assert [trial.configuration["x"] for trial in found.trials] == [0, 1, 2, 3] * 2
    assert proposer.heard == {index: index / 8 for index in range(4)}
    assert found.best == 7


N = 12
BRACKETS = [(3, [9], [0]), (5, [3, 9], [2, 0]), (4, [1, 3, 9], [3, 1, 0])]
"""Hyperband of 12 configurations for T = 9: trials, rungs, how many stay. The last has 9 places."""
HEDGES = {
    "hedge": ({0.1: 3, 0.3333: 2}, [(1, 3), (3, 2), (9, 1)]),
    "faster hedge": ({0.1: 3, 0.25: 2, 0.5: 1}, [(1, 3), (2, 2), (4, 1)]),
}
"""`finalist_rungs`, and the same in epochs by hand."""


def hedge(losses, right, stages):
    """Return the finalists and the winner, as the study's protocol says (docs/study.md).

    `losses` has screens, their trials and epochs, `right` trials and epochs.
    """
    finalists = []
    for screen in losses:
        last, first = {}, 0
        for size, rungs, left in BRACKETS:
            alive = range(first, first + size)
            for rung, stay in zip(rungs, left, strict=True):
                last |= {trial: screen[trial][rung] for trial in alive}
                later_wins = sorted(alive, key=lambda trial: -trial)
                alive = sorted(later_wins, key=lambda trial: screen[trial][rung])[:stay]
            first += size
        finite = [trial for trial in range(N) if last[trial] < math.inf]
        lowest = sorted(finite, key=last.__getitem__)[:3]
        finalists += [trial for trial in lowest if trial not in finalists]
    left = finalists
    for rung, stay in stages:
        best = sorted(left, key=lambda trial: -right[trial][rung])[:stay]
        left = [trial for trial in left if trial in best]
    return finalists, left[0]


class FreshTraining:
    """A training of a finalist with given accuracies."""

    def __init__(self, accuracies):
        self.progress, self._accuracies = Progress(), accuracies
        self.model, self.weights = torch.nn.Identity(), {}

    def train_to(self, epoch):
        self.progress.epochs = epoch

    def evaluate(self):
        self.progress.evaluations.append(evaluation(self.progress.epochs, 1.0, self._accuracies))


def evaluation(epoch, loss, accuracies):
    return Evaluation(epoch=epoch, accuracy=accuracies[epoch], loss=loss, finished_at=0.0)


@pytest.mark.parametrize("name", HEDGES)
@pytest.mark.parametrize("seed", range(25))
def test_the_hedge_chooses_as_the_protocol_of_the_study_says(name, seed, tmp_path, monkeypatch):
    chance, (shares, stages) = random.Random(seed), HEDGES[name]
    losses = [[[chance.randint(1, 5) / 4 for _ in range(10)] for _ in range(N)] for _ in range(2)]
    for screen in losses:
        for curve in screen:
            if chance.random() < (0.3 if seed % 3 else 0.9):  # it diverges
                start = chance.randint(1, 9)
                curve[start:] = [math.inf] * (10 - start)
    losses[0][0] = [1.0] * 10
    right = [[chance.randint(0, 4) / 4 for _ in range(10)] for _ in range(N)]
    finalists, winner = hedge(losses, right, stages)
    job = make_job(
        run={"selector": "rs2", "seed": seed},
        configurations=N,
        horizon_exponent=[0, 0.5],
        screen_metric="log_loss",
        finalists=3,
        finalist_rungs=shares,
    )

    def at(trial, epoch):
        return losses[trial.index // N][trial.index % N][epoch]

    found = simulate(search_of(job), lambda trial, epoch: math.exp(-at(trial, epoch)) or math.nan)

    def trial_of(trial):
        seen = [evaluation(e, at(trial, e), right[trial.index % N]) for e in trial.rungs]
        progress = Progress(evaluations=seen[: trial.reached], metric="log_loss")
        return Trial(
            index=trial.index,
            configuration=trial.configuration,
            rungs=trial.rungs,
            status=found.status(trial),
            progress=progress,
        )

    tuning = Tuning(segments=[], trials=[*map(trial_of, found.trials)], best=found.best)
    chosen = best_trials(tuning, job.settings.protocol)
    assert [trial.index % N for trial in chosen] == finalists
    configurations = [trial.configuration for trial in found.trials]
    assert configurations[:N] == configurations[N:]

    meter = nullcontext()
    meter.measurement = measured(0.0)

    def training_run(configuration, plan):
        return FreshTraining(right[configurations.index(configuration)])

    context = SimpleNamespace(job=job, meter=lambda: meter, training_run=training_run)
    monkeypatch.setattr(CheckpointPolicy, "write", lambda *_: None)
    final, model = refit(context, chosen, tmp_path / "refit.pt", "")
    best = chosen[finalists.index(winner)]
    assert final.trial == (best.index if len(chosen) > 1 else None)
    assert model.progress.epochs == 9
    assert len(final.lost) == len(finalists) - 1
