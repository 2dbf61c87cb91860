"""Whole jobs, small but real: Ray, training, record."""

import json
import os
import shutil

import pytest

from automata.code_versions import CLAIMS, PARTS, Equivalence, code_versions
from automata.config import Job, Preparation
from automata.datasets.prepare import prepare
from automata.datasets.prepared import read_dataset, write_dataset
from automata.errors import UserError
from automata.models.mlp import build
from automata.provenance import provenance
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.tuning import job as job_module
from automata.tuning.brackets import hyperband_brackets
from automata.tuning.job import complete_job, run_job
from automata.tuning.journal import Journal, Reported
from automata.tuning.states import read_model
from automata.tuning.work import WorkFolder
from benchmarks.equivalence.replay import differences

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
    assert made["code"] == code_versions("gradmatch")
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
    work = WorkFolder(tmp_path / "job")
    model.load_state_dict(read_model(work.weights(record.best.index), record.best.progress.epochs))
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
        patch.setattr(job_module, "train_finally", killed)
        with pytest.raises(KeyboardInterrupt):
            run_job(make_job(), data, tmp_path / "job")
    return tmp_path / "job"


def test_restart_after_the_search_does_not_repeat_it(data, interrupted, monkeypatch):
    kept = json.loads((interrupted / "search.json").read_text())["tuning"]["segments"]
    monkeypatch.setattr(job_module, "run_search", killed)
    record = run_job(make_job(), data, interrupted)
    assert [segment.model_dump(mode="json") for segment in record.tuning.segments] == kept
    assert record.resumed


def test_kept_search_of_another_job_is_not_used(data, interrupted):
    record = run_job(make_job(seed=7), data, interrupted)
    assert record.job.run.seed == 7
    assert not record.resumed


def test_kept_search_of_another_software_is_not_used(data, interrupted, monkeypatch):
    here = {**provenance(), "packages": {"torch": "0.1"}}
    monkeypatch.setattr(job_module, "provenance", lambda: here)
    record = run_job(make_job(), data, interrupted)
    assert record.provenance["packages"] == {"torch": "0.1"}
    assert not record.resumed


TODAY = code_versions()


def declare(monkeypatch, covers):
    """Make today's code of all parts another one, declared equal to what it was."""
    today = {part: f"new {part}" for part in PARTS}
    table = tuple(
        Equivalence(part, today[part], TODAY[part], frozenset(covers), "c0ffee", "by hand")
        for part in PARTS
    )
    monkeypatch.setattr("automata.code_versions.EQUIVALENCES", table)
    monkeypatch.setattr("automata.code_versions.code_versions", lambda selector=None: today)
    monkeypatch.setattr("automata.provenance.code_versions", lambda selector=None: today)


OF_UNDISTURBED = sorted(claim for claim in CLAIMS if "interrupted" not in claim)


def test_kept_search_of_code_declared_equal_in_all_is_used(data, interrupted, monkeypatch):
    monkeypatch.setattr(job_module, "run_search", killed)
    declare(monkeypatch, CLAIMS)
    assert run_job(make_job(), data, interrupted).resumed
    declare(monkeypatch, OF_UNDISTURBED)
    with pytest.raises(KeyboardInterrupt):
        run_job(make_job(), data, interrupted)


def test_kept_search_of_a_host_that_is_alike_is_used(data, interrupted, monkeypatch):
    monkeypatch.setattr(job_module, "provenance", lambda: {**provenance(), "host": "elsewhere"})
    assert run_job(make_job(), data, interrupted).resumed


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


def cut(source, target, results, states):
    """Copy a work folder as a process would have left it after so many results."""
    work = WorkFolder(target)
    shutil.copytree(source, target)
    for path in (work.search, work.final, work.deliveries):
        path.unlink(missing_ok=True)
    if not states:
        shutil.rmtree(target / "states", ignore_errors=True)
    *lines, _ = work.journal.read_bytes().split(b"\n")
    reported = [place for place, line in enumerate(lines) if b'"kind":"reported"' in line]
    end = reported[results - 1] + 1 if results else 2
    work.journal.write_bytes(b"".join(line + b"\n" for line in lines[:end]))
    return target


def finishing_times(record):
    return [[e.finished_at for e in t.progress.evaluations] for t in record.tuning.trials]


@pytest.fixture(scope="module", params=["hyperband", "asha"])
def whole(request, data, tmp_path_factory):
    """A job under TPE with FULL, its record and its work folder, which nobody removed."""
    job = make_job(search="tpe", scheduler=request.param, selector="full", fraction=1.0)
    folder = tmp_path_factory.mktemp("whole") / "job"
    return job, run_job(job, data, folder), folder


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_interrupted_search_ends_as_it_would_have(whole, data, tmp_path, share):
    """States of trials that had paused are gone here: they train again to where they were."""
    job, record, folder = whole
    total = sum(len(trial.progress.evaluations) for trial in record.tuning.trials)
    results = round(share * total)
    left = cut(folder, tmp_path / "job", results, states=False)
    known = sorted(time for times in finishing_times(record) for time in times)[:results]

    again = run_job(job, data, left)

    assert outcome(again) == outcome(record)
    assert again.resumed == (results > 0)
    kept = {time for times in finishing_times(again) for time in times}
    complete = {t.progress.evaluations[-1].finished_at for t in record.tuning.trials}
    assert complete & set(known) <= kept, "a trial that had ended was repeated"
    assert len(again.tuning.segments) == (1 if results in (0, total) else 2)


def test_damaged_model_of_the_best_trial_is_trained_again(whole, data, tmp_path):
    job, record, folder = whole
    shutil.copytree(folder, tmp_path / "job")
    model = WorkFolder(tmp_path / "job").weights(record.best.index)
    model.write_bytes(model.read_bytes()[:-100])

    again = run_job(job, data, tmp_path / "job")

    assert outcome(again) == outcome(record)
    times, before = finishing_times(again), finishing_times(record)
    assert times.pop(record.best.index) != before.pop(record.best.index)
    assert times == before, "the other trials were repeated"


def test_of_full_only_the_best_model_is_kept(whole):
    _, record, folder = whole
    assert [path.name for path in (folder / "weights").iterdir()] == [f"{record.best.index}.pt"]
    assert list((folder / "states").iterdir()) == []


def test_final_training_goes_on_where_it_was(data, tmp_path, monkeypatch):
    calm = run_job(make_job(), data, tmp_path / "calm")
    monkeypatch.setattr("automata.tuning.states.WRITING_SHARE", 1e6)  # write each epoch
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
def finished(data, tmp_path, monkeypatch):
    """Work folder and record of a finished job; to run it again would be to be killed."""
    complete_job(make_job(), data, tmp_path / "work", tmp_path / "record.json")
    monkeypatch.setattr(job_module, "run_job", killed)
    return tmp_path / "work", tmp_path / "record.json"


def test_record_of_a_finished_run_stays_whatever_starts_the_job(data, finished):
    work, output = finished
    before = output.read_bytes()
    os.utime(output, (0, 0))
    complete_job(make_job(), data, work, output)
    assert output.read_bytes() == before
    assert output.stat().st_mtime > 0  # Snakemake takes it for made
    assert not work.exists()


def test_record_by_other_code_stays_too(data, finished, monkeypatch):
    work, output = finished
    before = output.read_bytes()
    monkeypatch.setattr(
        "automata.code_versions.code_versions", lambda selector=None: {"training": "other"}
    )
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
    WorkFolder(work).journal.parent.mkdir()
    WorkFolder(work).journal.write_text("of a repeat that was interrupted")
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


def test_states_of_another_job_are_not_used(whole, data, tmp_path):
    """Of a job that was changed after an interruption: its trials must not go on from others'."""
    job, _, folder = whole
    left = cut(folder, tmp_path / "job", 1, states=False)
    changed = make_job(search="tpe", scheduler=job.run.scheduler, selector="full", fraction=1.0)
    protocol = changed.settings.protocol.model_copy(update={"reselect_every": 3})
    settings = changed.settings.model_copy(update={"protocol": protocol})
    changed = changed.model_copy(update={"settings": settings})
    (left / "states").mkdir(exist_ok=True)
    (left / "states/0-1.pt").write_bytes(b"a state of the job before")

    record = run_job(changed, data, left)

    assert not record.resumed
    assert len(record.tuning.segments) == 1


def copy_as_it_is(folder, copy):
    """Copy a folder whose states a trial replaces meanwhile, until all that it lists is there."""
    for _ in range(20):
        try:
            shutil.copytree(folder, copy)
            return
        except shutil.Error:
            shutil.rmtree(copy)
    raise AssertionError(f"{folder} does not keep still")


@pytest.mark.parametrize("scheduler", ["hyperband", "asha"])
def test_states_ahead_of_the_journal_change_nothing(scheduler, data, tmp_path, monkeypatch):
    """A process may die between the state of a trial and the line about it."""
    job = make_job(search="tpe", scheduler=scheduler, selector="full", fraction=1.0)
    append, count = Journal.append, [0]

    def copy_first(journal, entry):
        if isinstance(entry, Reported):
            copy_as_it_is(tmp_path / "job", tmp_path / f"left-{count[0]}")
            count[0] += 1
        append(journal, entry)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", copy_first)
        calm = run_job(job, data, tmp_path / "job")

    for cut_at in (1, count[0] // 2):
        again = run_job(job, data, tmp_path / f"left-{cut_at}")
        assert outcome(again) == outcome(calm)
        assert again.resumed


def test_record_says_what_the_work_took(record):
    assert record.peak_disk_bytes > 10_000
    assert record.tuning.measurement.peak_memory_bytes > 100 * 2**20
    assert not record.resumed
