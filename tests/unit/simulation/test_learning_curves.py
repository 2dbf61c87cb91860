"""Recorded learning curves: what is trained, where it lies, and that it is what a search sees."""

import threading

import pytest

from automata.config.data import Preparation
from automata.config.files import DEFAULTS, read_experiments
from automata.config.job import Run
from automata.config.protocol import OwnModel
from automata.datasets.prepare import prepare
from automata.datasets.prepared import write_dataset
from automata.errors import UserError
from automata.runs import job_of
from automata.simulation import train
from automata.simulation.grid import curves_jobs, path_of, read_curves
from automata.simulation.train import record_curves
from automata.tuning import job as job_module
from automata.tuning.work import WorkFolder
from support.pretence import NAME, pretended_cuda
from support.searching import run_job, search_here

CONFIG = {
    "datasets": ["dna"],
    "searches": ["random"],
    "schedulers": ["hyperband"],
    "selectors": ["full", "untuned", "rs2"],
    "fractions": [0.1],
    "seeds": [0],
    "protocol": {"tabular": {"configurations": 5, "epochs": 9}},
    "compute": {"device": "cpu"},
    "metering": {"exclusive": False},
    "learning_curves": {"pool": 5, "seeds": [0], "part": 3},
}

MINE = "curve_methods:make"


def experiment(**changes):
    (found,) = read_experiments([DEFAULTS], CONFIG | changes)
    return found


@pytest.fixture(scope="module")
def jobs():
    return curves_jobs(experiment(), {"dna": {}})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "dna.safetensors"
    write_dataset(prepare("dna", Preparation(), path.parent), path)
    return path


def of(jobs, selector):
    return [job for job in jobs.values() if job.selector == selector]


def test_parts_cover_the_pool_once_for_each_way_of_training(jobs):
    assert {job.selector for job in jobs.values()} == {"full", "rs2"}
    assert [job.configurations for job in of(jobs, "rs2")] == [[0, 1, 2], [3, 4]]
    whole = {"pool": 5, "part": 5, "seeds": [0, 1], "horizon_exponents": {"rs2": [0.25, 0.5]}}
    more = curves_jobs(experiment(learning_curves=whole), {"dna": {}})
    assert len(of(more, "full")) == 2
    of_rs2 = [job for job in of(more, "rs2") if job.seed == 0]
    assert [job.settings.protocol.horizon_exponent for job in of_rs2] == [0, 0.25, 0.5]


def test_epochs_are_the_rungs_of_all_schedulers_by_hand(jobs):
    # T = 9: Hyperband 1, 3, 9; ASHA 1, 4, 9; T/4 and T/2 rounded: 2 and 4.
    assert {tuple(job.epochs) for job in jobs.values()} == {(1, 2, 3, 4, 9)}


def test_path_changes_with_what_a_training_reads_alone(jobs):
    job = of(jobs, "rs2")[0]
    other = experiment(schedulers=["asha"], searches=["tpe"], seeds=[0, 1])
    assert path_of(job) in curves_jobs(other, {"dna": {}})
    usual = {"configurations": 5, "epochs": 9}

    def trained(**changes):
        return curves_jobs(experiment(protocol={"tabular": usual | changes}), {"dna": {}})

    assert path_of(job) in trained(finalists=3, metric="log_loss")
    assert path_of(job) not in trained(weight_decay=0.1)


@pytest.mark.parametrize("selector", ["full", "rs2"])
def test_curves_have_the_scores_that_trials_of_a_search_had(jobs, data, tmp_path, selector):
    cell = Run(
        dataset="dna",
        search="random",
        scheduler="hyperband",
        selector=selector,
        fraction=1.0 if selector == "full" else 0.1,
        seed=0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "search_in_ray", search_here)
        run = run_job(job_of(experiment(), cell, {}), data, tmp_path / "job")
    curves = {}
    for number, job in enumerate(of(jobs, selector)):
        record_curves(job, data, tmp_path / "work", tmp_path / f"{number}.json")
        record = read_curves(tmp_path / f"{number}.json")
        curves |= {curve.index: curve for curve in record.curves}
        for curve in record.curves:
            spent = [point.cpu_seconds for point in curve.points]
            assert 0 < spent[0] < spent[-1]
            assert spent == sorted(spent)
    assert not (tmp_path / "work").exists()
    for trial in run.tuning.trials:
        curve = curves[trial.index]
        assert curve.configuration == trial.configuration
        scores = {e.epoch: (e.accuracy, e.loss) for e in curve.progress.evaluations}
        for seen in trial.progress.evaluations:
            assert scores[seen.epoch] == (seen.accuracy, seen.loss)
        assert [point.samples for point in curve.points] == sorted(
            {p.samples for p in curve.points}
        )
    best = run.best
    if selector == "full" and best.progress.epochs == 9:
        assert curves[best.index].test_accuracy == run.test.accuracy


@pytest.fixture
def interrupted(data, tmp_path, monkeypatch):
    """Return a function that interrupts a job in a training, and returns the trainings begun."""

    def run(job, last):
        real, begun = train._train, []

        def dies(job, context, index, configuration):
            begun.append(index)
            if index == last and begun.count(last) == 1:
                raise KeyboardInterrupt
            return real(job, context, index, configuration)

        monkeypatch.setattr(train, "_train", dies)
        with pytest.raises(KeyboardInterrupt):
            record_curves(job, data, tmp_path / "work", tmp_path / "a.json")
        assert not (tmp_path / "a.json").exists()
        return begun

    return run


def test_an_interruption_loses_the_training_it_hit(jobs, data, tmp_path, interrupted):
    job = of(jobs, "rs2")[0]
    begun = interrupted(job, 2)
    record_curves(job, data, tmp_path / "work", tmp_path / "a.json")
    assert begun == [0, 1, 2, 2]
    assert [curve.index for curve in read_curves(tmp_path / "a.json").curves] == [0, 1, 2]


def test_a_training_of_other_settings_is_not_kept(jobs, data, tmp_path, interrupted):
    job = of(jobs, "rs2")[0]
    begun = interrupted(job, 2)
    record_curves(job.model_copy(update={"seed": 1}), data, tmp_path / "work", tmp_path / "a.json")
    assert begun == [0, 1, 2, 0, 1, 2]


def altered(text):
    """Return the text of curves with the lowest bit of a digit of a score altered."""
    place = text.index('"accuracy"') + text[text.index('"accuracy"') :].index("0.") + 2
    return text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]


def test_a_kept_training_with_an_altered_bit_is_made_again(
    jobs, data, tmp_path, interrupted, caplog
):
    job = of(jobs, "rs2")[1]
    begun = interrupted(job, 4)
    (kept,) = (tmp_path / "work").glob("3-*.json")
    kept.write_text(altered(kept.read_text()))
    record_curves(job, data, tmp_path / "work", tmp_path / "a.json")
    assert begun == [3, 4, 3, 4]
    assert [record.message for record in caplog.records if str(kept) in record.message] == [
        f"{kept}: its content does not match its digest: cut off, edited or damaged; trained again"
    ]


def test_curves_with_an_altered_bit_are_refused(jobs, data, tmp_path):
    file = tmp_path / "a.json"
    record_curves(of(jobs, "rs2")[1], data, tmp_path / "work", file)
    file.write_text(altered(file.read_text()))
    with pytest.raises(UserError, match=f"^{file}: its content does not match its digest.*delete"):
        read_curves(file)


def test_a_job_that_outlived_its_call_is_waited_for_and_its_record_taken(
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
        second.join(1.0)
        assert f"waiting for another process that works on {work}" in caplog.text
    second.join(60)
    assert trained == []
    assert file.read_text() == before
    assert not work.exists()


@pytest.mark.parametrize(
    ("change", "role", "key"),
    [
        (lambda it: {"own": {"selector": MINE}}, "own_selectors.rs2", "own_selectors.rs2"),
        (
            lambda it: {
                "protocol": it.protocol.model_copy(update={"model": OwnModel(factory=MINE)})
            },
            "model.factory",
            "protocol.*.model.factory",
        ),
    ],
    ids=["selector", "model"],
)
def test_an_own_file_that_has_changed_since_the_call_is_one_line(
    jobs, data, tmp_path, monkeypatch, change, role, key
):
    (tmp_path / "curve_methods.py").write_text("def make(): ...")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(train, "_train", None)  # nothing may be trained
    job = of(jobs, "rs2")[0]
    settings = job.settings.model_copy(update=change(job.settings))
    job = job.model_copy(update={"settings": settings, "files": {role: "0" * 64}})
    with pytest.raises(UserError) as error:
        record_curves(job, data, tmp_path / "work", tmp_path / "a.json")
    assert str(error.value) == f"{key}: {MINE}: has changed; run the same command again"


def test_a_gpu_is_recorded_by_its_name(data, tmp_path):
    found = experiment(compute={"device": "cuda"}, selectors=["rs2"])
    job = next(iter(curves_jobs(found, {"dna": {}}).values()))
    with pretended_cuda():
        record_curves(job, data, tmp_path / "work", tmp_path / "a.json")
    assert read_curves(tmp_path / "a.json").provenance["device"] == NAME
