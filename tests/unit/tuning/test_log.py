"""The log of a search: sound lines are read, damaged ones cut off; a replay decides as before."""

import errno
import hashlib
import math
import os
import random

import hypothesis.strategies as st
import pytest
from hypothesis import given

from automata.config.job import Job
from automata.metering.measurement import Measurement
from automata.metering.meter import Meter
from automata.metering.processor import watts_per_thread
from automata.registry import ALL_DATA_SCHEDULERS, SCHEDULERS, SEARCHES
from automata.training.progress import Evaluation, Progress
from automata.tuning.checkpoints import write_checkpoint
from automata.tuning.live import LiveSearch
from automata.tuning.log import (
    LogHeader,
    SearchEnded,
    SearchLog,
    SearchStarted,
    TrialReported,
    load_log,
)
from automata.tuning.search import search_of
from automata.tuning.work import WorkFolder
from support.outliving import worker

JOB = Job.model_validate(
    {
        "run": {
            "dataset": "dna",
            "search": "tpe",
            "scheduler": "asha",
            "selector": "craig",
            "fraction": 0.1,
            "seed": 0,
        },
        "settings": {
            "protocol": {
                "model": "mlp",
                "configurations": 3,
                "epochs": 4,
                "reselect_every": 2,
                "search_space": {"learning_rate": {"uniform": [0.001, 0.01]}},
            }
        },
    }
)
HEADER = LogHeader(
    job=JOB, data_sha256="0" * 64, environment={"device": "cpu", "packages": {"torch": "2"}}
)


def reported(
    index: int,
    *epochs: int,
    loss: float = 0.1 + 0.2,
    measurement: Measurement | None = None,
) -> TrialReported:
    evaluations = [Evaluation(epoch=it, accuracy=0.5, loss=loss, finished_at=1.25) for it in epochs]
    progress = Progress(epochs=epochs[-1], evaluations=evaluations)
    return TrialReported(
        index=index,
        configuration={"learning_rate": 1e-3},
        progress=progress,
        measurement=measurement,
    )


def measured(wall: float, start: float = 0.0) -> Measurement:
    return Measurement(
        started_at=start,
        wall_seconds=wall,
        cpu_seconds=wall,
        host_busy_cpu_seconds=wall,
        exclusive=True,
        channels=[],
        notes=[],
    )


ENTRIES = [
    HEADER,
    SearchStarted(host="here", setup_seconds=3.0, provenance={}),
    reported(0, 1, measurement=measured(1.0)),
    reported(1, 1, loss=float("nan"), measurement=measured(2.0)),
    SearchStarted(host="there", setup_seconds=4.0, provenance={}),
    reported(0, 1, 4),
    SearchEnded(measurement=measured(5.0, start=10.0), peak_disk_bytes=7),
]


@pytest.fixture
def work(tmp_path):
    return WorkFolder(tmp_path)


def write(path, entries):
    """Write a log of these entries as a process does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    log = SearchLog(path)
    for entry in entries:
        log.append(entry)
    return log


@pytest.fixture
def log(work):
    return write(work.log, ENTRIES)


@pytest.fixture
def path(work):
    return work.log


def texts(entries):
    """Entries in JSON: a loss that is not a number is not equal to itself."""
    return [entry.model_dump_json() for entry in entries]


def test_entries_come_back_as_they_were(log, path):
    assert texts(log.entries) == texts(SearchLog(path).entries) == texts(ENTRIES)


@given(data=st.data())
def test_of_a_torn_file_the_whole_lines_are_read(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("torn") / "log.jsonl"
    write(path, ENTRIES)
    content = path.read_bytes()
    length = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:length])
    whole = content[:length].count(b"\n")

    assert texts(SearchLog(path).entries) == texts(ENTRIES[:whole])
    assert path.read_bytes() == b"".join(content.splitlines(keepends=True)[:whole])


@given(data=st.data())
def test_nothing_from_a_damaged_byte_on_is_believed(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "log.jsonl"
    write(path, ENTRIES)
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)

    before = bytes(content[:place]).count(b"\n")
    assert texts(SearchLog(path).entries) == texts(ENTRIES[:before])


def test_log_goes_on_after_a_torn_line(log, path):
    path.write_bytes(path.read_bytes()[:-5])
    SearchLog(path).append(reported(2, 1))

    assert texts(SearchLog(path).entries) == texts([*ENTRIES[:-1], reported(2, 1)])


def test_segments_are_up_to_their_last_measurement(log, work):
    assert [
        (s.host, s.setup_seconds, s.measurement.wall_seconds)
        for s in load_log(work, HEADER).segments
    ] == [("here", 3.0, 2.0), ("there", 4.0, 5.0)]


def test_segment_that_measured_nothing_is_none(work):
    opened = SearchStarted(host="here", setup_seconds=1.0, provenance={})
    assert write(work.log, [HEADER, opened]).segments == []


@pytest.mark.parametrize(
    "other",
    [
        HEADER.model_copy(update={"data_sha256": "1" * 64}),
        HEADER.model_copy(update={"environment": {"device": "cuda", "packages": {"torch": "2"}}}),
        HEADER.model_copy(
            update={"job": JOB.model_copy(update={"run": JOB.run.model_copy(update={"seed": 1})})}
        ),
    ],
    ids=["data", "environment", "job"],
)
def test_log_of_another_search_is_begun_anew(log, path, work, other, caplog):
    caplog.set_level("INFO", "automata.tuning.log")
    assert load_log(work, other).entries == SearchLog(path).entries == [other]
    assert caplog.messages == [f"{work.path}: discarded unfinished work of another job or version"]


def test_work_of_an_earlier_version_is_discarded_with_a_line(work, caplog):
    caplog.set_level("INFO", "automata.tuning.log")
    for name in ("journal.jsonl", "search.json", "delivered.txt", "states/0-1.pt", "weights/0.pt"):
        (work.path / name).parent.mkdir(exist_ok=True)
        (work.path / name).write_text("as it was")
    assert load_log(work, HEADER).entries == [HEADER]
    assert [path.name for path in work.path.iterdir()] == ["log.jsonl"]
    assert caplog.messages == [f"{work.path}: discarded unfinished work of another job or version"]


def test_log_with_lines_of_another_version_is_discarded(work, path, caplog):
    body = b'{"kind":"header","unknown":1}'
    digest = hashlib.sha256(body).hexdigest()[:16].encode()
    path.write_bytes(digest + b" " + body + b"\n")
    assert load_log(work, HEADER).entries == [HEADER]
    assert "cut off after line 0: the next line is damaged" in caplog.text


@pytest.fixture
def left(work):
    """Files as another search, or this one, may have left them."""
    for trial, rungs in ((0, 2), (1, 2), (2, 1)):
        state = {"progress": {"evaluations": [{}] * rungs}}
        write_checkpoint(work.checkpoint(trial), state)
    unfinished = work.path / "checkpoints/.3.1.unfinished.pt"
    for file in (unfinished, work.refit):
        file.write_text("state")
    return [*map(work.checkpoint, range(3)), unfinished, work.refit]


def test_checkpoints_ahead_of_the_log_are_removed(log, work, left):
    """A checkpoint is on disk before its result is in the log: the search has not heard of it."""
    load_log(work, HEADER)

    assert [file for file in left if not file.exists()] == [work.checkpoint(1), work.checkpoint(2)]


def test_nothing_of_another_search_is_left(log, work, left):
    load_log(work, HEADER.model_copy(update={"data_sha256": "1" * 64}))

    assert [file for file in left if file.exists()] == []


def test_work_of_a_worker_that_outlived_its_raylet_is_measured(work):
    log = load_log(work, HEADER)
    meter = Meter(sample_seconds=5.0, gpus=[], exclusive=False)
    live = LiveSearch(search_of(JOB), log, work, meter, {})
    with worker() as outliving:
        live.open()
        before = sum(outliving.process.cpu_times()[:2])
        meter.so_far()
        outliving.orphan()
        burnt = outliving.burn(1.5) - before
        live.report(0, reported(0, 1).progress)  # no trial has ended: Ray failed
    (segment,) = load_log(work, HEADER).segments

    measurement = segment.measurement
    assert measurement.cpu_seconds > 0.95 * burnt
    (estimate,) = measurement.channels
    assert estimate.joules > 0.95 * burnt * watts_per_thread()


def test_a_result_that_cannot_be_logged_is_not_judged(work, monkeypatch):
    search, log = search_of(JOB), load_log(work, HEADER)
    live = LiveSearch(search, log, work, Meter(sample_seconds=5.0, gpus=[], exclusive=False), {})
    live.open()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(SearchLog, "append", full)
    with pytest.raises(OSError, match="No space left"):
        live.report(0, reported(0, 1).progress)
    assert search.results == []


def job(search, scheduler, slots=1, exponent=0.0):
    """A job of 12 configurations and 9 epochs."""
    content = JOB.model_dump(mode="json")
    content["run"] |= {"search": search, "scheduler": scheduler}
    if scheduler in ALL_DATA_SCHEDULERS:
        content["run"] |= {"selector": "full", "fraction": 1}
    content["settings"]["protocol"] |= {"configurations": 12, "epochs": 9}
    content["settings"]["protocol"] |= {"horizon_exponent": exponent}
    content["settings"]["search"] = {"tpe": {"startup_configurations": 4}}
    content["settings"]["compute"]["concurrent_trials"] = slots
    return Job.model_validate(content)


def score(configuration, epoch):
    """What a trial scores: no finite number is a training that has diverged."""
    value = abs(math.sin(1e5 * configuration["learning_rate"] + epoch))
    return math.nan if value < 0.1 else value


def result(trial):
    """The log's line about the rung that `trial` comes to next."""
    scores = [score(trial.configuration, epoch) for epoch in trial.rungs[: trial.reached + 1]]
    evaluations = [
        Evaluation(epoch=epoch, accuracy=accuracy, loss=0.0, finished_at=0.0)
        for epoch, accuracy in zip(trial.rungs, scores, strict=False)
    ]
    failure = "diverged" if any(map(math.isnan, scores)) else None
    progress = Progress(epochs=evaluations[-1].epoch, evaluations=evaluations, failure=failure)
    return TrialReported(
        index=trial.index,
        configuration=trial.configuration,
        progress=progress,
        measurement=None,
    )


def run(search, log, chance, results=None):
    """Train as a job does, to the end or for so many results; trials take random times."""
    at_work = []
    while not search.finished and results != 0:
        while (trial := search.upcoming()) is not None:
            search.start(trial.index)
            at_work.append(trial)
        trial = at_work.pop(chance.randrange(len(at_work)))
        entry = result(trial)
        log.append(entry)
        verdict = search.report(trial.index, entry.progress.score)
        if trial.index in verdict.goes_on:
            search.start(trial.index)
            at_work.append(trial)
        results = None if results is None else results - 1
    return outcome(search)


def outcome(search):
    return [(t.configuration, t.epoch, t.score) for t in search.trials], search.results


@pytest.mark.parametrize("exponent", [0.0, [0.0, 0.5]])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("proposer", SEARCHES)
def test_interrupted_search_of_one_trial_at_a_time_ends_as_it_would_have(
    work, proposer, scheduler, exponent
):
    made = job(proposer, scheduler, exponent=exponent)
    calm = SearchLog(work.path / "calm")
    expected = run(search_of(made), calm, random.Random(0))
    for results in range(len(calm.results) + 1):
        log = write(work.path / str(results), calm.entries[:results])
        search = search_of(made)
        log.replay(search)
        assert len(search.results) == results
        assert run(search, log, random.Random(1)) == expected
        assert texts(log.entries) == texts(calm.entries)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("proposer", SEARCHES)
@pytest.mark.parametrize("seed", range(4))
def test_results_of_several_trials_at_once_are_replayed_as_they_came(
    work, proposer, scheduler, seed
):
    exponent = [0.0, 0.5] if seed % 2 else 0.0
    made, chance = job(proposer, scheduler, 3, exponent), random.Random(seed)
    log = SearchLog(work.log)
    done = run(search_of(made), log, chance, results=chance.randrange(20))
    again = search_of(made)
    SearchLog(work.log).replay(again)
    reached = len(again.trials)
    assert (outcome(again)[0][:reached], again.results) == (done[0][:reached], done[1])
    run(again, log, chance)
    assert again.finished


def test_trials_that_have_ended_are_not_trained_again(work):
    made = job("tpe", "hyperband")
    log = SearchLog(work.log)
    run(search_of(made), log, random.Random(0), results=9)
    search = search_of(made)
    log.replay(search)
    # T = 9, eta = 3: 3 trials of 9 epochs, then 5 of 3, of which 2 go on; one of them has.
    assert [trial.reached for trial in search.trials[:3]] == [1, 1, 1]
    assert search.upcoming().index in {3, 4, 5, 6, 7}
    assert search.upcoming().reached == 1


def test_log_is_cut_off_at_a_result_that_the_search_did_not_ask_for(work, path, caplog):
    made = job("random", "none")
    log = SearchLog(work.log)
    run(search_of(made), log, random.Random(0), results=4)
    log.entries[2].configuration["learning_rate"] = 0.5
    search = search_of(made)
    log.replay(search)
    assert len(search.results) == len(SearchLog(path).entries) == 2
    assert "cut off after line 2: this search did not ask for the next result" in caplog.text
