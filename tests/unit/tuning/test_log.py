"""The log of a search: sound lines are read, damaged ones cut off; a replay decides as before."""

import hashlib
import math
import random
from unittest.mock import Mock

import hypothesis.strategies as st
import pytest
from hypothesis import given

from automata.metering.meter import Meter
from automata.metering.processor import watts_per_thread
from automata.records.progress import Evaluation, Progress
from automata.registry import SCHEDULERS
from automata.search.search import search_of
from automata.tuning.live import LivePhase
from automata.tuning.log import (
    LogHeader,
    PhaseEnded,
    PhaseStarted,
    SearchLog,
    TrialReported,
    TrialSaved,
    discard_unlogged,
    load_log,
    segments_of,
)
from automata.tuning.work import PhaseFolder
from support.outliving import Worker
from support.searching import make_job, measured

SPACE = {"learning_rate": {"uniform": [0.001, 0.01]}}
JOB = make_job(run={"search": "tpe", "scheduler": "asha"}, search_space=SPACE)
HEADER = LogHeader(job=JOB, data_sha256="0" * 64, environment={"device": "cpu"})


def reported(index, scores, configuration=None, loss=0.1 + 0.2, measurement=None):
    """Return the line of a trial with these scores; one that is not a number is a divergence."""
    evaluations = [
        Evaluation(epoch=epoch, accuracy=score, loss=loss, finished_at=1.25)
        for epoch, score in scores.items()
    ]
    failure = "diverged" if any(map(math.isnan, scores.values())) else None
    progress = Progress(epochs=max(scores), evaluations=evaluations, failure=failure)
    configuration = configuration or {"learning_rate": 1e-3}
    return TrialReported(
        index=index,
        configuration=configuration,
        rung=len(evaluations),
        progress=progress,
        measurement=measurement,
    )


ENTRIES = [
    HEADER,
    PhaseStarted(host="here", setup_seconds=3.0, provenance={}),
    reported(0, {1: 0.5}, measurement=measured(1.0)),
    reported(1, {1: 0.5}, loss=float("nan"), measurement=measured(2.0)),
    PhaseStarted(host="unmeasured", setup_seconds=1.0, provenance={}),
    PhaseStarted(host="there", setup_seconds=4.0, provenance={}),
    reported(0, {1: 0.5, 4: 0.5}),
    PhaseEnded(measurement=measured(5.0, start=10.0)),
]


@pytest.fixture
def work(tmp_path):
    return PhaseFolder(tmp_path / "search")


def write(path, entries):
    """Write a log of these entries as a process does."""
    log = SearchLog(path)
    for entry in entries:
        log.append(entry)
    return log


@pytest.fixture
def log(work):
    return write(work.log, ENTRIES)


def texts(entries):
    """Return entries in JSON: a loss that is not a number is not equal to itself."""
    return [entry.model_dump_json() for entry in entries]


@given(data=st.data(), torn=st.booleans())
def test_the_lines_before_a_damaged_byte_are_read_and_it_goes_on_after_them(
    tmp_path_factory, data, torn
):
    path = tmp_path_factory.mktemp("damaged") / "log.jsonl"
    write(path, ENTRIES)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[:place] if torn else content)
    whole = ENTRIES[: content[:place].count(b"\n")]

    log = SearchLog(path)
    assert texts(log.entries) == texts(whole)
    log.append(ENTRIES[2])
    assert texts(SearchLog(path).entries) == texts([*whole, ENTRIES[2]])


def test_a_segment_ends_with_its_last_measurement(log, work):
    segments = segments_of(load_log(work, HEADER).entries)
    assert [(it.host, it.setup_seconds, it.measurement.wall_seconds) for it in segments] == [
        ("here", 3.0, 2.0),
        ("there", 4.0, 5.0),
    ]


@pytest.fixture
def left(work):
    """Checkpoints as another search, or this one, may have left them, by trial and epoch."""
    files = [
        work.checkpoint(*of) for of in ((0, 1), (0, 4), (0, 5), (1, 1), (1, 3), (1, 7), (2, 1))
    ]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("state")
    return files


def test_checkpoints_ahead_of_the_log_are_removed(work, left):
    write(work.log, [*ENTRIES[:-1], TrialSaved(index=1, epoch=3, measurement=measured(4.0))])
    discard_unlogged(work, load_log(work, HEADER).entries)
    kept = [path.name for path in left if path.exists()]
    assert kept == ["0-1.pt", "0-4.pt", "1-1.pt", "1-3.pt"]
    assert [path.name for *_, path in work.checkpoints()] == kept


def test_the_work_of_another_search_is_discarded_with_a_line(log, work, left, caplog):
    caplog.set_level("INFO", "automata.tuning.log")
    other = HEADER.model_copy(update={"data_sha256": "1" * 64})
    assert load_log(work, other).entries == SearchLog(work.log).entries == [other]
    assert [file for file in left if file.exists()] == []
    assert caplog.messages == [f"{work.path}: discarded unfinished work of another job or version"]


def test_a_log_with_lines_of_another_version_is_discarded(work, caplog):
    body = b'{"kind":"header","unknown":1}'
    digest = hashlib.sha256(body).hexdigest()[:16].encode()
    work.path.mkdir()
    work.log.write_bytes(digest + b" " + body + b"\n")
    assert load_log(work, HEADER).entries == [HEADER]
    assert "cut off after line 0: the next line is damaged" in caplog.text


@pytest.fixture
def live(work):
    meter = Meter(sample_seconds=5.0, gpus=[], exclusive=False)
    return LivePhase(search_of(JOB), load_log(work, HEADER), work, meter, {})


def test_a_result_that_cannot_be_logged_is_not_judged(live, monkeypatch):
    live.open()
    monkeypatch.setattr(SearchLog, "append", Mock(side_effect=OSError("full")))
    with pytest.raises(OSError, match="full"):
        live.report(0, Progress(), saved=False)
    assert live.search.results == []


def test_the_work_of_a_worker_that_outlived_its_raylet_is_measured(live, work):
    worker = Worker()
    before = worker.burn(0)
    live.open()
    live._meter.so_far()
    worker.starter.kill()
    worker.starter.wait()
    burnt = worker.burn(1.5) - before
    # No trial has ended: Ray failed.
    live.report(0, reported(0, {1: 0.5}).progress, saved=False)
    worker.process.kill()
    worker.starter.communicate()
    (segment,) = segments_of(load_log(work, HEADER).entries)
    assert segment.measurement.cpu_seconds > 0.95 * burnt > 1
    (estimate,) = segment.measurement.channels
    assert estimate.joules > 0.95 * burnt * watts_per_thread()


def job(search, scheduler, slots=1, exponent=0.0):
    """Return a job of 12 configurations."""
    run = {"search": search, "scheduler": scheduler}
    run["selector"] = "full" if SCHEDULERS[scheduler].all_data else "craig"
    changes = {"configurations": 12, "horizon_exponent": exponent, "search_space": SPACE}
    return make_job(slots, run, **changes)


def score(configuration, epoch):
    value = abs(math.sin(1e5 * configuration["learning_rate"] + epoch))
    return math.nan if value < 0.1 else value


def run(search, log, chance):
    """Train as a job does, to the end; trials take random times."""
    at_work = []
    while not search.finished:
        while (trial := search.upcoming()) is not None:
            search.start(trial.index)
            at_work.append(trial)
        trial = at_work.pop(chance.randrange(len(at_work)))
        rungs = trial.rungs[: trial.reached + 1]
        scores = {epoch: score(trial.configuration, epoch) for epoch in rungs}
        entry = reported(trial.index, scores, trial.configuration)
        log.append(entry)
        verdict = search.report(trial.index, entry.progress.score)
        if trial.index in verdict.goes_on:
            search.start(trial.index)
            at_work.append(trial)
    return [(t.configuration, t.epoch, t.score) for t in search.trials], search.results


@pytest.mark.parametrize("slots", [1, 3])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_an_interrupted_search_repeats_its_results_and_one_trial_at_a_time_also_its_end(
    work, scheduler, slots
):
    made, calm = job("tpe", scheduler, slots, [0.0, 0.5]), SearchLog(work.path / "calm")
    trials, results = expected = run(search_of(made), calm, random.Random(0))
    for count in range(0, len(results) + 1, slots):
        log = write(work.path / str(count), calm.entries[:count])
        search = search_of(made)
        log.replay(search)
        assert search.results == results[:count]
        drawn = [trial.configuration for trial in search.trials]
        assert drawn == [configuration for configuration, *_ in trials[: len(drawn)]]
        end = run(search, log, random.Random(1))
        if slots == 1:
            assert end == expected
            assert texts(log.entries) == texts(calm.entries)


def test_the_log_is_cut_off_at_a_result_that_the_search_did_not_ask_for(work, caplog):
    made = job("random", "none")
    log = SearchLog(work.log)
    run(search_of(made), log, random.Random(0))
    log.entries[2].configuration["learning_rate"] = 0.5
    search = search_of(made)
    log.replay(search)
    assert len(search.results) == len(SearchLog(work.log).entries) == 2
    assert "cut off after line 2: this search did not ask for the next result" in caplog.text
