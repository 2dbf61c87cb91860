"""Whole jobs, small but real: training, restarts, records.

Trials train in this process, but for the tests marked `in_ray`: what Ray does is tested there,
and in test_ray_search.py.
"""

import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from automata.analysis.runs import row
from automata.cli import rules
from automata.config.data import Preparation
from automata.config.job import Job
from automata.config.sections import Comparison
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.errors import UserError
from automata.failures import KEPT, known_reason
from automata.models.mlp import build
from automata.prediction.saved import read_model as read_saved
from automata.provenance import provenance
from automata.records import Record, read_record, write_record
from automata.seeds import derive
from automata.selection.random import Full, RepeatedRandom
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.training.subsets import SubsetPlan
from automata.tuning import context as context_module
from automata.tuning import job as job_module
from automata.tuning import trainable as trainable_module
from automata.tuning.checkpoints import CheckpointPolicy, read_checkpoint
from automata.tuning.job import ModelFiles, complete_job
from automata.tuning.log import SearchLog, TrialReported
from automata.tuning.refit import refit
from automata.tuning.schedulers import hyperband_brackets
from automata.tuning.work import WorkFolder
from automata.versions import MEASUREMENT
from support.searching import run_job, search_here

from .replay import differences

N, T = 5, 9
FACTORY = "protocol.*.model.factory"


@pytest.fixture(autouse=True)
def _trials_train_here(request):
    if "in_ray" not in request.fixturenames:
        request.getfixturevalue("without_ray")


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
    minutes, slots = changes.pop("minutes", None), changes.pop("slots", 1)
    finalists, more = changes.pop("finalists", 1), changes.pop("protocol", {})
    run.update(changes)
    protocol = {
        "model": "mlp",
        "configurations": N,
        "epochs": T,
        "reselect_every": 2,
        "search_minutes": minutes,
        "finalists": finalists,
        "search_space": {
            "learning_rate": {"uniform": rate},
            "optimizer": {"choice": optimizer},
            "schedule": {"choice": ["none", "cosine", "step"]},
            "hidden1": {"choice": [20, 30]},
            "hidden2": {"choice": [20, 30]},
            "batch_size": {"choice": [32, 64]},
        },
        **more,
    }
    settings = {
        "protocol": protocol,
        "search": {"tpe": {"startup_configurations": 2}},
        "compute": {"device": "cpu", "concurrent_trials": slots},
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
def without_ray_here():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "search_in_ray", search_here)
        yield


@pytest.fixture(scope="module")
def record(without_ray_here, data, tmp_path_factory):
    return run_job(make_job(), data, tmp_path_factory.mktemp("work") / "job")


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("in_ray")
@pytest.mark.parametrize("selector", ["gradmatch", "full"])
def test_job_in_ray_comes_out_as_without_it(record, data, tmp_path, selector):
    job = make_job(selector=selector, fraction=1.0 if selector == "full" else 0.1)
    found = run_job(job, data, tmp_path / "job")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "search_in_ray", search_here)
        expected = run_job(job, data, tmp_path / "here")
    assert outcome(found) == outcome(expected)
    assert differences(found) == []
    assert found.tuning.measurement.wall_seconds > 0
    assert found.tuning.setup_seconds > 0


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("in_ray")
@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a host without a GPU")
def test_worker_that_cannot_have_the_gpu_of_its_job_is_one_line(data, tmp_path, monkeypatch):
    monkeypatch.setattr(context_module, "choose_device", lambda *_: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    with pytest.raises(UserError) as error:
        run_job(make_job(), data, tmp_path / "job")
    line = f"compute.device: cuda: {platform.node()}: torch sees no GPU here"
    assert (known_reason(error.value) or "").startswith(line)


def training(job, data, trial, plan):
    """Return a training of the configuration of a trial."""
    parts = read_dataset(data), trial.configuration, job.settings.protocol, plan
    return TrainingRun(*parts, derive(0, "training"), torch.device("cpu"))


def all_data_run(job, data, trial):
    """Return a training of the configuration of a trial on all data, as a refit has it."""
    return training(job, data, trial, SubsetPlan(Full(), 1.0))


def test_finalists_are_halved_on_all_data(data, tmp_path):
    job = make_job(finalists=3)
    record = run_job(job, data, tmp_path / "job")
    trials = sorted(record.tuning.trials, key=lambda trial: (-trial.score, trial.index))[:3]
    # By hand: T = 9, so that rungs are round(9/4) = 2 and round(9/2) = 4.
    runs = [all_data_run(job, data, trial) for trial in trials]
    left = list(range(3))
    for rung, survivors in ((2, 2), (4, 1)):
        for place in left:
            runs[place].train_to(rung)
            runs[place].evaluate()
        left.sort(key=lambda place: -runs[place].progress.score)
        left = left[:survivors]
    runs[left[0]].train_to(9)
    chosen = trials[left[0]]
    assert record.best == chosen
    assert record.final.trial == chosen.index
    assert record.final.progress.training_loss == runs[left[0]].progress.training_loss
    assert sorted(lost.progress.epochs for lost in record.final.lost) == [2, 4]
    model = runs[left[0]].model
    assert record.test.accuracy == evaluate(model, runs[0].data.test).accuracy
    assert Record.model_validate_json(record.model_dump_json()) == record


HEDGE = {
    "horizon_exponent": [0, 0.5],
    "screen_metric": "log_loss",
    "finalist_rungs": {0.1: 3, 0.3333: 2},
}


def test_hedge_trains_the_best_of_two_screens_on_all_data(data, tmp_path):
    job = make_job(selector="rs2", finalists=2, protocol=HEDGE)
    record = run_job(job, data, tmp_path / "job")
    trials = record.tuning.trials
    assert differences(record) == []
    assert [t.configuration for t in trials[:N]] == [t.configuration for t in trials[N:]]
    for trial in (trials[3], trials[N + 3]):
        plan = SubsetPlan(RepeatedRandom(), 0.1, horizon_exponent=0.5 * (trial.index >= N))
        again = training(job, data, trial, plan)
        again.train_to(trial.progress.epochs)
        assert again.progress.training_loss == trial.progress.training_loss
        assert trial.score == math.exp(-trial.progress.evaluations[-1].loss)

    finalists = []
    for screen in (trials[:N], trials[N:]):
        best = sorted(screen, key=lambda trial: trial.progress.evaluations[-1].loss)[:2]
        old = [trial.configuration for trial in finalists]
        finalists += [trial for trial in best if trial.configuration not in old]
    left = {trial.index: all_data_run(job, data, trial) for trial in finalists}
    epochs = {}
    for rung, stay in ((1, 3), (3, 2), (T, 1)):  # T/10 and T/3, rounded
        for index, run in left.items():
            run.train_to(rung)
            run.evaluate()
            epochs[index] = rung
        best = sorted(left, key=lambda i: -left[i].progress.evaluations[-1].accuracy)[:stay]
        left = {index: run for index, run in left.items() if index in best}
    ((index, run),) = left.items()
    assert record.best == trials[index]
    assert record.final.progress.training_loss == run.progress.training_loss
    assert epochs == {index: T, **{it.trial: it.progress.epochs for it in record.final.lost}}
    assert record.test.accuracy == evaluate(run.model, run.data.test).accuracy
    found = row(record, Path("record.json"), Comparison())
    assert found["best_score"] == found["best_validation_accuracy"]  # by `metric`


@pytest.mark.parametrize("patience", [None, 1])
def test_interrupted_finalists_go_on(data, tmp_path, monkeypatch, patience):
    job = make_job(finalists=3, protocol={"patience": patience})
    calm = run_job(job, data, tmp_path / "calm")
    monkeypatch.setattr(CheckpointPolicy, "write", lambda self, number, trained, write: write())
    for stop in (3, 6, 8, 11):
        epochs = count(1)
        train = TrainingRun.train_to

        def interrupted(run, epoch, train=train, stop=stop, epochs=epochs):
            if next(epochs) == stop:
                raise KeyboardInterrupt
            train(run, epoch)

        with monkeypatch.context() as patch:
            patch.setattr(job_module, "refit", interrupting(patch, interrupted))
            with pytest.raises(KeyboardInterrupt):
                run_job(job, data, tmp_path / str(stop))
        record = run_job(job, data, tmp_path / str(stop))
        assert record.resumed
        assert record.final.progress.training_loss == calm.final.progress.training_loss
        assert (record.final.trial, record.test.loss) == (calm.final.trial, calm.test.loss)


def interrupting(patch, train_to):
    """Return the refit, in which alone trainings are interrupted."""

    def refit_interrupted(*arguments):
        patch.setattr(TrainingRun, "train_to", train_to)
        return refit(*arguments)

    return refit_interrupted


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("in_ray")
def test_one_epoch_in_ray_trains_the_best_three_on(data, tmp_path, slots):
    job = make_job(scheduler="one-epoch", selector="full", fraction=1.0, slots=slots)
    record = run_job(job, data, tmp_path / "job")
    epochs = sorted(trial.progress.epochs for trial in record.tuning.trials)
    assert epochs == [1, 1, 2, 4, 9]  # T/4 and T/2 of T = 9, rounded
    assert record.final is None
    assert record.best.progress.epochs == T
    run = all_data_run(job, data, record.best)
    run.train_to(T)
    assert record.test.accuracy == evaluate(run.model, run.data.test).accuracy


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from automata.config.job import Job
from automata.tuning.job import run
from automata.tuning.log import SearchLog
append = SearchLog.append
def killed_later(log, entry):
    append(log, entry)
    if len(log.results) == int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)
SearchLog.append = killed_later
run(Job.model_validate_json(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
"""


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("in_ray")
@pytest.mark.parametrize(
    ("job", "results"),
    [
        (make_job(search="tpe", scheduler="asha", selector="full", fraction=1.0), 5),
        # Hyperband's 3 + 2 x 2 results end the first screen.
        (make_job(selector="rs2", finalists=2, protocol=HEDGE), 11),
    ],
    ids=["asha", "hedge"],
)
def test_search_that_was_killed_ends_as_it_would_have(data, tmp_path, job, results):
    parts = job.model_dump_json(), data, tmp_path / "job", str(results)
    killed = [sys.executable, "-c", INTERRUPTED, *parts]
    assert subprocess.run(killed, capture_output=True).returncode == -signal.SIGKILL
    log = SearchLog(WorkFolder(tmp_path / "job").log)
    assert len(log.results) == results

    record = run_job(job, data, tmp_path / "job")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "search_in_ray", search_here)
        assert outcome(record) == outcome(run_job(job, data, tmp_path / "calm"))
    assert record.resumed
    assert len(record.tuning.segments) == 2
    kept = {e.finished_at for t in record.tuning.trials for e in t.progress.evaluations}
    assert {r.progress.evaluations[-1].finished_at for r in log.results} <= kept


def test_record_has_versions_and_threads(record):
    made = record.provenance
    assert made["measurement"] == {
        part: MEASUREMENT[part] for part in ("training", "metering", "gradmatch")
    }
    assert made["torch"]["num_threads"] == 1
    assert {library["num_threads"] for library in made["blas"]} == {1}
    assert made["torch"]["flush_denormal"] is True


def test_every_configuration_becomes_a_trial(record):
    assert [trial.index for trial in record.tuning.trials] == list(range(N))


def test_trials_train_the_epochs_of_the_brackets(record):
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


def test_time_limit_ends_the_search_and_counts_the_time_before_a_restart(
    data, tmp_path, monkeypatch
):
    job = make_job(minutes=1e-4)
    with monkeypatch.context() as patch:
        patch.setattr(job_module, "refit", killed)
        with pytest.raises(KeyboardInterrupt):
            run_job(job, data, tmp_path / "job")
    monkeypatch.setattr(job_module, "search_in_ray", killed)
    record = run_job(job, data, tmp_path / "job")
    assert [trial.status for trial in record.tuning.trials] == ["completed"]
    assert record.final.progress.epochs == T


def test_same_seed_gives_the_same_outcome(record, data, tmp_path):
    again = run_job(make_job(), data, tmp_path / "job")
    assert outcome(again) == outcome(record)


@pytest.mark.parametrize(
    ("scheduler", "patience"), [("hyperband", None), ("asha", None), ("asha", 1)]
)
def test_full_tests_the_best_trials_own_weights(data, tmp_path, scheduler, patience):
    job = make_job(
        selector="full", fraction=1.0, scheduler=scheduler, protocol={"patience": patience}
    )
    record = run_job(job, data, tmp_path / "job")
    dataset = read_dataset(data)
    model = build(dataset, record.best.configuration)
    file = WorkFolder(tmp_path / "job").model(record.best.index)
    model.load_state_dict(read_checkpoint(file)["model"])
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
    assert differences(record) == []


def test_diverging_trials_fail_with_a_reason_and_the_tuning_goes_on(data, tmp_path):
    job = make_job(rate=[0.5, 1e6], optimizer=["sgd", "adam"], selector="random", seed=1)
    record = run_job(job, data, tmp_path / "job")
    failed = [trial for trial in record.tuning.trials if trial.status == "failed"]
    assert 0 < len(failed) < N
    assert all("loss" in trial.progress.failure and trial.score == 0 for trial in failed)
    assert record.best.status != "failed"
    assert differences(record) == []


def test_first_step_of_a_worker_raises_the_error_of_its_start(data, tmp_path, monkeypatch):
    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(trainable_module, "training_run", full)
    worker = object.__new__(trainable_module.TuneTrial)
    trial = {"index": 0, "rungs": [T], "configuration": {}, "logged": None}
    worker.setup(trial, make_job().model_dump_json(), str(data), "cpu", str(tmp_path))
    with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
        worker.step()
    worker.cleanup()


def test_job_fails_when_every_trial_diverges(data, tmp_path):
    job = make_job(rate=[1e30, 1e31], optimizer=["sgd"], selector="random")
    with pytest.raises(UserError, match="all 5 trials diverged; the first: training loss"):
        run_job(job, data, tmp_path / "job")


def killed(*arguments):
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def searched(without_ray_here, data, tmp_path_factory):
    """The work folder of a job that was interrupted between search and refit."""
    folder = tmp_path_factory.mktemp("searched") / "job"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "refit", killed)
        with pytest.raises(KeyboardInterrupt):
            run_job(make_job(), data, folder)
    return folder


@pytest.fixture
def interrupted(searched, tmp_path):
    """A copy of it."""
    return shutil.copytree(searched, tmp_path / "job")


def test_restart_after_the_search_does_not_repeat_it(data, interrupted, monkeypatch):
    kept = SearchLog(WorkFolder(interrupted).log).segments
    monkeypatch.setattr(job_module, "search_in_ray", killed)
    record = run_job(make_job(), data, interrupted)
    assert record.tuning.segments == kept
    assert record.resumed


def test_kept_search_of_another_job_is_not_used(data, interrupted):
    record = run_job(make_job(seed=7), data, interrupted)
    assert record.job.run.seed == 7
    assert not record.resumed


def test_kept_search_of_another_software_is_not_used(data, interrupted, monkeypatch):
    here = {**provenance("gradmatch"), "packages": {"torch": "0.1"}}
    monkeypatch.setattr(context_module, "provenance", lambda selector: here)
    record = run_job(make_job(), data, interrupted)
    assert record.provenance["packages"] == {"torch": "0.1"}
    assert not record.resumed


def test_kept_search_of_another_measurement_is_not_used(data, interrupted, monkeypatch):
    monkeypatch.setitem(MEASUREMENT, "training", MEASUREMENT["training"] + 1)
    assert not run_job(make_job(), data, interrupted).resumed


def test_kept_search_of_a_host_that_is_alike_is_used(data, interrupted, monkeypatch):
    here = {**provenance("gradmatch"), "host": "elsewhere"}
    monkeypatch.setattr(context_module, "provenance", lambda selector: here)
    assert run_job(make_job(), data, interrupted).resumed


@pytest.mark.parametrize("patience", [None, 2])
@pytest.mark.parametrize(("selector", "fraction"), [("gradmatch", 0.1), ("full", 1.0)])
def test_model_of_a_finished_run_is_the_one_that_it_would_have_kept(
    data, tmp_path, selector, fraction, patience
):
    job = make_job(selector=selector, fraction=fraction, protocol={"patience": patience})
    encoding = tmp_path / "encoding.json"
    encoding.write_text('{"mean": [], "scale": []}')
    at_once, later, wider = (
        ModelFiles(tmp_path / f"{name}.safetensors", encoding, rows)
        for name, rows in (("now", "train"), ("later", "train"), ("wider", "train+validation"))
    )
    output = tmp_path / "record.json"
    complete_job(job, data, tmp_path / "job", output, files=at_once)
    record = output.read_text()
    complete_job(job, data, tmp_path / "job", output, files=later)
    complete_job(job, data, tmp_path / "job", output, files=wider)
    assert output.read_text() == record
    assert load_file(later.path).keys() == load_file(at_once.path).keys()
    for name, weight in load_file(at_once.path).items():
        assert torch.equal(weight, load_file(later.path)[name])
    assert not torch.equal(weight, load_file(wider.path)[name])
    model, _ = read_saved(at_once.path)
    test = read_record(output).test
    assert evaluate(model, read_dataset(data).test).accuracy == test.accuracy


@pytest.mark.parametrize(
    ("model", "code", "line"),
    [
        ("mlp", signal.SIGTERM, f"interrupted; {KEPT}"),
        ("nets:build", signal.SIGTERM, f"interrupted; {KEPT}"),
        ("nets:build", 3, f"{FACTORY}: nets:build: ended the process with SystemExit: 3"),
    ],
)
def test_sigterm_is_an_interruption_and_sys_exit_is_that_of_the_users_own_code(
    tmp_path, monkeypatch, model, code, line
):
    monkeypatch.setattr(job_module, "complete_job", lambda *_: sys.exit(code))
    content = make_job().model_dump(mode="json")
    content["settings"]["protocol"]["model"] = {"factory": model} if ":" in model else model
    with pytest.raises((KeyboardInterrupt, UserError)) as ended:
        rules.tune([tmp_path], job=json.dumps(content), work=tmp_path, output=[tmp_path])
    assert known_reason(ended.value) == line


@pytest.mark.parametrize("content", [b"", b'{"mean": [0.5, 1', b'{"words": ["caf\xe9"]}'])
def test_damaged_encoding_is_one_line_before_anything_is_trained(data, tmp_path, content):
    files = ModelFiles(tmp_path / "model.safetensors", tmp_path / "dna.encoding.json", "train")
    files.encoding.write_bytes(content)
    with pytest.raises(UserError, match=r"dna\.encoding\.json: .*delete it, and run the "):
        complete_job(make_job(), data, tmp_path / "job", tmp_path / "record.json", files=files)
    assert not (tmp_path / "record.json").exists()


@pytest.mark.parametrize(
    ("search", "scheduler", "kept"),
    [("random", "asha", N), ("tpe", "hyperband", 3), ("random", "none", N)],
)
def test_a_finished_search_is_extended_without_repeating_it(
    data, tmp_path, monkeypatch, search, scheduler, kept
):
    """Hyperband's last bracket was filled in part: how it halves, more trials decide."""

    def job(configurations):
        made = make_job(search=search, scheduler=scheduler)
        protocol = made.settings.protocol.model_copy(update={"configurations": configurations})
        settings = made.settings.model_copy(update={"protocol": protocol})
        return made.model_copy(update={"settings": settings})

    output = tmp_path / f"dna/{search}-{scheduler}-00000001/gradmatch-0.1/seed-0/record.json"
    complete_job(job(N), data, tmp_path / "first", output)
    larger = Path(str(output).replace("00000001", "00000002"))
    trained = []
    build = TrainingRun.__init__

    def noted(run, dataset, configuration, *rest):
        trained.append(configuration)
        build(run, dataset, configuration, *rest)

    monkeypatch.setattr(TrainingRun, "__init__", noted)
    complete_job(job(2 * N), data, tmp_path / "second", larger)
    searched = trained[:-1]  # the last one is the refit
    expected = run_job(job(2 * N), data, tmp_path / "calm")
    found = read_record(larger)
    assert outcome(found) == outcome(expected)
    assert found.resumed
    first = read_record(output).tuning
    assert [trial.configuration for trial in first.trials[:kept]] == [
        trial.configuration for trial in found.tuning.trials[:kept]
    ]
    assert not [c for c in searched if c in [t.configuration for t in first.trials[:kept]]]
    assert found.tuning.segments[0] == first.segments[0]
    assert len(found.tuning.segments) == 2


@pytest.mark.parametrize(
    ("first", "second"), [({}, {"rate": [0.002, 0.01]}), ({"protocol": HEDGE}, {"protocol": HEDGE})]
)
def test_a_search_of_other_settings_or_with_screens_is_not_extended(data, tmp_path, first, second):
    job = make_job(scheduler="asha", **first)
    output = tmp_path / "dna/random-asha-00000001/gradmatch-0.1/seed-0/record.json"
    complete_job(job, data, tmp_path / "first", output)
    changed = make_job(scheduler="asha", **second)
    protocol = changed.settings.protocol.model_copy(update={"configurations": 2 * N})
    changed = changed.model_copy(
        update={"settings": changed.settings.model_copy(update={"protocol": protocol})}
    )
    larger = Path(str(output).replace("00000001", "00000002"))
    complete_job(changed, data, tmp_path / "second", larger)
    assert not read_record(larger).resumed


@pytest.mark.parametrize(("today", "extended"), [(1, True), (2, False)])
def test_a_search_of_no_named_measurement_is_extended_as_one_of_version_1(
    data, tmp_path, monkeypatch, today, extended
):
    monkeypatch.setitem(MEASUREMENT, "training", today)
    job = make_job(scheduler="asha")
    output = tmp_path / "dna/random-asha-00000001/gradmatch-0.1/seed-0/record.json"
    complete_job(job, data, tmp_path / "first", output)
    record = read_record(output)
    del record.provenance["measurement"]
    write_record(record, output)
    protocol = job.settings.protocol.model_copy(update={"configurations": 2 * N})
    settings = job.settings.model_copy(update={"protocol": protocol})
    larger = Path(str(output).replace("00000001", "00000002"))
    wider = job.model_copy(update={"settings": settings})
    complete_job(wider, data, tmp_path / "second", larger)
    assert read_record(larger).resumed is extended


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


def cut(source, target, results, checkpoints):
    """Copy a work folder as a process would have left it after so many results."""
    work = WorkFolder(target)
    shutil.copytree(source, target)
    work.refit.unlink(missing_ok=True)
    if not checkpoints:
        shutil.rmtree(target / "checkpoints", ignore_errors=True)
    *lines, _ = work.log.read_bytes().split(b"\n")
    reported = [place for place, line in enumerate(lines) if b'"kind":"reported"' in line]
    end = reported[results - 1] + 1 if results else 2
    work.log.write_bytes(b"".join(line + b"\n" for line in lines[:end]))
    return target


def finishing_times(record):
    return [[e.finished_at for e in t.progress.evaluations] for t in record.tuning.trials]


@pytest.fixture(scope="module", params=["hyperband", "asha"])
def whole(request, without_ray_here, data, tmp_path_factory):
    """A job under TPE with FULL, its record and its work folder, which nobody removed."""
    job = make_job(search="tpe", scheduler=request.param, selector="full", fraction=1.0)
    folder = tmp_path_factory.mktemp("whole") / "job"
    return job, run_job(job, data, folder), folder


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_interrupted_search_ends_as_it_would_have(whole, data, tmp_path, share):
    """Checkpoints of paused trials are gone: these trials train again up to their last rung."""
    job, record, folder = whole
    total = sum(len(trial.progress.evaluations) for trial in record.tuning.trials)
    results = round(share * total)
    left = cut(folder, tmp_path / "job", results, checkpoints=False)
    known = sorted(time for times in finishing_times(record) for time in times)[:results]

    again = run_job(job, data, left)

    assert outcome(again) == outcome(record)
    assert again.resumed == (results > 0)
    kept = {time for times in finishing_times(again) for time in times}
    complete = {t.progress.evaluations[-1].finished_at for t in record.tuning.trials}
    assert complete & set(known) <= kept, "a trial that had ended was repeated"
    assert len(again.tuning.segments) == (1 if results in (0, total) else 2)


def altered(content):
    """Return `content` with another bit in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [lambda content: content[:-100], altered])
def test_damaged_model_of_the_best_trial_is_trained_again(
    whole, data, tmp_path, monkeypatch, damage
):
    job, record, folder = whole
    shutil.copytree(folder, tmp_path / "job")
    file = WorkFolder(tmp_path / "job").model(record.best.index)
    file.write_bytes(damage(file.read_bytes()))
    monkeypatch.setattr(job_module, "search_in_ray", killed)

    again = run_job(job, data, tmp_path / "job")

    assert outcome(again) == outcome(record)
    assert finishing_times(again) == finishing_times(record), "a trial was searched again"
    assert again.tuning.segments == record.tuning.segments


def test_full_keeps_the_model_of_the_best_trial_alone(whole):
    _, record, folder = whole
    assert [path.name for path in (folder / "models").iterdir()] == [f"{record.best.index}.pt"]
    assert list((folder / "checkpoints").iterdir()) == []


def test_refit_goes_on_where_it_was(data, tmp_path, monkeypatch):
    calm = run_job(make_job(), data, tmp_path / "calm")
    monkeypatch.setattr("automata.tuning.checkpoints.WRITING_SHARE", 1e6)  # write each epoch
    train_to = TrainingRun.train_to

    def interrupted(run, epoch):
        if epoch == 6 and run.plan.fraction == 1.0:
            raise KeyboardInterrupt
        train_to(run, epoch)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "train_to", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_job(make_job(), data, tmp_path / "job")
    trained = []

    def watched(run, epoch):
        trained.append(epoch)
        train_to(run, epoch)

    monkeypatch.setattr(TrainingRun, "train_to", watched)
    record = run_job(make_job(), data, tmp_path / "job")

    assert trained == [6, 7, 8, 9]
    assert record.resumed
    assert outcome(record) == outcome(calm)
    assert record.final.progress.training_loss == calm.final.progress.training_loss
    first, second = record.final.segments
    assert first.measurement.started_at + first.measurement.wall_seconds <= (
        second.measurement.started_at
    )


@pytest.fixture
def finished(record, tmp_path, monkeypatch):
    """Work folder and record of a finished job; to run it again would be to be killed."""
    write_record(record, tmp_path / "record.json")
    monkeypatch.setattr(job_module, "run", killed)
    return tmp_path / "work", tmp_path / "record.json"


def test_a_finished_job_leaves_its_record_and_no_work(record, data, tmp_path, monkeypatch):
    monkeypatch.setattr(job_module, "run", lambda *_: (record, None))
    complete_job(make_job(), data, tmp_path / "work", tmp_path / "record.json")
    assert read_record(tmp_path / "record.json") == record
    assert not (tmp_path / "work").exists()


def test_record_of_a_finished_run_stays_whatever_starts_the_job(data, finished):
    work, output = finished
    before = output.read_bytes()
    os.utime(output, (0, 0))
    complete_job(make_job(), data, work, output)
    assert output.read_bytes() == before
    assert output.stat().st_mtime > 0  # Snakemake takes it for made
    assert not work.exists()


def test_record_of_another_measurement_stays_too(data, finished, monkeypatch):
    work, output = finished
    before = output.read_bytes()
    monkeypatch.setitem(MEASUREMENT, "training", MEASUREMENT["training"] + 1)
    complete_job(make_job(), data, work, output)
    assert output.read_bytes() == before


def test_a_finished_run_is_repeated_on_request_and_its_record_stays_until_then(data, finished):
    work, output = finished
    before = output.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        complete_job(make_job(), data, work, output, again=True)
    assert output.read_bytes() == before


def test_work_that_is_left_beside_a_finished_record_replaces_nothing(data, finished):
    work, output = finished
    before = output.read_bytes()
    work.mkdir()
    WorkFolder(work).log.write_text("of a repeat that was interrupted")
    complete_job(make_job(), data, work, output)
    assert output.read_bytes() == before
    assert not work.exists()


def test_a_damaged_record_is_made_again(data, finished):
    work, output = finished
    output.write_bytes(output.read_bytes()[:-100])
    with pytest.raises(KeyboardInterrupt):
        complete_job(make_job(), data, work, output)


def test_the_record_of_another_run_is_not_replaced(data, finished):
    work, output = finished
    before = output.read_bytes()
    with pytest.raises(UserError, match=r"record.json: is the record of another run or of other"):
        complete_job(make_job(seed=3), data, work, output)
    assert output.read_bytes() == before


def test_checkpoints_of_another_job_are_not_used(whole, data, tmp_path):
    """A job that was changed after an interruption does not resume from earlier checkpoints."""
    job, _, folder = whole
    left = cut(folder, tmp_path / "job", 1, checkpoints=False)
    changed = make_job(search="tpe", scheduler=job.run.scheduler, selector="full", fraction=1.0)
    protocol = changed.settings.protocol.model_copy(update={"reselect_every": 3})
    settings = changed.settings.model_copy(update={"protocol": protocol})
    changed = changed.model_copy(update={"settings": settings})
    (left / "checkpoints").mkdir(exist_ok=True)
    (left / "checkpoints/0.pt").write_bytes(b"of the job before")

    record = run_job(changed, data, left)

    assert not record.resumed
    assert len(record.tuning.segments) == 1


def copy_as_it_is(folder, copy):
    """Copy a folder whose checkpoints are replaced meanwhile, until all that it lists is there."""
    for _ in range(20):
        try:
            shutil.copytree(folder, copy)
            return
        except shutil.Error:
            shutil.rmtree(copy)
    raise AssertionError(f"{folder} does not keep still")


@pytest.mark.parametrize("scheduler", ["hyperband", "asha"])
def test_checkpoints_ahead_of_the_log_change_nothing(scheduler, data, tmp_path, monkeypatch):
    """A process may die between the checkpoint of a trial and the line about it."""
    job = make_job(search="tpe", scheduler=scheduler, selector="full", fraction=1.0)
    append, count = SearchLog.append, [0]

    def copy_first(log, entry):
        if isinstance(entry, TrialReported):
            copy_as_it_is(tmp_path / "job", tmp_path / f"left-{count[0]}")
            count[0] += 1
        append(log, entry)

    with monkeypatch.context() as patch:
        patch.setattr(SearchLog, "append", copy_first)
        calm = run_job(job, data, tmp_path / "job")

    for cut_at in (1, count[0] // 2):
        again = run_job(job, data, tmp_path / f"left-{cut_at}")
        assert outcome(again) == outcome(calm)
        assert again.resumed


def test_record_has_disk_space_and_memory(record):
    assert record.peak_disk_bytes > 10_000
    assert record.tuning.measurement.peak_memory_bytes > 100 * 2**20
    assert not record.resumed
