"""Recorded learning curves: jobs, paths, interruptions, and the same scores as in a search."""

import json
import threading
import time

import pytest

from automata.config.files import DEFAULTS, read_experiments
from automata.config.job import Run
from automata.errors import UserError
from automata.records.paths import job_of
from automata.tuning import job as job_module
from automata.tuning.work import WorkFolder
from studies.curves import train
from studies.curves.jobs import read_curves
from studies.curves.plan import Plan
from studies.curves.train import record_curves
from support.searching import run_job, train_here

EXPERIMENT = {
    "datasets": ["dna"],
    "searches": ["random"],
    "schedulers": ["hyperband"],
    "selectors": ["full", "untuned", "rs2"],
    "fractions": [0.1],
    "seeds": [0],
    "protocol": {"tabular": {"configurations": 5, "epochs": 9}},
    "compute": {"device": "cpu"},
    "metering": {"exclusive": False},
}


def jobs_of(folder, protocol=None, study=None, **changes):
    tabular = EXPERIMENT["protocol"]["tabular"] | (protocol or {})
    experiment = EXPERIMENT | {"protocol": {"tabular": tabular}} | changes
    content = {"experiment": experiment, "pool": 5, "seeds": [0], "part": 3} | (study or {})
    file = folder / "study.yaml"
    file.write_text(json.dumps(content))
    return Plan(file).jobs


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    return jobs_of(tmp_path_factory.mktemp("study"))


def of(jobs, selector):
    return [job for job in jobs.values() if job.selector == selector]


def test_parts_cover_the_pool_once_for_each_way_of_training(jobs, tmp_path):
    assert {job.selector for job in jobs.values()} == {"full", "rs2"}
    assert [job.configurations for job in of(jobs, "rs2")] == [[0, 1, 2], [3, 4]]
    # T = 9: Hyperband 1, 3, 9; ASHA 1, 4, 9; T/4 and T/2 rounded: 2 and 4.
    assert {tuple(job.epochs) for job in jobs.values()} == {(1, 2, 3, 4, 9)}
    whole = {"part": 5, "seeds": [0, 1], "horizon_exponents": {"rs2": [0.25, 0.5]}}
    more = jobs_of(tmp_path, study=whole)
    assert len(of(more, "full")) == 2
    of_rs2 = [job for job in of(more, "rs2") if job.seed == 0]
    assert [job.settings.protocol.horizon_exponent for job in of_rs2] == [0, 0.25, 0.5]


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ({"pool": 4}, "pool: 4 is fewer than the 5 configurations of a search on dna$"),
        ({"horizon_exponents": {"craig": [0.5]}}, "horizon_exponents: craig is not a selector"),
        ({"seed": 1}, "seed: unknown key; valid: experiment, pool, "),
    ],
)
def test_a_study_that_cannot_be_is_refused_in_one_line(tmp_path, study, message):
    with pytest.raises(UserError, match=rf"study\.yaml: {message}"):
        jobs_of(tmp_path, study=study)


def test_a_path_changes_with_what_a_training_reads_alone(jobs, tmp_path):
    choice = {"finalists": 3, "metric": "log_loss", "break_ties": True}
    search = {"schedulers": ["asha"], "searches": ["tpe"], "seeds": [0, 1]}
    assert jobs_of(tmp_path, choice, **search).keys() == jobs.keys()
    assert jobs.keys().isdisjoint(jobs_of(tmp_path, {"weight_decay": 0.1}))


@pytest.mark.parametrize(
    ("selector", "fraction"), [pytest.param("full", 1.0, marks=pytest.mark.slow), ("rs2", 0.1)]
)
def test_curves_have_the_scores_of_the_trials_of_a_search(
    jobs, data, tmp_path, monkeypatch, selector, fraction
):
    monkeypatch.setattr(job_module, "train_in_ray", train_here)
    method = {"search": "random", "scheduler": "hyperband", "selector": selector}
    (experiment,) = read_experiments([DEFAULTS], EXPERIMENT)
    cell = Run(dataset="dna", **method, fraction=fraction, seed=0)
    run = run_job(job_of(experiment, cell, {}), data, tmp_path / "job")
    curves, file = [], tmp_path / "a.json"
    for job in of(jobs, selector):
        record_curves(job, data, tmp_path / "work", file)
        curves += read_curves(file).curves
    assert not (tmp_path / "work").exists()
    for trial in run.tuning.trials:
        curve = curves[trial.index]
        assert (curve.index, curve.configuration) == (trial.index, trial.configuration)
        scores = {e.epoch: (e.accuracy, e.loss) for e in curve.progress.evaluations}
        for evaluation in trial.progress.evaluations:
            assert scores[evaluation.epoch] == (evaluation.accuracy, evaluation.loss)
        for cost in ("samples", "cpu_seconds"):
            spent = [0, *(getattr(point, cost) for point in curve.points)]
            assert spent == sorted(set(spent))
    accuracy = run.test.accuracy if selector == "full" else None
    assert curves[run.best.index].test_accuracy == accuracy


def alter(file):
    """Alter a digit of a score."""
    before, name, after = file.read_text().partition('"accuracy"')
    file.write_text(before + name + after.replace("0.", "1.", 1))


DAMAGED = "its content does not match its digest: cut off, edited or damaged"


@pytest.mark.parametrize(
    ("seed", "damage", "trained"),
    [(0, False, [3, 4, 4]), (1, False, [3, 4, 3, 4]), (0, True, [3, 4, 3, 4])],
    ids=["same job", "job of another seed", "altered bit"],
)
def test_an_interruption_loses_the_training_it_hit_and_what_is_not_of_the_job(
    jobs, data, tmp_path, monkeypatch, caplog, seed, damage, trained
):
    job, work, file = of(jobs, "rs2")[1], tmp_path / "work", tmp_path / "a.json"
    real, begun = train._train, []

    def interrupted(job, context, index, configuration):
        begun.append(index)
        if begun == [3, 4]:
            raise KeyboardInterrupt
        return real(job, context, index, configuration)

    monkeypatch.setattr(train, "_train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        record_curves(job, data, work, file)
    assert not file.exists()
    (kept,) = work.glob("3-*.json")
    if damage:
        alter(kept)
    record_curves(job.model_copy(update={"seed": seed}), data, work, file)
    assert begun == trained
    assert [curve.index for curve in read_curves(file).curves] == [3, 4]
    assert (f"{kept}: {DAMAGED}; trained again" in caplog.messages) == damage


def test_a_job_that_outlived_its_call_is_waited_for_and_its_record_kept(
    jobs, data, tmp_path, monkeypatch, caplog
):
    job, work, file = of(jobs, "rs2")[1], tmp_path / "work", tmp_path / "a.json"
    record_curves(job, data, work, file)
    before, trained = file.read_text(), []
    monkeypatch.setattr(train, "_train", lambda *arguments: trained.append(arguments))
    caplog.set_level("INFO", "automata.locks")
    second = threading.Thread(target=record_curves, args=(job, data, work, file))
    with WorkFolder(work).only_worker():
        second.start()
        while f"waiting for another process that works on {work}" not in caplog.text:
            time.sleep(0.01)
    second.join()
    assert trained == []
    assert file.read_text() == before
    assert not work.exists()
    alter(file)
    with pytest.raises(UserError, match=f"^{file}: {DAMAGED}; delete it to train again$"):
        read_curves(file)
