"""Ray Tune itself, with trials that do nothing but report."""

import json
import math
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import ray
from ray import tune
from ray.tune import CheckpointConfig, FailureConfig, PlacementGroupFactory, RunConfig, TuneConfig

from automata.config.sections import SchedulerSettings, SearchSettings, TpeSettings
from automata.config.spaces import Domain
from automata.loading import load
from automata.metering.meter import Meter
from automata.registry import SCHEDULERS, SEARCHES
from automata.search.search import SCORE, Search
from automata.tuning import live as live_module
from automata.tuning.live import LivePhase
from automata.tuning.log import SearchLog
from automata.tuning.ray_search import RayScheduler, RayTrials, Stage
from automata.tuning.work import PhaseFolder
from support.simulated import simulate

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("session_ray")]

N, T = 27, 200
SPACE = {"x": Domain(uniform=(0.0, 1.0))}
SETTINGS = SearchSettings(tpe=TpeSettings(startup_configurations=5))


def reporter(folder, pause):
    """Return a class that Ray's workers get without its name; it starts after `pause` seconds."""
    file = str(folder / "trial-{index}")

    class Reporter(tune.Trainable):
        """Reports at its rungs a score that its x decides."""

        def setup(self, config):
            time.sleep(pause)
            (folder / f"started-{os.getpid()}").touch()
            self.reset_config(config)

        def reset_config(self, config):
            self.config, self.state = config, Path(file.format(index=config["index"]))
            self.reached = int(self.state.read_text()) if self.state.exists() else 0
            return True

        def step(self):
            self.reached += 1
            self.state.write_text(str(self.reached))
            rungs = self.config["rungs"][: self.reached]
            score = round(1 - abs(self.config["configuration"]["x"] - 0.3), 1)  # they tie
            seen = {"accuracy": score, "loss": 0, "finished_at": 0}
            evaluations = [{"epoch": rung, **seen} for rung in rungs]
            progress = json.dumps({"epochs": rungs[-1], "evaluations": evaluations})
            result = {"epoch": rungs[-1], SCORE: score, "reports": self.reached}
            return {**result, "progress": progress, "saved": False}

    return Reporter


def make(scheduler_name, search_name, slots=1):
    """Return a search of N trials, `slots` at once."""
    proposer = load(SEARCHES, search_name)(SPACE, SETTINGS, 0)
    scheduler = load(SCHEDULERS, scheduler_name)(N, T, SchedulerSettings())
    return Search(proposer, scheduler, N, slots)


def run(folder, search, seconds=math.inf, pause=0.0):
    """Return Ray's results of a search."""
    log, meter = SearchLog(folder / "log.jsonl"), Meter(sample_seconds=5, gpus=[], exclusive=False)
    live = LivePhase(search, log, PhaseFolder(folder), meter, {}, seconds)
    stage = Stage(iter(()), live)
    resources = PlacementGroupFactory([{"CPU": 1}])
    return tune.Tuner(
        tune.with_resources(reporter(folder, pause), resources),
        tune_config=TuneConfig(
            search_alg=RayTrials(stage), scheduler=RayScheduler(stage), reuse_actors=True
        ),
        run_config=RunConfig(
            name="ray",
            storage_path=str(folder),
            callbacks=[stage],
            verbose=0,
            failure_config=FailureConfig(fail_fast="raise"),
            checkpoint_config=CheckpointConfig(checkpoint_at_end=False),
        ),
    ).fit()


@pytest.mark.parametrize(
    ("scheduler_name", "search_name", "slots"),
    [("asha", "tpe", 1), ("hyperband", "tpe", 1), ("hyperband", "random", 8)],
)
def test_a_search_decides_in_ray_as_without_it_if_scores_tie(
    tmp_path, scheduler_name, search_name, slots
):
    results = run(tmp_path, make(scheduler_name, search_name, slots))

    def score(trial, epoch):
        return round(1 - abs(trial.configuration["x"] - 0.3), 1)

    found = simulate(make(scheduler_name, search_name), score)
    in_order = sorted(results, key=lambda result: result.config["index"])
    assert [(t.configuration, t.rungs, t.epoch, t.score) for t in found.trials] == [
        (r.config["configuration"], r.config["rungs"], r.metrics["epoch"], r.metrics[SCORE])
        for r in in_order
    ]
    # A paused trial resumes where it stopped: it reports no rung twice.
    assert [r.metrics["reports"] for r in in_order] == [trial.reached for trial in found.trials]


def test_trials_at_once_share_workers_that_each_start_once(tmp_path):
    """Each start takes longer than all trials do on the worker that is there first."""
    search = make("hyperband", "random", slots=2)
    results = run(tmp_path, search, pause=1.0)
    assert search.finished
    assert len({result.metrics["pid"] for result in results}) == 2
    assert len(list(tmp_path.glob("started-*"))) == 2
    burn = ray.remote(lambda: [time.process_time(), sum(range(10**8)), time.process_time()])
    with Meter(sample_seconds=5, gpus=[], exclusive=False) as window:
        start, _, end = ray.get(burn.remote())
        time.sleep(1)
    assert window.measurement.cpu_seconds > 0.9 * (end - start)


@pytest.mark.parametrize("slots", [1, 2])
def test_the_time_limit_ends_trials_at_their_next_rung(tmp_path, slots):
    search = make("hyperband", "random", slots)
    results = run(tmp_path, search, seconds=0)
    assert [result.metrics["epoch"] for result in results] == [T] * slots
    assert search.finished
    assert [trial.reached for trial in search.trials] == [len(t.rungs) for t in search.trials]


def test_the_time_limit_begins_when_the_first_worker_has_started(tmp_path, monkeypatch):
    """By the clock of the test, the worker starts at 100 s, and everything else takes no time."""
    clock = SimpleNamespace(
        monotonic=lambda: 100.0 if any(tmp_path.glob("started-*")) else 0.0,
        perf_counter=time.perf_counter,
    )
    monkeypatch.setattr(live_module, "time", clock)
    search = make("none", "random")
    assert len(run(tmp_path, search, seconds=50)) == N
