"""Ray Tune itself, with trials that do nothing but report."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from ray import tune
from ray.tune import CheckpointConfig, PlacementGroupFactory, RunConfig, TuneConfig

from automata.config import SchedulerSettings, SearchSettings
from automata.config.methods import TpeSettings
from automata.registry import load
from automata.simulation import RULES, simulated
from automata.tuning import SCHEDULERS, SEARCHES
from automata.tuning.brackets import hyperband_brackets
from automata.tuning.history import History
from automata.tuning.keys import EPOCH, SCORE
from automata.tuning.ray_session import local_ray
from automata.tuning.search import PatientSearch
from automata.tuning.trials import EarlyTrials

N, T, ETA = 27, 200, 3
SPACE = {"x": tune.uniform(0.0, 1.0)}
SETTINGS = SearchSettings(tpe=TpeSettings(startup_configurations=5))


def reporter(folder, digits):
    """Return the trainable; made here, so that Ray's workers get the class and not its name.

    Fewer `digits` of the score make ties.
    """
    file = str(folder / "trial-{index}")

    class Reporter(tune.Trainable):
        """Reports at its rungs a score that its x decides."""

        def setup(self, config):
            self.reset_config(config)

        def reset_config(self, config):
            self.config, self.state = config, Path(file.format(index=config["index"]))
            self.reached = int(self.state.read_text()) if self.state.exists() else 0
            return True

        def step(self):
            epoch = self.config["rungs"][self.reached]
            self.reached += 1
            self.state.write_text(str(self.reached))
            score = round(1 - abs(self.config["configuration"]["x"] - 0.3), digits)
            return {EPOCH: epoch, SCORE: score, "reports": self.reached}

    return Reporter


def search(folder, scheduler_name, search_name, slots, digits=15):
    """Return scheduler, inner search and results of N trials, `slots` at once."""
    scheduler = load(SCHEDULERS, scheduler_name)(N, T, slots, SchedulerSettings())
    inner = load(SEARCHES, search_name)(SPACE, SETTINGS, 0)
    search = PatientSearch(inner, scheduler, N, slots, History())
    resources = PlacementGroupFactory([{"CPU": 1}])
    with local_ray(slots, 0):
        results = tune.Tuner(
            tune.with_resources(reporter(folder, digits), resources),
            tune_config=TuneConfig(
                metric=SCORE,
                mode="max",
                search_alg=EarlyTrials(search, scheduler, slots, resources),
                scheduler=scheduler.ray,
                num_samples=-1,
                reuse_actors=True,
            ),
            run_config=RunConfig(
                name="ray",
                storage_path=str(folder),
                verbose=0,
                checkpoint_config=CheckpointConfig(checkpoint_at_end=False),
            ),
        ).fit()
    return scheduler, inner, results


def ends(results):
    return Counter(result.metrics[EPOCH] for result in results)


@pytest.mark.parametrize("slots", [1, 2, 8])
@pytest.mark.parametrize("search_name", ["random", "tpe"])
def test_hyperband_trains_what_the_brackets_say(tmp_path, search_name, slots):
    _, inner, results = search(tmp_path, "hyperband", search_name, slots)
    brackets = hyperband_brackets(N, T, ETA)
    trained = sum(epoch * count for epoch, count in ends(results).items())
    assert trained == sum(bracket.epochs for bracket in brackets) == 2982
    assert ends(results) == {22: 6, 66: 10, 198: 5, 200: 6}
    # A trial that pauses goes on where it stopped: no rung is reported twice.
    assert all(
        r.metrics["reports"] == r.config["rungs"].index(r.metrics[EPOCH]) + 1 for r in results
    )
    if search_name == "tpe":
        assert [trial["result"]["status"] for trial in inner._hpopt_trials.trials] == ["ok"] * N


def test_hyperband_keeps_the_best_of_each_bracket(tmp_path):
    scheduler, _, results = search(tmp_path, "hyperband", "random", 1)
    first, last = 6, 6 + scheduler.brackets[1].trials
    bracket = [r for r in results if first <= r.config["index"] < last]
    by_score = sorted(bracket, key=lambda r: r.metrics[SCORE], reverse=True)
    assert [r.metrics[EPOCH] for r in by_score] == [198] * 3 + [66] * 6


def test_asha_stops_what_is_worse_than_the_cutoff_at_its_arrival(tmp_path):
    _, _, results = search(tmp_path, "asha", "random", 1)
    in_order = sorted(results, key=lambda r: r.config["index"])
    # One at a time: at its first rung a trial is judged against the trials before it, and goes
    # on if it reaches their upper quartile (reduction factor 4).
    scores = [result.metrics[SCORE] for result in in_order]
    goes_on = [i == 0 or s >= np.percentile(scores[:i], 75) for i, s in enumerate(scores)]
    assert [result.metrics[EPOCH] > 1 for result in in_order] == goes_on
    assert set(ends(results)) <= {1, 4, 16, 64, 200}


@pytest.mark.parametrize("scheduler_name", SCHEDULERS)
def test_simulation_decides_as_ray_does_where_scores_tie(tmp_path, scheduler_name):
    _, _, results = search(tmp_path, scheduler_name, "tpe", 1, digits=1)
    again = load(SEARCHES, "tpe")(SPACE, SETTINGS, 0)
    rules = RULES[scheduler_name](N, T, SchedulerSettings())

    def score(trial, epoch):
        return round(1 - abs(trial.configuration["x"] - 0.3), 1)

    found = simulated(again, rules, score)

    in_order = sorted(results, key=lambda result: result.config["index"])
    assert [(t.configuration, t.rungs, t.epoch, t.score) for t in found.trials] == [
        (r.config["configuration"], r.config["rungs"], r.metrics[EPOCH], r.metrics[SCORE])
        for r in in_order
    ]


def test_without_scheduler_every_trial_trains_all_epochs(tmp_path):
    _, _, results = search(tmp_path, "none", "random", 2)
    assert ends(results) == {T: N}
