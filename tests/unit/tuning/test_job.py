"""Whole jobs, small but real: training, restarts, records; trials train here if not `in_ray`."""

import math
import os
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from automata.analysis.runs import row
from automata.cli import commands
from automata.config.job import Job
from automata.config.sections import Comparison
from automata.datasets.prepared import read_dataset
from automata.errors import KEPT, UserError, known_reason
from automata.prediction.saved import read_model as read_saved
from automata.records.provenance import MEASUREMENT, provenance
from automata.records.record import Record, read_record, sealed, write_record
from automata.seeds import derive
from automata.selection.random import RepeatedRandom
from automata.training.evaluation import evaluate
from automata.training.run import TrainingRun
from automata.training.subsets import ALL_DATA, SubsetPlan
from automata.tuning import context as context_module
from automata.tuning import job as job_module
from automata.tuning import phases as phases_module
from automata.tuning.checkpoints import CheckpointStore
from automata.tuning.job import ModelFiles, complete_job
from automata.tuning.live import LivePhase
from automata.tuning.log import SearchLog, TrialReported, latest_of, read_log, segments_of
from automata.tuning.work import WorkFolder
from support.searching import SPACE, make_job, run_job, train_here

from .replay import differences

N, T = 5, 9
FULL = {"selector": "full"}
HEDGE = {
    "horizon_exponent": [0, 0.5],
    "screen_metric": "log_loss",
    "finalist_rungs": {0.1: 3, 0.3333: 2},
    "finalists": 2,
}


@pytest.fixture(autouse=True)
def _trials_train_here(request):
    if "in_ray" not in request.fixturenames:
        request.getfixturevalue("without_ray")


def outcome(record):
    """Return what must repeat: configurations, work, losses and accuracies."""
    timed = {"seconds", "evaluations", "best"}
    trials = [
        (trial.configuration, trial.status, trial.progress.model_dump(exclude=timed))
        for trial in record.tuning.trials
    ]
    scores = [(e.epoch, e.accuracy, e.loss) for e in evaluations(record)]
    final = record.final and (record.final.trial, record.final.progress.training_loss)
    return trials, scores, record.tuning.best, final, record.test.accuracy, record.test.loss


def evaluations(record):
    return [e for trial in record.tuning.trials for e in trial.progress.evaluations]


def configurations(record):
    return [trial.configuration for trial in record.tuning.trials]


@pytest.fixture(scope="module")
def record(data, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "train_in_ray", train_here)
        return run_job(make_job(), data, tmp_path_factory.mktemp("work") / "job")


def trained(data, trial, plan, epochs=0):
    """Return a training of the configuration of a trial."""
    parts = read_dataset(data), trial.configuration, make_job().settings.protocol, plan
    run = TrainingRun(*parts, derive(0, "training"), torch.device("cpu"))
    run.train_to(epochs)
    return run


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a host without a GPU")
def test_a_worker_without_the_gpu_of_its_job_is_one_line(data, tmp_path, monkeypatch):
    monkeypatch.setattr(context_module, "choose_device", lambda *_: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a GPU")
    line = f"^compute.device: cuda: {platform.node()}: torch sees no GPU here"
    with pytest.raises(UserError, match=line):
        run_job(make_job(), data, tmp_path / "job")


def test_on_a_cluster_its_gpus_decide(data):
    job = make_job().model_dump()
    job["settings"]["compute"]["device"] = "cuda"
    with context_module.job_context(Job.model_validate(job), data, cluster=True) as context:
        there = context.on_cluster("auto", {"CPU": 4.0, "GPU": 2.0, "accelerator_type:A100": 1.0})
        assert (there.trials_on, there.provenance["device"]) == ("cuda", "A100")
        assert there.device == context.device
        line = r"^compute.device: cuda: the Ray cluster has no GPU \(valid: auto, cpu\)$"
        with pytest.raises(UserError, match=line):
            context.on_cluster("auto", {"CPU": 4.0})
    job["settings"]["compute"]["device"] = "auto"  # tables train on the CPU
    with context_module.job_context(Job.model_validate(job), data, cluster=True) as context:
        assert context.on_cluster("auto", {"GPU": 2.0}).trials_on == "cpu"


def test_the_hedge_trains_the_best_of_two_screens_on_all_data(data, tmp_path):
    record = run_job(make_job(run={"selector": "rs2"}, **HEDGE), data, tmp_path / "job")
    trials = record.tuning.trials
    assert differences(record) == []
    assert Record.model_validate_json(record.model_dump_json()) == record
    assert configurations(record)[:N] == configurations(record)[N:]
    for trial in (trials[3], trials[N + 3]):
        plan = SubsetPlan(RepeatedRandom(), 0.1, horizon_exponent=0.5 * (trial.index >= N))
        again = trained(data, trial, plan, trial.progress.epochs)
        assert again.progress.training_loss == trial.progress.training_loss
        assert trial.score == math.exp(-trial.progress.evaluations[-1].loss)

    runs = {trial.index: trained(data, trial, ALL_DATA) for trial in finalists_of(trials)}
    left = [*runs]
    for rung, stay in ((1, 3), (3, 2), (T, 1)):
        for index in left:
            runs[index].train_to(rung)
        scores = {it: evaluate(runs[it].model, runs[it].data.validation) for it in left}
        best = sorted(left, key=lambda index: -scores[index].accuracy)[:stay]
        left = [index for index in left if index in best]
    (best,) = left
    assert record.final.trial == record.best.index == best
    assert record.final.progress.training_loss == runs[best].progress.training_loss
    assert record.test.accuracy == evaluate(runs[best].model, runs[best].data.test).accuracy
    found = row(record, Path("record.json"), Comparison())
    assert found["best_score"] == found["best_validation_accuracy"]  # by `metric`


def finalists_of(trials):
    """Return the two with the lowest losses of each screen, and each configuration once."""
    finalists = {}
    for screen in (trials[:N], trials[N:]):
        ranked = sorted(screen, key=lambda trial: trial.progress.evaluations[-1].loss)
        for trial in ranked[:2]:
            finalists.setdefault(str(trial.configuration), trial)
    return finalists.values()


@pytest.mark.parametrize("patience", [None, pytest.param(1, marks=pytest.mark.slow)])
def test_an_interrupted_final_training_repeats_one_epoch(data, tmp_path, monkeypatch, patience):
    job = make_job(finalists=3, patience=patience)
    train, epochs, stops = TrainingRun._train_epoch, [], []

    def counted(run, subset):
        if run.plan.fraction == 1.0:
            epochs.append(run.progress.epochs)
            if len(epochs) in stops:
                raise KeyboardInterrupt
        return train(run, subset)

    monkeypatch.setattr(TrainingRun, "_train_epoch", counted)
    # Write a file, as if that always paid.
    monkeypatch.setattr(CheckpointStore, "save", lambda *of: CheckpointStore._write(*of) or True)
    calm = run_job(job, data, tmp_path / "calm")
    whole = len(epochs)
    for stop in (it for it in (3, 6, 8, 11) if it <= whole):
        epochs.clear()
        stops[:] = [stop]
        with pytest.raises(KeyboardInterrupt):
            run_job(job, data, tmp_path / str(stop))
        record = run_job(job, data, tmp_path / str(stop))
        assert len(epochs) == whole + 1
        assert record.resumed
        assert outcome(record) == outcome(calm)
        first, second = (segment.measurement for segment in record.final.segments)
        assert first.started_at + first.wall_seconds <= second.started_at


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from automata.config.job import Job
from automata.tuning.job import run
from automata.tuning.log import PhaseEnded, SearchLog
append = SearchLog.append
def killed_later(log, entry):
    append(log, entry)
    if log._path.parent.name == sys.argv[4]:
        results = [it for it in log.entries if it.kind in ("reported", "saved")]
        if len(log.entries) > 1 and len(results) == int(sys.argv[5]):
            os.kill(os.getpid(), signal.SIGKILL)
SearchLog.append = killed_later
run(Job.model_validate_json(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
"""
ASHA_ON_ALL = make_job(run={"search": "tpe", "scheduler": "asha"} | FULL)
ONE, TWO_AT_ONCE = make_job(), make_job(2, **HEDGE)


@pytest.mark.slow
@pytest.mark.usefixtures("in_ray")
@pytest.mark.parametrize(
    ("job", "phase", "results"),
    [
        (ASHA_ON_ALL, "search", 5),
        # Hyperband's 3 + 2 x 2 results end the first screen, and a worker saves its first epoch.
        (TWO_AT_ONCE, "search", 12),
        (ONE, "final", 0),
        (ONE, "final", 2),  # all
        (TWO_AT_ONCE, "final", 4),
    ],
)
def test_a_job_that_was_killed_ends_as_it_would_have(data, tmp_path, job, phase, results):
    parts = job.model_dump_json(), data, tmp_path / "job", phase, str(results)
    killed = [sys.executable, "-c", INTERRUPTED, *parts]
    assert subprocess.run(killed, capture_output=True).returncode == -signal.SIGKILL
    folder = getattr(WorkFolder(tmp_path / "job"), phase)
    log = SearchLog(folder.log)

    record = run_job(job, data, tmp_path / "job")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_module, "train_in_ray", train_here)
        assert outcome(record) == outcome(run_job(job, data, tmp_path / "calm"))
    assert differences(record) == []
    assert record.resumed
    if phase == "search":
        part, runs = record.tuning, [trial.progress for trial in record.tuning.trials]
    else:
        part, lost = record.final, record.final.lost
        runs = [part.progress, *(finalist.progress for finalist in lost)]
    finished = phase == "final" and job is ONE and results == 2
    assert len(part.segments) == (2 if results and not finished else 1)
    assert part.segments[-1].setup_seconds > 0
    logged = [it.evaluations for it in latest_of(log.entries).values() if it.evaluations]
    kept = {evaluation.finished_at for run in runs for evaluation in run.evaluations}
    assert {evaluations[-1].finished_at for evaluations in logged} <= kept


@pytest.mark.parametrize(("scheduler", "share"), [("hyperband", 0.5), ("asha", 0.5), ("asha", 1)])
def test_an_interrupted_search_without_its_files_keeps_its_results(
    data, tmp_path, scheduler, share
):
    """It has its log alone, without the checkpoints and the model of the best trial."""
    job, work = make_job(run={"search": "tpe", "scheduler": scheduler} | FULL), WorkFolder(tmp_path)
    record = run_job(job, data, work.path)
    assert [path.name for path in tmp_path.rglob("*.pt")] == [f"{record.best.index}.pt"]
    shutil.rmtree(tmp_path / "search/checkpoints")
    shutil.rmtree(tmp_path / "search/models")
    log, results = SearchLog(work.search.log), round(share * len(evaluations(record)))
    places = [n for n, entry in enumerate(log.entries, 1) if isinstance(entry, TrialReported)]
    log.cut(places[results - 1], "interrupted")

    again = run_job(job, data, work.path)

    assert outcome(again) == outcome(record)
    assert differences(again) == []
    assert again.resumed
    kept = {evaluation.finished_at for evaluation in evaluations(again)}
    assert {it.evaluations[-1].finished_at for it in latest_of(log.entries).values()} <= kept
    assert len(again.tuning.segments) == (2 if share == 0.5 else 1)


def search_alone(job, data, folder):
    """Interrupt a job between its search and its final training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phases_module, "FinalSearch", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_job(job, data, folder)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"host": "elsewhere"}, True),
        ({"packages": {"torch": "0.1"}}, False),
        ({"measurement": {**MEASUREMENT, "training": 99}}, False),
    ],
    ids=["host", "software", "measurement"],
)
def test_a_restart_repeats_the_search_of_other_software_alone(
    data, tmp_path, monkeypatch, change, same
):
    search_alone(make_job(), data, tmp_path / "job")
    before = segments_of(read_log(WorkFolder(tmp_path / "job").search.log))
    here = {**provenance("gradmatch"), **change}
    monkeypatch.setattr(context_module, "provenance", lambda selector: here)
    record = run_job(make_job(), data, tmp_path / "job")
    assert (record.tuning.segments == before) is same
    assert record.resumed is same


def test_the_time_limit_counts_the_time_before_a_restart(data, tmp_path):
    job = make_job(search_minutes=1e-9)
    search_alone(job, data, tmp_path / "job")
    before = segments_of(read_log(WorkFolder(tmp_path / "job").search.log))
    record = run_job(job, data, tmp_path / "job")
    assert record.tuning.segments == before
    assert [trial.status for trial in record.tuning.trials] == ["completed"]
    assert record.final.progress.epochs == T


def test_a_kill_before_the_first_rung_is_a_restart_also_after_the_time_limit(data, tmp_path):
    job, saved = make_job(search_minutes=1e-9), LivePhase.saved

    def interrupted(live, index, epoch):
        saved(live, index, epoch)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LivePhase, "saved", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_job(job, data, tmp_path / "job")
    record = run_job(job, data, tmp_path / "job")
    assert [trial.status for trial in record.tuning.trials] == ["completed"]
    assert len(record.tuning.segments) == 2
    assert record.resumed


def test_selectors_and_controls_share_configurations(record, data, tmp_path):
    names = ("rs2", "full", "full-again", "untuned")
    rs2, full, again, untuned = (
        run_job(make_job(run={"selector": name}), data, tmp_path / name) for name in names
    )
    expected = configurations(record)
    assert configurations(rs2) == configurations(full) == configurations(again) == expected
    assert {library["num_threads"] for library in record.provenance["blas"]} == {1}
    assert record.provenance["torch"]["flush_denormal"] is True
    first, repeat = (it.tuning.trials[0].progress for it in (full, again))
    assert first.training_loss != repeat.training_loss
    assert again.final is None
    (trial,) = untuned.tuning.trials
    assert trial.configuration == expected[0]
    assert (trial.status, trial.progress.epochs) == ("drawn", 0)
    assert untuned.tuning.measurement is None
    assert untuned.final.progress.samples == T * 1400
    assert untuned.final.measurement.wall_seconds > 0


def test_trials_that_diverge_fail_with_a_reason_and_the_tuning_goes_on(data, tmp_path):
    space = SPACE | {"learning_rate": {"uniform": [0.5, 1e6]}}
    space["optimizer"] = {"choice": ["sgd", "adam"]}
    job = make_job(run={"selector": "random", "seed": 1}, search_space=space)
    record = run_job(job, data, tmp_path / "job")
    failed = [trial for trial in record.tuning.trials if trial.status == "failed"]
    assert 0 < len(failed) < N
    assert all("loss" in trial.progress.failure and trial.score == 0 for trial in failed)
    assert record.best.status != "failed"
    assert differences(record) == []


def test_a_job_fails_when_every_trial_diverges(data, tmp_path):
    space = SPACE | {"learning_rate": {"uniform": [1e30, 1e31]}, "optimizer": {"choice": ["sgd"]}}
    job = make_job(run={"selector": "random"}, search_space=space)
    with pytest.raises(UserError, match="all 5 trials diverged; the first: training loss"):
        run_job(job, data, tmp_path / "job")


def test_another_data_set_in_the_file_is_refused(data, tmp_path):
    with pytest.raises(UserError, match="is data set 'dna', not 'letter'"):
        run_job(make_job(run={"dataset": "letter"}), data, tmp_path / "job")
    other = make_job().model_dump()
    other["settings"]["data"]["sst2_neutral"] = "scores"
    with pytest.raises(UserError, match=f"^{data}: prepared with other settings; delete it, to"):
        run_job(Job.model_validate(other), data, tmp_path / "job")


@pytest.mark.parametrize(("selector", "patience"), [("gradmatch", 2), ("full", None)])
def test_the_model_of_a_finished_run_is_trained_again(data, tmp_path, selector, patience):
    job = make_job(run={"selector": selector}, patience=patience)
    encoding, output = tmp_path / "encoding.json", tmp_path / "record.json"
    width = read_dataset(data).train.inputs.shape[1]
    encoding.write_text(sealed({"mean": [0.0] * width, "scale": [1.0] * width}))
    weights = []
    for name, rows in (("now", "train"), ("later", "train"), ("wider", "train+validation")):
        model = tmp_path / f"{name}.safetensors"
        complete_job(job, data, tmp_path / "job", output, files=ModelFiles(model, encoding, rows))
        weights.append((output.read_text(), load_file(model)))
    (record, now), (later_record, later), (wider_record, wider) = weights
    assert record == later_record == wider_record
    assert later.keys() == now.keys()
    assert all(torch.equal(weight, later[name]) for name, weight in now.items())
    assert not any(torch.equal(weight, wider[name]) for name, weight in now.items())
    model, _ = read_saved(tmp_path / "now.safetensors")
    made, dataset = read_record(output), read_dataset(data)
    assert evaluate(model, dataset.test).accuracy == made.test.accuracy
    if selector == "full":  # the best trial's own weights
        assert made.final is None
        assert evaluate(model, dataset.validation).accuracy == made.best.score


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (signal.SIGTERM, f"interrupted; {KEPT}"),
        (3, "your own code or a library ended the process with SystemExit: 3"),
    ],
)
def test_sigterm_is_an_interruption_and_sys_exit_is_of_the_users_code(
    tmp_path, monkeypatch, code, line
):
    monkeypatch.setattr(job_module, "complete_job", lambda *_: sys.exit(code))
    job = make_job().model_dump_json()
    with pytest.raises((KeyboardInterrupt, UserError)) as ended:
        commands.tune([tmp_path], job=job, work=tmp_path, output=[tmp_path])
    assert known_reason(ended.value) == line


@pytest.mark.parametrize("content", [b"caf\xe9", sealed({"a": 5}).replace("5", "6", 1).encode()])
def test_a_damaged_encoding_is_one_line_before_anything_is_trained(data, tmp_path, content):
    files = ModelFiles(tmp_path / "model.safetensors", tmp_path / "dna.encoding.json", "train")
    files.encoding.write_bytes(content)
    with pytest.raises(UserError, match=r"dna\.encoding\.json: .*delete it, and run the "):
        complete_job(make_job(), data, tmp_path / "job", tmp_path / "record.json", files=files)
    assert not (tmp_path / "record.json").exists()


ASHA = {"scheduler": "asha"}


@pytest.mark.parametrize(
    ("run", "smaller", "larger", "kept"),
    [
        (ASHA, {}, {}, N),
        # Hyperband's last bracket was filled in part: how it halves, more trials decide.
        ({"search": "tpe"}, {}, {}, 3),
        (ASHA, {}, {"reselect_every": 3}, 0),
        pytest.param(ASHA, HEDGE, HEDGE, 0, marks=pytest.mark.slow),
        pytest.param({"selector": "untuned"}, {}, {}, 0, marks=pytest.mark.slow),
    ],
    ids=["asha", "hyperband", "other settings", "screens", "untuned"],
)
def test_a_larger_search_takes_the_results_of_a_finished_one(
    data, tmp_path, run, smaller, larger, kept
):
    output = tmp_path / "dna/random-x-00000001/gradmatch-0.1/seed-0/record.json"
    wider = tmp_path / "dna/random-x-00000002/gradmatch-0.1/seed-0/record.json"
    complete_job(make_job(run=run, **smaller), data, tmp_path / "first", output)
    job = make_job(run=run, **larger, configurations=2 * N)
    complete_job(job, data, tmp_path / "second", wider)
    first, found = read_record(output), read_record(wider)
    assert outcome(found) == outcome(run_job(job, data, tmp_path / "calm"))
    assert found.resumed == (kept > 0)
    if kept:
        assert found.tuning.trials[:kept] == first.tuning.trials[:kept]  # with their times
        assert found.tuning.segments[0] == first.tuning.segments[0]
        assert len(found.tuning.segments) == 2


@pytest.fixture
def finished(record, tmp_path, monkeypatch):
    """Work folder and record of a finished job, with work of an interrupted repeat."""
    work, output = WorkFolder(tmp_path / "work"), tmp_path / "record.json"
    write_record(record, output)
    monkeypatch.setattr(job_module, "run", interrupt)
    work.search.path.mkdir(parents=True)
    work.search.log.write_text("of a repeat that was interrupted")
    os.utime(output, (0, 0))
    return work.path, output


@pytest.mark.parametrize("measurement", [0, 1])
def test_the_record_of_a_finished_run_stays(data, finished, monkeypatch, measurement):
    work, output = finished
    before = output.read_bytes()
    monkeypatch.setitem(MEASUREMENT, "training", MEASUREMENT["training"] + measurement)
    complete_job(make_job(), data, work, output)
    assert output.read_bytes() == before
    assert output.stat().st_mtime > 0  # so that Snakemake does not make it again
    assert not work.exists()


def test_a_record_is_replaced_on_request_or_if_it_is_damaged_and_by_its_own_run_alone(
    data, finished
):
    work, output = finished
    before = output.read_bytes()
    with pytest.raises(UserError, match=r"record.json: is the record of another run or of other"):
        complete_job(make_job(run={"seed": 3}), data, work, output)
    with pytest.raises(KeyboardInterrupt):
        complete_job(make_job(), data, work, output, again=True)
    assert output.read_bytes() == before, "the record stays until the run is repeated"
    output.write_bytes(before[:-100])
    with pytest.raises(KeyboardInterrupt):
        complete_job(make_job(), data, work, output)
