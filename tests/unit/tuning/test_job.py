"""Whole jobs, small but real: Ray, training, record."""

import json

import pytest

from automata.code_versions import code_versions
from automata.config import Job, Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.errors import UserError
from automata.models.mlp import build
from automata.training.evaluation import evaluate
from automata.tuning import job as job_module
from automata.tuning.brackets import hyperband_brackets
from automata.tuning.job import run_job
from automata.tuning.search_phase import load_best_weights

N, T = 5, 9


def make_job(**changes):
    run = {
        "dataset": "dna",
        "search": "random",
        "scheduler": "hyperband",
        "selector": "gradmatch",
        "fraction": 0.1,
        "seed": 0,
    }
    rate = changes.pop("rate", [0.001, 0.01])
    optimizer = changes.pop("optimizer", ["adam", "sgd"])
    run.update(changes)
    protocol = {
        "model": "mlp",
        "configurations": N,
        "epochs": T,
        "reselect_every": 2,
        "search_space": {
            "learning_rate": {"uniform": rate},
            "optimizer": {"choice": optimizer},
            "schedule": {"choice": ["none", "cosine", "step"]},
            "hidden1": {"choice": [20, 30]},
            "hidden2": {"choice": [20, 30]},
            "batch_size": {"choice": [32, 64]},
        },
    }
    settings = {
        "protocol": protocol,
        "search": {"tpe": {"startup_configurations": 2}},
        "compute": {"device": "cpu"},
        "metering": {"exclusive": False},
    }
    return Job.model_validate({"run": run, "settings": settings})


def outcome(record):
    """Return what must repeat: configurations, epochs, subsets' use, scores, accuracies."""
    trials = [
        (t.configuration, t.status, t.progress.model_dump(exclude={"seconds", "evaluations"}))
        for t in record.tuning.trials
    ]
    scores = [
        [(e.epoch, e.accuracy, e.loss) for e in t.progress.evaluations]
        for t in record.tuning.trials
    ]
    return trials, scores, record.tuning.best, record.test.accuracy, record.test.loss


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "dna.safetensors"
    write_dataset(prepare("dna", Preparation(), path.parent), path)
    return path


@pytest.fixture(scope="module")
def record(data, tmp_path_factory):
    return run_job(make_job(), data, tmp_path_factory.mktemp("work") / "job")


def test_record_says_what_decides_its_numbers(record):
    made = record.provenance
    assert made["code"] == code_versions()
    assert made["torch"]["num_threads"] == 1
    assert {library["num_threads"] for library in made["blas"]} == {1}
    assert made["torch"]["flush_denormal"] is True


def test_every_configuration_becomes_a_trial(record):
    assert [trial.index for trial in record.tuning.trials] == list(range(N))


def test_trials_train_what_the_brackets_say(record):
    epochs = sum(bracket.epochs for bracket in hyperband_brackets(N, T, 3))
    assert sum(trial.progress.epochs for trial in record.tuning.trials) == epochs


def test_trials_train_on_their_budget_only(record):
    for trial in record.tuning.trials:
        assert trial.progress.samples == trial.progress.epochs * 140


def test_best_trial_has_the_highest_score(record):
    assert record.best.score == max(trial.score for trial in record.tuning.trials)


def test_final_training_takes_all_epochs_on_all_data(record):
    progress = record.final.progress
    assert (progress.epochs, progress.samples) == (T, T * 1400)
    assert progress.gradient_selections == 0


def test_test_accuracy_beats_the_largest_class(record, data):
    labels = read_dataset(data).test.labels
    assert record.test.accuracy > labels.bincount().max() / len(labels)


def test_parts_of_the_search_fit_into_its_wall_time(record):
    spent = sum(trial.progress.seconds.total for trial in record.tuning.trials)
    assert 0 < spent <= record.tuning.measurement.wall_seconds


def test_same_seed_gives_the_same_outcome(record, data, tmp_path):
    again = run_job(make_job(), data, tmp_path / "job")
    assert outcome(again) == outcome(record)


@pytest.mark.parametrize("scheduler", ["hyperband", "asha"])
def test_full_tests_the_best_trials_own_weights(data, tmp_path, scheduler):
    job = make_job(selector="full", fraction=1.0, scheduler=scheduler)
    record = run_job(job, data, tmp_path / "job")
    dataset = read_dataset(data)
    model = build(dataset, record.best.configuration)
    model.load_state_dict(load_best_weights(tmp_path / "job"))
    assert record.final is None
    assert evaluate(model, dataset.validation).accuracy == record.best.score
    assert evaluate(model, dataset.test).accuracy == record.test.accuracy


def test_random_search_gives_every_selector_the_same_configurations(record, data, tmp_path):
    other = run_job(make_job(selector="rs2"), data, tmp_path / "job")
    assert [t.configuration for t in other.tuning.trials] == [
        t.configuration for t in record.tuning.trials
    ]


def test_tpe_and_asha_go_the_whole_way(data, tmp_path):
    record = run_job(
        make_job(search="tpe", scheduler="asha", selector="craig"), data, tmp_path / "job"
    )
    assert {trial.progress.epochs for trial in record.tuning.trials} <= {1, 4, 9}


def test_diverging_trials_fail_with_a_reason_and_the_tuning_goes_on(data, tmp_path):
    job = make_job(rate=[0.5, 1e6], optimizer=["sgd", "adam"], selector="random", seed=1)
    record = run_job(job, data, tmp_path / "job")
    failed = [trial for trial in record.tuning.trials if trial.status == "failed"]
    assert 0 < len(failed) < N
    assert all("loss" in trial.progress.failure and trial.score == 0 for trial in failed)
    assert record.best.status != "failed"


def test_job_fails_when_every_trial_diverges(data, tmp_path):
    job = make_job(rate=[1e30, 1e31], optimizer=["sgd"], selector="random")
    with pytest.raises(UserError, match="all 5 trials diverged; the first: training loss"):
        run_job(job, data, tmp_path / "job")


def killed(*arguments):
    raise KeyboardInterrupt


@pytest.fixture
def interrupted(data, tmp_path, monkeypatch):
    """The work folder of a job that was interrupted between search and final training."""
    with monkeypatch.context() as patch:
        patch.setattr(job_module, "_train_finally", killed)
        with pytest.raises(KeyboardInterrupt):
            run_job(make_job(), data, tmp_path / "job")
    return tmp_path / "job"


def test_restart_after_the_search_does_not_repeat_it(data, interrupted, monkeypatch):
    kept = json.loads((interrupted / "search.json").read_text())["tuning"]["measurement"]
    monkeypatch.setattr(job_module, "run_search", killed)
    record = run_job(make_job(), data, interrupted)
    assert record.tuning.measurement.model_dump(mode="json") == kept


def test_kept_search_of_another_job_is_not_used(data, interrupted):
    assert run_job(make_job(seed=7), data, interrupted).job.run.seed == 7


def test_kept_search_of_another_host_is_not_used(data, interrupted):
    kept = interrupted / "search.json"
    content = json.loads(kept.read_text())
    content["provenance"]["host"] = "elsewhere"
    kept.write_text(json.dumps(content))
    assert run_job(make_job(), data, interrupted).provenance["host"] != "elsewhere"


def test_other_data_set_in_the_file_is_refused(data, tmp_path):
    with pytest.raises(UserError, match="is data set 'dna', not 'letter'"):
        run_job(make_job(dataset="letter"), data, tmp_path / "job")


def test_untuned_trains_the_first_random_configuration_and_searches_nothing(record, data, tmp_path):
    drawn = run_job(make_job(selector="untuned", fraction=0), data, tmp_path / "job")
    (trial,) = drawn.tuning.trials
    assert trial.configuration == record.tuning.trials[0].configuration
    assert (trial.status, trial.progress.epochs) == ("drawn", 0)
    assert drawn.tuning.measurement is None
    assert drawn.final.progress.epochs == T
    assert drawn.final.progress.samples == T * 1400
    assert drawn.final.measurement.wall_seconds > 0


def test_untuned_draws_other_configurations_with_other_seeds(data, tmp_path):
    first, second = (
        run_job(make_job(selector="untuned", fraction=0, seed=seed), data, tmp_path / f"{seed}")
        for seed in (0, 1)
    )
    assert first.best.configuration != second.best.configuration


def test_fulls_repeat_has_its_configurations_and_other_random_numbers(data, tmp_path):
    full, again = (
        run_job(make_job(selector=name, fraction=1), data, tmp_path / name)
        for name in ("full", "full-again")
    )
    assert [t.configuration for t in full.tuning.trials] == [
        t.configuration for t in again.tuning.trials
    ]
    assert full.tuning.trials[0].progress.training_loss != (
        again.tuning.trials[0].progress.training_loss
    )
    assert again.final is None
